package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
)

// Ready asks the API once whether it is ready, and says why it is not, "" when it is. err is what the request came to.
func (c *Cluster) Ready(ctx context.Context) (why string, err error) {
	body, err := c.Core.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	parts := unready(string(body))
	var refused *net.OpError
	switch {
	case err == nil && string(body) == "ok":
		return "", nil
	case errors.As(err, &refused):
		return "it does not answer yet", err
	case err != nil && parts != "": // the error itself begins with the parts that are well
		return "not ready: " + parts, fmt.Errorf("%s: %w", parts, err)
	case err != nil:
		return firstLine(err.Error()), err
	}
	return fmt.Sprintf("it says %s", strings.TrimSpace(string(body))), nil
}

// unready names what /readyz marks with [-], the first three of it: the rest does not fit on a line of a console.
func unready(body string) string {
	var names []string
	for line := range strings.Lines(body) {
		if name, marked := strings.CutPrefix(line, "[-]"); marked {
			name, _, _ = strings.Cut(name, " ")
			names = append(names, name)
		}
	}
	if more := len(names) - 3; more > 0 {
		names = append(names[:3], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
