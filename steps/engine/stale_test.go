package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// timeServer is a step that takes its time to judge an answer.
type timeServer struct {
	l   *line
	cfg *site.Config
}

// line is what the looks have in common: how long one takes to answer, and which answers were asked about.
type line struct {
	mu    sync.Mutex
	takes time.Duration
	deaf  bool // the look goes on after it was stopped
	down  bool // nobody answers
	asked []string
}

func (l *line) do(f func(*line)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l)
}

func (timeServer) ID() string          { return "server" }
func (timeServer) Title() message.Text { return message.T("Ask the time server") }
func (timeServer) Fields() []steps.Field {
	return []steps.Field{{Path: "spec.additionalNTPSources", Kind: steps.Text, Label: message.T("Time server"), Optional: true}}
}

func (s timeServer) Inspect(ctx context.Context, _ *backend.Node, report steps.Report) error {
	address := strings.Join(s.cfg.Spec.AdditionalNTPSources, ",")
	s.l.mu.Lock()
	takes, deaf, down := s.l.takes, s.l.deaf, s.l.down
	s.l.asked = append(s.l.asked, address)
	s.l.mu.Unlock()
	report.Check(check.Check{ID: "link", Title: message.T("Link"), Status: check.Pass})
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		if !deaf {
			return ctx.Err()
		}
		time.Sleep(takes)
	}
	c := check.Check{ID: "server", Title: message.T("Server"), Status: check.Pass, Observed: message.T("answers")}
	if down || address != "" && address != "192.0.2.1" {
		c = check.Check{ID: "server", Title: message.T("Server"), Status: check.Fail, Observed: message.T("silent"), Fix: message.T("Check the address.")}
	}
	report.Check(c)
	return nil
}

// Run tells the same check, once it has been asked for long.
func (s timeServer) Run(_ context.Context, _ *backend.Node, report steps.Report) error {
	time.Sleep(time.Minute)
	report.Check(check.Check{ID: "server", Title: message.T("Server"), Status: check.Pass, Observed: message.T("answers at work")})
	report.Check(check.Check{ID: "only-run", Title: message.T("At work"), Status: check.Pass})
	return nil
}

// onLine runs a test with a server on a line, with a clock that jumps, up to a form that names a time server which answers.
func onLine(t *testing.T, test func(t *testing.T, r *rig, l *line, token string)) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{takes: 4 * time.Second}
		w := newWorld()
		w.asks = func(cfg *site.Config) []steps.Stage {
			return []steps.Stage{{ID: "server", Steps: []steps.Step{timeServer{l, cfg}}}}
		}
		r := newRig(t, w)
		defer r.Close()
		ctx, leave := context.WithCancel(t.Context())
		var watching sync.WaitGroup
		watching.Go(func() { _ = r.Events(ctx, "", 0, func([]event.Event) error { return nil }) })
		defer watching.Wait()
		defer leave()
		token := take(t, r)
		must(t, r.Set(t.Context(), token, "spec.additionalNTPSources", "192.0.2.1"))
		r.fill(t, r, token)
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
		time.Sleep(time.Minute)
		if v := serverView(t, r); len(v.Stale) > 0 || !passed(v) {
			t.Fatalf("the first look: %+v", v)
		}
		test(t, r, l, token)
	})
}

func serverView(t *testing.T, s session.Session) view.Step {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context())
	must(t, err)
	return snapshot.Stages[2].Steps[0]
}

func passed(v view.Step) bool {
	return slices.ContainsFunc(v.Checks, func(c check.Check) bool { return c.ID == "server" && c.Status == check.Pass })
}

// TestOldVerdictIsStale: from the moment that an answer changes until the machine has been looked at again, the verdict on
// the earlier answer is told as such; and the new look begins at once.
func TestOldVerdictIsStale(t *testing.T) {
	onLine(t, func(t *testing.T, r *rig, _ *line, token string) {
		must(t, r.Set(t.Context(), token, "spec.additionalNTPSources", "192.0.2.99"))
		if v := serverView(t, r); !slices.Contains(v.Stale, "server") {
			t.Errorf("at once: %+v", v)
		}
		time.Sleep(3 * time.Second)
		if v := serverView(t, r); !slices.Equal(v.Stale, []string{"server"}) {
			t.Errorf("while it looks, what it has not told yet is stale: %+v", v)
		}
		time.Sleep(2 * time.Second)
		if v := serverView(t, r); len(v.Stale) > 0 || passed(v) {
			t.Errorf("after the look: %+v", v)
		}
		must(t, r.Set(t.Context(), token, "spec.clusterName", "other"))
		if v := serverView(t, r); len(v.Stale) > 0 {
			t.Errorf("after an answer that it does not read: %+v", v)
		}
	})
}

