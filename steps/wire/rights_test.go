package wire

import (
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"testing"

	"touchdown/backend/problem"
	"touchdown/steps/session"
)

type refusing struct{ err error }

func (r refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

// TestWhoMayNotAsk is told so, and not that no engine runs: whoever believes that restarts the engine of a node at work, or gives the node up.
func TestWhoMayNotAsk(t *testing.T) {
	client := Dial("/run/touchdown/engine.sock")
	client.http.Transport = refusing{fmt.Errorf("dial unix: %w", syscall.EACCES)}
	if _, err := client.Snapshot(t.Context()); problem.From(err).Code != "HND-RGHT" || errors.Is(err, session.ErrNoEngine) {
		t.Errorf("without rights: %v", err)
	}
	client.http.Transport = refusing{fmt.Errorf("dial unix: %w", syscall.ECONNREFUSED)}
	if _, err := client.Snapshot(t.Context()); !errors.Is(err, session.ErrNoEngine) {
		t.Errorf("without an engine: %v", err)
	}
}
