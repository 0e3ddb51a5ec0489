package engine

import (
	"errors"
	"slices"
	"testing"

	"touchdown/steps/event"
)

// TestAWatcherIsToldWhatItMissed: one that the ring overran, and one that comes with an old number, are told so before the events that
// are left; who misses nothing is not.
func TestAWatcherIsToldWhatItMissed(t *testing.T) {
	h := newHub(nil)
	seq := uint64(0)
	publish := func(n int, kind event.Kind) {
		for range n {
			seq++
			h.publish(event.Event{Seq: seq, Kind: kind})
		}
	}
	publish(1, event.Started)
	enough := errors.New("enough")
	var seen []event.Event
	err := h.follow(t.Context(), 0, func(events []event.Event) error {
		if seen = append(seen, events...); len(seen) == 1 {
			publish(2*keptEvents, event.Said) // while it was slow
			return nil
		}
		if seen[len(seen)-1].Seq == seq {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || seen[1].Kind != event.Missed || seen[1].Text.String() == "" || seen[2].Seq != seen[1].Seq+1 {
		t.Fatalf("%v: it saw %v", err, seen[:min(len(seen), 3)])
	}
	if slices.ContainsFunc(seen[2:], func(e event.Event) bool { return e.Kind == event.Missed }) {
		t.Error("it was told twice")
	}
	for from, want := range map[uint64]bool{0: true, seen[1].Seq - 1: true, seen[1].Seq: false, seq - 1: false, seq: false} {
		events, _ := h.next(from, mostAtOnce)
		if got := len(events) > 0 && events[0].Kind == event.Missed; got != want {
			t.Errorf("after %d of %d: told %v", from, seq, got)
		}
	}
	journal := make([]event.Event, keptEvents+1)
	for i := range journal {
		journal[i] = event.Event{Seq: uint64(i + 1), Kind: event.Said}
	}
	whole, _ := newHub(journal[1:]).next(0, 1)
	if cut, _ := newHub(journal).next(0, 1); whole[0].Kind == event.Missed || cut[0].Kind != event.Missed {
		t.Errorf("a journal that is kept whole begins with %s, a longer one with %s", whole[0].Kind, cut[0].Kind)
	}
}

// TestNumbersOfOtherRecords: a watcher whose number is of a job that was put aside gets what there is, instead of waiting until the new
// numbers have come as far.
func TestNumbersOfOtherRecords(t *testing.T) {
	h := newHub([]event.Event{{Seq: 1, Kind: event.Started}})
	h.continues(1 + restartGap)
	for from, other := range map[uint64]bool{1: false, 100: false, 1 + restartGap: false, 2 + restartGap: true} {
		events, _ := h.next(from, mostAtOnce)
		if got := len(events) == 2 && events[0].Kind == event.Missed && events[0].Seq == 0 && events[1].Seq == 1; got != other || !other && len(events) > 0 {
			t.Errorf("after %d: %+v", from, events)
		}
	}
	h.publish(event.Event{Seq: 2 + restartGap, Kind: event.Said})
	if events, _ := h.next(2+restartGap, mostAtOnce); len(events) > 0 {
		t.Errorf("%+v", events)
	}
	quiet := newHub(nil)
	if events, _ := quiet.next(7, mostAtOnce); len(events) != 1 || events[0].Kind != event.Missed {
		t.Errorf("%+v", events)
	}
}

// TestEndingsOutliveProgress: a flood of progress pushes no ending out of the ring.
func TestEndingsOutliveProgress(t *testing.T) {
	h := newHub(nil)
	h.publish(event.Event{Seq: 1, Kind: event.Failed})
	for n := range uint64(10 * keptEvents) {
		h.publish(event.Event{Seq: n + 2, Kind: event.Progressed})
	}
	events, _ := h.next(0, keptEvents)
	if len(events) > keptEvents || events[0].Kind != event.Failed || events[len(events)-1].Seq != 10*keptEvents+1 {
		t.Errorf("%d events, the first %+v", len(events), events[0])
	}
}
