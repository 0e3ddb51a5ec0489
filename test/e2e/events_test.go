package e2e

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"touchdown/steps/event"
)

// events are the lines that apply prints, as they come.
type events struct {
	mu     sync.Mutex
	rest   []byte
	all    []event.Event
	closed bool
	more   chan struct{} // closed when there is more to see; nil: nobody waits
}

// news wakes up who waits. The lock is held.
func (e *events) news() {
	if e.more != nil {
		close(e.more)
		e.more = nil
	}
}

// Write takes what apply prints.
func (e *events) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rest = append(e.rest, p...)
	defer e.news()
	for {
		line, rest, ok := bytes.Cut(e.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		e.rest = rest
		var event event.Event
		if json.Unmarshal(line, &event) == nil && event.Kind != "" {
			e.all = append(e.all, event)
		}
	}
}

func (e *events) clear() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rest, e.all, e.closed = nil, nil, false
}

func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.news()
}

// await waits until a step has begun; false: apply ended before.
func (e *events) await(step string) bool {
	return e.awaitEvent(func(x event.Event) bool { return x.Kind == event.Started && x.Step == step })
}

// awaitCheck waits for a verdict of the trial.
func (e *events) awaitCheck(id string) bool {
	return e.awaitEvent(func(x event.Event) bool { return x.Step == "network" && x.Check != nil && x.Check.ID == id })
}

func (e *events) awaitEvent(ok func(event.Event) bool) bool {
	for {
		e.mu.Lock()
		begun, closed := slices.ContainsFunc(e.all, ok), e.closed
		if e.more == nil {
			e.more = make(chan struct{})
		}
		more := e.more
		e.mu.Unlock()
		if begun || closed {
			return begun
		}
		<-more
	}
}

// putBack tells when the last trial was decided against, and when the old settings were back.
func (e *events) putBack() (decided, back time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.all {
		switch {
		case x.Step != "network":
		case x.Kind == event.Answered || x.Kind == event.Progressed && x.Progress != nil && strings.HasPrefix(x.Progress.Waiting.String(), "the old network settings") && decided.IsZero():
			decided = x.Time
		case x.Kind == event.Said && strings.Contains(x.Text.String(), "were put back"):
			back = x.Time
		}
	}
	if decided.IsZero() {
		return back, back
	}
	return decided, back
}

// why is the reason in the end.
func (e *events) why(out string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := len(e.all) - 1; i >= 0; i-- {
		if p := e.all[i].Problem; p != nil {
			return p.Code + " " + p.Summary.String()
		}
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
