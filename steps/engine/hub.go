package engine

import (
	"context"
	"slices"
	"sync"

	"touchdown/steps/event"
)

// keptEvents bounds the memory of the hub. A job makes a few hundred events; a console that asks for older
// ones than are kept starts at the oldest, since its Snapshot holds what they led to.
const keptEvents = 4096

// mostAtOnce is how many events a watcher is handed at once: one that is slow holds no more of them.
const mostAtOnce = 64

// hub hands every event to everybody who watches. A slow watcher delays nobody: it reads from the ring at its
// own pace.
type hub struct {
	mu      sync.Mutex
	events  []event.Event
	changed chan struct{} // closed and replaced at every event
}

func newHub(events []event.Event) *hub {
	h := &hub{changed: make(chan struct{})}
	h.events = append(h.events, events[max(0, len(events)-keptEvents):]...)
	return h
}

func (h *hub) publish(e event.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.events) >= keptEvents {
		h.events = append(h.events[:0], h.events[keptEvents/4:]...)
	}
	h.events = append(h.events, e)
	close(h.changed)
	h.changed = make(chan struct{})
}

// after returns the kept events with a higher number than from, and a channel that closes when there are more.
func (h *hub) after(from uint64) ([]event.Event, <-chan struct{}) { return h.next(from, keptEvents) }

// next is after for the first of them, at most so many.
func (h *hub) next(from uint64, most int) ([]event.Event, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, e := range h.events {
		if e.Seq > from {
			return slices.Clone(h.events[i:min(len(h.events), i+most)]), h.changed
		}
	}
	return nil, h.changed
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
