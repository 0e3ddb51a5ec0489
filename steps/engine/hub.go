package engine

import (
	"context"
	"slices"
	"sync"

	"touchdown/backend/message"
	"touchdown/steps/event"
)

// keptEvents bounds the memory of the hub. A job makes a few hundred events. A watcher that asks for older ones than are kept is told so
// with an event of the kind Missed, and goes on from the oldest: a Snapshot holds what they led to.
const keptEvents = 4096

// mostAtOnce is how many events a watcher is handed at once: one that is slow holds no more of them.
const mostAtOnce = 64

// hub hands every event to everybody who watches. A slow watcher delays nobody: it reads from the ring at its
// own pace.
type hub struct {
	mu      sync.Mutex
	events  []event.Event
	lost    event.Event   // its number is that of the last event that is no longer kept; zero while there is none
	newest  uint64        // the highest number that a watcher of these records can have seen
	changed chan struct{} // closed and replaced at every event
}

func newHub(events []event.Event) *hub {
	h := &hub{changed: make(chan struct{})}
	h.events = append(h.events, events...)
	if len(events) > 0 {
		h.newest = events[len(events)-1].Seq
	}
	h.drop(len(events) - keptEvents)
	return h
}

func (h *hub) publish(e event.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.events) >= keptEvents {
		h.thin()
	}
	h.events, h.newest = append(h.events, e), max(h.newest, e.Seq)
	close(h.changed)
	h.changed = make(chan struct{})
}

// thin makes room. What only redraws a screen goes first: newer events of that kind follow it. Where that is not enough, the oldest go.
func (h *hub) thin() {
	old := h.events[:keptEvents*3/4]
	kept := slices.DeleteFunc(slices.Clone(old), func(e event.Event) bool { return !e.Lifecycle() })
	h.events = append(kept, h.events[len(old):]...)
	h.drop(len(h.events) - keptEvents*3/4)
}

// drop forgets the first so many events, and notes that they are missing.
func (h *hub) drop(n int) {
	if n > 0 {
		h.lost = event.Event{Seq: h.events[n-1].Seq, Time: h.events[n-1].Time}
		h.events = slices.Delete(h.events, 0, n)
	}
}

// continues tells up to which number events of these records were published before this engine.
func (h *hub) continues(newest uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newest = max(h.newest, newest)
}

// missed is what tells a watcher that asks for the events after from that some of them are gone, and after which number it goes on.
func (h *hub) missed(from uint64) ([]event.Event, uint64) {
	e := h.lost
	e.Kind = event.Missed
	switch {
	case from > h.newest: // the job before was put aside, and its numbers with it
		e.Text = message.F("Number %d is of other records than this node has now. The state shows where it is.", from)
		return []event.Event{e}, e.Seq
	case from < e.Seq:
		e.Text = message.F("Events up to number %d are no longer kept. The state shows what they led to.", e.Seq)
		return []event.Event{e}, e.Seq
	}
	return nil, from
}

// more is a channel that closes with the next event.
func (h *hub) more() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// next returns the first of the kept events with a higher number than from, at most so many, and a channel that closes when there are more.
func (h *hub) next(from uint64, most int) ([]event.Event, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found, from := h.missed(from)
	for i, e := range h.events {
		if e.Seq > from {
			return append(found, h.events[i:min(len(h.events), i+most-len(found))]...), h.changed
		}
	}
	return found, h.changed
}

// follow calls each with what comes after from until ctx ends.
func (h *hub) follow(ctx context.Context, from uint64, each func([]event.Event) error) error {
	for {
		events, changed := h.next(from, mostAtOnce)
		if len(events) > 0 {
			from = events[len(events)-1].Seq
			if err := each(events); err != nil {
				return err
			}
		}
		if len(events) == mostAtOnce && ctx.Err() == nil { // there may be more
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
