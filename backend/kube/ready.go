package kube

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"touchdown/backend/message"
)

// readyTime is for one answer. An API that is away refuses at once, one that starts is asked again; on a busy node /readyz takes seconds.
const readyTime = 15 * time.Second

// Ready asks the API once whether it is ready, and says why it is not.
func (c *Cluster) Ready(ctx context.Context) (ready bool, why message.Text) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	body, err := c.Core.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	var refused *net.OpError
	switch {
	case err == nil && string(body) == "ok":
		return true, message.Text{}
	case errors.As(err, &refused):
		return false, message.T("it does not answer yet")
	case err != nil && failing(string(body)) != (message.Text{}):
		return false, message.F("not ready: %s", failing(string(body)))
	case err != nil:
		return false, message.Detail(err).Map(firstLine)
	}
	return false, message.F("it says %s", strings.TrimSpace(string(body)))
}

// failing names what /readyz marks with [-], the first three of it: the rest does not fit on a line of a console.
func failing(body string) message.Text {
	var names []string
	for line := range strings.Lines(body) {
		if name, marked := strings.CutPrefix(line, "[-]"); marked {
			name, _, _ = strings.Cut(name, " ")
			names = append(names, name)
		}
	}
	if more := len(names) - 3; more > 0 {
		return message.F("%s, %d more", strings.Join(names[:3], ", "), more)
	}
	return message.Data(strings.Join(names, ", "))
}
