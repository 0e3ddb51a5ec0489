package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/steps/event"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// lasting tells whether an event is in the journal, whatever the state of the job: what a look sees is there only while the work
// is under way.
func lasting(e event.Event) bool {
	switch e.Kind {
	case event.Checked, event.Cleared, event.Said:
		return false
	}
	return e.Lifecycle()
}

// remembers checks that the engine knows everything that it told before the fault.
func (r *ride) remembers(ctx context.Context) error {
	s, err := r.snapshot(ctx)
	if err != nil {
		return err
	}
	if len(r.heard) > 0 && (s.State == view.Inspecting || s.State == view.Collecting) {
		return fmt.Errorf("forgotten: the job that began at %s; the engine is %s", r.heard[0].Time.Format(time.TimeOnly), s.State)
	}
	rest := slices.Concat(r.before, r.heard) // one journal has all jobs
	if len(rest) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait.Timeout(20*time.Second), errors.New("no event any more"))
	defer cancel()
	engine, err := r.Session()
	if err != nil {
		return err
	}
	err = engine.Events(ctx, "", rest[0].Seq-1, func(events []event.Event) error {
		var err error
		if rest, err = recall(rest, events); err == nil && len(rest) == 0 {
			return errStruck
		}
		return err
	})
	switch {
	case errors.Is(err, errStruck):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("forgotten: %q, number %d: %w", eventName(rest[0]), rest[0].Seq, context.Cause(ctx))
	}
	return err
}

// recall takes from the events that were heard those that the engine tells again, and returns the rest. It is an error where the
// engine passes over one, or says itself that some are gone.
func recall(heard, again []event.Event) (rest []event.Event, err error) {
	for _, e := range again {
		if e.Kind == event.Lost || e.Kind == event.Missed {
			return heard, fmt.Errorf("forgotten: the engine says %q: %s", e.Kind, e.Text)
		}
		if len(heard) == 0 || e.Seq < heard[0].Seq {
			continue
		}
		if e.Seq > heard[0].Seq || eventName(e) != eventName(heard[0]) {
			return heard, fmt.Errorf("forgotten: %q, number %d; in its place the journal has %q, number %d",
				eventName(heard[0]), heard[0].Seq, eventName(e), e.Seq)
		}
		heard = heard[1:]
	}
	return heard, nil
}

// TestOneForgottenEventIsFound: wherever it was among those that were heard, and though the last one is there.
func TestOneForgottenEventIsFound(t *testing.T) {
	heard := []event.Event{
		{Seq: 3, Kind: event.Started},
		{Seq: 4, Kind: event.Started, Step: "network"},
		{Seq: 9, Kind: event.Rebooting, Step: "network"},
		{Seq: 1009, Kind: event.Done, Step: "network"},
	}
	// What is not durable comes in between, and what came after the fault behind them.
	whole := slices.Insert(slices.Clone(heard), 2, event.Event{Seq: 5, Kind: event.Said, Step: "network"}, event.Event{Seq: 6, Kind: event.Progressed})
	whole = append(whole, event.Event{Seq: 2010, Kind: event.Started, Step: "cluster"})
	for cut := range whole { // the stream comes in parts
		rest, err := recall(heard, whole[:cut])
		if err == nil {
			rest, err = recall(rest, whole[cut:])
		}
		if err != nil || len(rest) > 0 {
			t.Errorf("in two parts, the first of %d: %v, %v", cut, rest, err)
		}
	}
	forgotten := func(what string, again []event.Event) {
		t.Helper()
		if rest, err := recall(heard, again); err == nil && len(rest) == 0 || err != nil && !strings.Contains(err.Error(), "forgotten") {
			t.Errorf("%s is not found: %v", what, err)
		}
	}
	for i, e := range whole {
		if lasting(e) && e.Seq < 2010 {
			forgotten(eventName(e), slices.Delete(slices.Clone(whole), i, i+1))
		}
	}
	other := slices.Clone(whole)
	other[1].Step = "clock"
	forgotten("another event of the same number", other)
	forgotten("a loss that the engine tells", append(slices.Clone(whole), event.Event{Seq: 2011, Kind: event.Lost}))
	forgotten("a gap that the engine tells", append([]event.Event{{Seq: 2, Kind: event.Missed}}, whole...))
}

// TestALossThatIsToldEndsTheLanding: whenever the engine tells it.
func TestALossThatIsToldEndsTheLanding(t *testing.T) {
	r := &ride{}
	for range 2 {
		if err := r.hear(event.Event{Seq: r.from + 1, Kind: event.Lost}, ""); err == nil || !strings.Contains(err.Error(), "forgotten") {
			t.Errorf("%d events were heard before: %v", len(r.heard), err)
		}
		if err := r.hear(event.Event{Seq: r.from + 1, Kind: event.Started}, ""); err != nil {
			t.Fatal(err)
		}
	}
}
