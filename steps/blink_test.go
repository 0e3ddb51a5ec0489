package steps_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/host"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/site"
)

// TestBlinkIsOffered: the field of the port offers to blink, and a port without a LED says what to try instead.
func TestBlinkIsOffered(t *testing.T) {
	node := &backend.Node{Host: host.Open(host.Options{Log: slog.New(slog.DiscardHandler)})}
	entry := &steps.NetworkEntry{Site: site.New(), NodeNet: steps.NewNodeNetwork(node)}
	for _, f := range entry.Fields() {
		if offers := f.Act != nil; offers != (f.Path == "spec.network.interface") {
			t.Errorf("%s offers %+v", f.Path, f.Act)
		}
	}
	err := entry.Act(t.Context(), node, "spec.network.interface", "lo")
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok || p.Code != "NET-LED" || !strings.Contains(p.Summary.String(), "lo") || p.Fix.String() == "" {
		t.Errorf("blinking what has no LED: %v", err)
	}
}
