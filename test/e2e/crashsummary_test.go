package e2e

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"touchdown/steps/event"
	"touchdown/test/resume"
)

// summary counts what happened. A fault that found no job under way is none of the faults in a landing.
type summary struct {
	mu         sync.Mutex
	kinds      map[faultKind]int // in a landing
	moments    map[moment]int
	boundaries map[string]bool
	ends       map[string]int
}

func newSummary() *summary {
	return &summary{kinds: map[faultKind]int{}, moments: map[moment]int{}, boundaries: map[string]bool{}, ends: map[string]int{}}
}

func (s *summary) add(r *ride, sc scene, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range r.struck {
		s.moments[b.fell]++
		if b.inLanding() {
			s.kinds[b.kind]++
		}
		if b.fell == behindEvent {
			s.boundaries[b.at] = true
		}
	}
	switch {
	case err != nil:
		s.ends["wrong"]++
	case sc.choice == land:
		s.ends["landed"]++
	case sc.choice == undoLater:
		s.ends["landed as before a later move, as chosen"]++
	default:
		s.ends["back at the factory's state, as chosen"]++
	}
}

func (s *summary) String() string {
	var kinds []string
	total := 0
	for _, k := range faultKinds {
		kinds = append(kinds, fmt.Sprintf("%s %d", k, s.kinds[k]))
		total += s.kinds[k]
	}
	var ends []string
	for _, end := range sorted(s.ends) {
		ends = append(ends, fmt.Sprintf("%s %d", end, s.ends[end]))
	}
	return fmt.Sprintf("%d faults in landings (%s), %d of them behind %d different events, %d at random moments; besides, %d %s and %d %s; ends: %s",
		total, strings.Join(kinds, ", "), s.moments[behindEvent], len(s.boundaries), s.moments[atRandom],
		s.moments[beforeBegin], beforeBegin, s.moments[afterEnd], afterEnd, strings.Join(ends, ", "))
}

// played is what is kept of a scene that is over.
func played(s scene, struck []fault, err error) resume.Play {
	p := resume.Play{Scene: s.String()}
	if err != nil {
		p.Wrong = err.Error()
		return p
	}
	p.Counts = map[string]int{}
	for _, b := range struck {
		if b.inLanding() {
			p.Counts[string(b.kind)]++
		} else {
			p.Counts[string(b.fell)]++
		}
	}
	return p
}

func (r *ride) String() string {
	said := make([]string, len(r.struck))
	for i, b := range r.struck {
		said[i] = b.String()
		if !b.inLanding() {
			said[i] += " (" + string(b.fell) + ")"
		}
	}
	return strings.Join(said, "; ")
}

// TestASceneThatWentWrongIsKeptSo: with what was wrong, and its faults count for nothing.
func TestASceneThatWentWrongIsKeptSo(t *testing.T) {
	struck := []fault{{kind: powerCut, fell: atRandom}, {kind: powerCut, fell: behindEvent}}
	if p := played(scene{choice: land}, struck, errors.New("torn")); p.Wrong != "torn" || len(p.Counts) != 0 {
		t.Errorf("%+v", p)
	}
	if p := played(scene{choice: land}, struck, nil); p.Wrong != "" || p.Counts[string(powerCut)] != 2 {
		t.Errorf("%+v", p)
	}
}

// TestFaultsOutsideAJobAreCountedApart: a fault before the job began, or after it ended, is not counted as one in a landing.
func TestFaultsOutsideAJobAreCountedApart(t *testing.T) {
	r := &ride{}
	strike := func(at string, events ...event.Event) {
		r.over = r.ended // as await does
		for _, e := range events {
			_ = r.hear(e, at) // how it ends the stream is not asked here
		}
		b := fault{kind: powerCut, at: at}
		b.fell = r.moment(b)
		r.struck = append(r.struck, b)
	}
	begin, end := event.Event{Seq: 1, Kind: event.Started}, event.Event{Seq: 2, Kind: event.Done}
	strike("")
	strike("started job", begin)
	strike("")
	strike("done job", end) // the last event is one of the landing
	strike("done job")
	strike("started job")
	strike("")
	r.ended = false // it is undone
	strike("undone network", event.Event{Seq: 3, Kind: event.Undone})
	var fell []moment
	for _, b := range r.struck {
		fell = append(fell, b.fell)
	}
	if want := []moment{beforeBegin, behindEvent, atRandom, behindEvent, afterEnd, afterEnd, afterEnd, afterEnd}; fmt.Sprint(fell) != fmt.Sprint(want) {
		t.Errorf("they fell %q", fell)
	}
	p := played(scene{choice: undoAtEnd}, r.struck, nil)
	if p.Counts[string(powerCut)] != 3 || p.Counts[string(beforeBegin)] != 1 || p.Counts[string(afterEnd)] != 4 {
		t.Errorf("%v", p.Counts)
	}
	sum := newSummary()
	sum.add(r, scene{choice: undoAtEnd}, nil)
	if got := sum.String(); !strings.HasPrefix(got, "3 faults in landings (power cut 3,") || !strings.Contains(got, "2 of them behind 2 different events, 1 at random moments; besides, 1 before the beginning and 4 after the end;") {
		t.Error(got)
	}
}
