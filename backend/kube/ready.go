package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// Ready asks the API once whether it is ready, and says why it is not.
func (c *Cluster) Ready(ctx context.Context) (ready bool, why string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	body, err := c.Core.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	var refused *net.OpError
	switch {
	case err == nil && string(body) == "ok":
		return true, ""
	case errors.As(err, &refused):
		return false, "it does not answer yet"
	case err != nil && failing(string(body)) != "":
		return false, "not ready: " + failing(string(body))
	case err != nil:
		return false, firstLine(err.Error())
	}
	return false, fmt.Sprintf("it says %s", strings.TrimSpace(string(body)))
}

// failing names what /readyz marks with [-], the first three of it: the rest does not fit on a line of a console.
func failing(body string) string {
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
