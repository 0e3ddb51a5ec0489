package engine

import (
	"context"
	"fmt"
	"testing"

	"touchdown/backend"
	"touchdown/steps"
	"touchdown/steps/site"
)

// TestConsoleThatIsFarBehind starts at the oldest event that is kept, and one that has seen all waits for the next.
func TestConsoleThatIsFarBehind(t *testing.T) {
	h := newHub(nil)
	const all = keptEvents + 10
	for n := range uint64(all) {
		h.publish(steps.Event{Seq: n + 1, Text: fmt.Sprint(n + 1)})
	}
	events, _ := h.after(0)
	if n := len(events); n > keptEvents || n < keptEvents/2 || events[n-1].Seq != all || events[0].Seq != uint64(all-n+1) {
		t.Errorf("%d events, from %d to %d", n, events[0].Seq, events[n-1].Seq)
	}
	events, changed := h.after(all)
	if len(events) > 0 {
		t.Errorf("got %v again", events)
	}
	h.publish(steps.Event{Seq: all + 1})
	<-changed
	if events, _ = h.after(all); len(events) != 1 {
		t.Errorf("got %v", events)
	}
}

// reporting is a step that looks at the job.
type reporting struct {
	facts Facts
	seen  chan<- *Snapshot
}

func (reporting) ID() string            { return "reporting" }
func (reporting) Title() string         { return "Write the report" }
func (reporting) Fields() []steps.Field { return nil }
func (s reporting) Run(context.Context, *backend.Node, steps.Report) error {
	s.seen <- s.facts()
	return nil
}

// TestStepSeesTheJob: the facts that the report step gets are those of a console.
func TestStepSeesTheJob(t *testing.T) {
	r := newRig(t, newWorld())
	must(t, r.Close())
	o, seen := r.options(), make(chan *Snapshot, 1)
	o.Stages = func(cfg *site.Config, facts Facts) []steps.Stage {
		return append(r.w.stages(cfg, facts), steps.Stage{ID: "report", Steps: []steps.Step{reporting{facts, seen}}})
	}
	e, err := Open(o)
	must(t, err)
	r.Engine = e
	defer e.Close()
	r.start(t, r, take(t, r), false)
	if s := <-seen; s.State != Working || s.Current != "reporting" || s.Stages[1].Steps[0].Status != StepDone {
		t.Errorf("the step saw %s at %q", s.State, s.Current)
	}
	until(t, r, "the end", inState(IsDone))
}