// TestReviewWaitsForTheLook: what was seen of earlier answers does not let the work start.
func TestReviewWaitsForTheLook(t *testing.T) {
	onLine(t, func(t *testing.T, r *rig, _ *line, token string) {
		must(t, r.Set(t.Context(), token, "spec.additionalNTPSources", "192.0.2.99"))
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Review}))
		s, err := r.Snapshot(t.Context())
		must(t, err)
		if want := "Server: silent. Check the address."; s.Review == nil || !slices.Contains(message.English(s.Review.Problems), want) {
			t.Fatalf("the review lacks %q: %+v", want, s.Review)
		}
		if err := r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("start: %v", err)
		}
	})
}

// TestReviewOfOneMomentIsRefused: an answer that changes while the review waits makes another one necessary.
func TestReviewOfOneMomentIsRefused(t *testing.T) {
	onLine(t, func(t *testing.T, r *rig, _ *line, token string) {
		must(t, r.Set(t.Context(), token, "spec.additionalNTPSources", "192.0.2.99"))
		asked := make(chan error, 1)
		go func() { asked <- r.Do(t.Context(), token, session.Action{Verb: session.Review}) }()
		time.Sleep(2 * time.Second)
		must(t, r.Set(t.Context(), token, "spec.additionalNTPSources", "192.0.2.1"))
		if err := <-asked; err != nil && !errors.Is(err, session.ErrState) {
			t.Error(err)
		}
		s, err := r.Snapshot(t.Context())
		must(t, err)
		if v := serverView(t, r); s.Review != nil && (len(s.Review.Problems) > 0 || !passed(v) || len(v.Stale) > 0) {
			t.Errorf("a review of %q with %+v", s.Review.Problems, v)
		}
	})
}

// TestLateLookIsDropped: a look that goes on after its answers were replaced says nothing any more.
func TestLateLookIsDropped(t *testing.T) {
	onLine(t, func(t *testing.T, r *rig, l *line, token string) {
		l.do(func(l *line) { l.deaf = true })
		must(t, r.Set(t.Context(), token, "spec.additionalNTPSources", "192.0.2.99"))
		time.Sleep(2 * time.Second)
		l.do(func(l *line) { l.deaf, l.asked = false, nil })
		must(t, r.Set(t.Context(), token, "spec.additionalNTPSources", "192.0.2.1"))
		for range 20 {
			time.Sleep(time.Second)
			if v := serverView(t, r); !passed(v) {
				t.Fatalf("the verdict on the earlier answer came late: %+v", v)
			}
		}
		if v := serverView(t, r); len(v.Stale) > 0 || l.asked[0] != "192.0.2.1" {
			t.Errorf("asked about %q: %+v", l.asked, v)
		}
	})
}

// TestLookEndsWithTheStart: a look that runs when the work begins neither judges the work nor clears what it tells.
func TestLookEndsWithTheStart(t *testing.T) {
	onLine(t, func(t *testing.T, r *rig, l *line, token string) {
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Review}))
		l.do(func(l *line) { l.deaf, l.down, l.takes = true, true, 5*time.Minute })
		until(t, r, "a look", func(s *view.Snapshot) bool { time.Sleep(time.Second); return s.Stages[2].Steps[0].Inspecting })
		s, err := r.Snapshot(t.Context())
		must(t, err)
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}))
		time.Sleep(time.Hour)
		s, err = r.Snapshot(t.Context())
		must(t, err)
		if v := s.Stages[2].Steps[0]; s.State != view.IsDone || len(v.Checks) != 3 || !passed(v) || len(v.Stale) > 0 {
			t.Errorf("the work ended as %s with %+v", s.State, v)
		}
	})
}

// TestWhatFailsAfterTheReview keeps the work from starting: nobody has seen it in the review.
func TestWhatFailsAfterTheReview(t *testing.T) {
	onLine(t, func(t *testing.T, r *rig, l *line, token string) {
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Review}))
		s, err := r.Snapshot(t.Context())
		must(t, err)
		l.do(func(l *line) { l.down = true })
		time.Sleep(time.Minute)
		if err := r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}); !errors.Is(err, session.ErrState) {
			t.Errorf("start: %v", err)
		}
	})
}
