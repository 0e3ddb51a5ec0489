package tui

import (
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/backend/message"
	"touchdown/steps/view"
)

// troubled is a landed node whose cluster has had a fault for 20 minutes.
func troubled(s *view.Snapshot) {
	degraded := check.Check{ID: "operators", Title: message.T("Platform services (ClusterOperators)"), Status: check.Fail, Observed: message.Data("authentication: OAuthServerRouteEndpointAccessible")}
	warned := check.Check{ID: "operators-optional", Title: message.T("Services that need the Internet (ClusterOperators)"), Status: check.Warn, Observed: message.Data("insights: NotReachable")}
	began := epoch.Add(-20 * time.Minute)
	s.Live = &health.Live{
		Since: began, Well: began, Status: check.Fail, Counts: map[check.Status]int{check.Pass: 38, check.Warn: 1, check.Fail: 1},
		Checks: []check.Check{degraded, warned},
		Turns: []health.Turn{
			{At: began, ID: degraded.ID, Title: degraded.Title, Status: check.Fail, Observed: degraded.Observed},
			{At: began.Add(time.Minute), ID: "pods", Title: message.T("Node"), Status: check.Fail, Observed: message.Data("openshift-authentication/oauth: CrashLoopBackOff")},
			{At: began.Add(9 * time.Minute), ID: "pods", Title: message.T("Node"), Status: check.Pass, Observed: message.Data("250 pods")},
		},
	}
}

// unanswered is one whose API has not answered since yesterday.
func unanswered(s *view.Snapshot) {
	s.Live = &health.Live{
		Since: epoch.Add(-5 * time.Hour), Well: epoch.Add(-5 * time.Hour), Away: epoch.Add(-5 * time.Hour), Status: check.Fail,
		Checks: []check.Check{{ID: "api", Title: message.T("Cluster answers (API readyz)"), Status: check.Fail, Observed: message.Data("dial tcp 127.0.0.1:6443")}},
	}
}

// paused is one whose API restarts.
func paused(s *view.Snapshot) {
	s.Live = &health.Live{Since: epoch.Add(-5 * time.Hour), Pause: epoch.Add(-time.Minute), Status: check.Pass}
}

// TestLineModeTellsWhatChanged: while a prompt waits, each change is told once.
func TestLineModeTellsWhatChanged(t *testing.T) {
	f := newFake()
	finished(&f.snap)
	f.snap.Locked = true
	l := newLink(t.Context(), f, "ttyS0", time.Second)
	p := &prompts{desk: newDesk(l, Options{Name: "ttyS0", Clock: func() time.Time { return epoch }})}
	p.absorb(l.look())
	news := liveNews(p)
	if lines := news(); lines != nil {
		t.Errorf("nothing is known yet, and it says %q", lines)
	}
	f.mu.Lock()
	troubled(&f.snap)
	f.mu.Unlock()
	said := strings.Join(news(), "\n")
	if !strings.Contains(said, "NOT been well since 01:53") || !strings.Contains(said, "02:02") || !strings.Contains(said, "250 pods") {
		t.Errorf("%q", said)
	}
	if lines := news(); lines != nil {
		t.Errorf("told twice: %q", lines)
	}
	f.mu.Lock()
	unanswered(&f.snap)
	f.mu.Unlock()
	if said := strings.Join(news(), "\n"); !strings.Contains(said, "has not answered since 2026-11-20 21:13") {
		t.Errorf("%q", said)
	}
}
