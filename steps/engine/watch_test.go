package engine

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/backend/report"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// TestConsoleThatIsFarBehind starts at the oldest event that is kept, and one that has seen all waits for the next.
func TestConsoleThatIsFarBehind(t *testing.T) {
	h := newHub(nil)
	const all = keptEvents + 10
	for n := range uint64(all) {
		h.publish(event.Event{Seq: n + 1, Text: message.Data(fmt.Sprint(n + 1))})
	}
	events, _ := h.next(0, keptEvents)
	if n := len(events); n > keptEvents || n < keptEvents/2 || events[n-1].Seq != all || events[0].Seq != uint64(all-n+1) {
		t.Errorf("%d events, from %d to %d", n, events[0].Seq, events[n-1].Seq)
	}
	events, changed := h.next(all, keptEvents)
	if len(events) > 0 {
		t.Errorf("got %v again", events)
	}
	h.publish(event.Event{Seq: all + 1})
	<-changed
	if events, _ = h.next(all, keptEvents); len(events) != 1 {
		t.Errorf("got %v", events)
	}
}

// TestASlowWatcherHoldsFewEvents: a watcher is handed all that is kept, in its order, and a few at a time.
func TestASlowWatcherHoldsFewEvents(t *testing.T) {
	h := newHub(nil)
	const all = 10*mostAtOnce + 1
	for n := range uint64(all) {
		h.publish(event.Event{Seq: n + 1})
	}
	ctx, leave := context.WithCancel(t.Context())
	seen := uint64(0)
	_ = h.follow(ctx, 0, func(events []event.Event) error {
		if len(events) > mostAtOnce || cap(events) > 2*mostAtOnce || events[0].Seq != seen+1 {
			t.Errorf("%d events (%d) after %d, from %d", len(events), cap(events), seen, events[0].Seq)
		}
		if seen = events[len(events)-1].Seq; seen == all {
			leave()
		}
		return nil
	})
	if seen != all {
		t.Errorf("it saw %d of %d", seen, all)
	}
}

// reporting is a step that looks at the job.
type reporting struct {
	seen chan<- report.Job
}

func (reporting) ID() string          { return "reporting" }
func (reporting) Title() message.Text { return message.T("Write the report") }
func (s reporting) Run(_ context.Context, _ *backend.Node, rep steps.Report) error {
	s.seen <- rep.Job()
	return nil
}

// TestStepSeesTheJob: what the report step is told of the job is what a console shows.
func TestStepSeesTheJob(t *testing.T) {
	r := newRig(t, newWorld())
	must(t, r.Close())
	o, seen := r.options(), make(chan report.Job, 1)
	o.Stages = func(cfg *site.Config) []steps.Stage {
		return append(r.w.stages(cfg), steps.Stage{ID: "report", Steps: []steps.Step{reporting{seen}}})
	}
	e, err := Open(o)
	must(t, err)
	r.Engine = e
	defer e.Close()
	r.start(t, r, take(t, r), false)
	job := <-seen
	s := until(t, r, "the end", inState(view.IsDone))
	var outcomes []string
	for _, step := range job.Steps {
		outcomes = append(outcomes, step.ID+" "+step.Outcome)
	}
	if want := []string{"names done", "light done", "never skipped", "reporting "}; !slices.Equal(outcomes, want) {
		t.Errorf("the step saw %q, not %q", outcomes, want)
	}
	if job.Version != s.Version || job.Serial != s.Serial || job.Hostname != s.Hostname || !job.Started.Equal(s.Started) || s.Started.IsZero() {
		t.Errorf("the step saw %+v, a console %+v", job, s)
	}
	if c := job.Steps[0].Checks; len(c) != 1 || c[0].ID != "cable" {
		t.Errorf("the checks of the first step are %+v", c)
	}
}
