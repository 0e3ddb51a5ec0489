package health

import (
	"reflect"
	"slices"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// mostTurns bounds what a Live remembers: the newest are kept.
const mostTurns = 40

// restartTime is for how long the API of a single node may be away, or not ready, before that is a fault: it restarts within about a minute
// at each of its revisions.
const restartTime = 2 * time.Minute

// Live is how a cluster is, told for as long as someone looks.
type Live struct {
	Since  time.Time            `json:"since"`           // since when something has failed, or nothing has; not before the look began
	Pause  time.Time            `json:"pause,omitzero"`  // when the API was last ready, while it is away for no longer than a restart takes; all else is as it was then
	Away   time.Time            `json:"away,omitzero"`   // when the API was last ready, while it has not answered for longer
	Well   time.Time            `json:"well,omitzero"`   // when nothing had failed for the last time, while something has; zero: not since the look began
	Status check.Status         `json:"status"`          // fail, warn or pass: the worst
	Counts map[check.Status]int `json:"counts"`          // how many checks ended how
	Checks []check.Check        `json:"checks"`          // that failed or warn, the most basic first
	Turns  []Turn               `json:"turns,omitempty"` // since all was well the last time, oldest first
}

// Turn is a verdict that became another one.
type Turn struct {
	At       time.Time    `json:"at"`
	ID       string       `json:"id"` // of the check
	Title    message.Text `json:"title"`
	Status   check.Status `json:"status"` // the new one
	Observed message.Text `json:"observed"`
}

// story is a Live as it grows.
type story struct {
	Live
	last    map[string]check.Status // by check; nil: nothing was judged yet
	resumed bool                    // it was told before, and nobody looked since
}

// resume goes on with the story that was told before. What has changed since is told as soon as it is seen, with that time: when it changed
// is not known.
func resume(told Live) *story {
	if told.Status == "" {
		return &story{}
	}
	l := &story{Live: Live{Status: told.Status, Well: told.Well, Turns: told.Turns}, last: map[string]check.Status{}, resumed: true}
	for _, c := range told.Checks {
		l.last[c.ID] = c.Status
	}
	return l
}

// take goes on with what a state was judged to be, and tells whether there is something to tell. ready is when the API was last ready.
func (l *story) take(checks []check.Check, s *State, ready time.Time) (news bool) {
	next := l.Live
	next.Pause, next.Away = time.Time{}, time.Time{}
	if restarts(s, ready) {
		next.Pause = ready
		news = !reflect.DeepEqual(next, l.Live)
		l.Live = next
		return news
	}
	if s.Away != nil {
		next.Away = ready
	}
	next.Counts, next.Checks = map[check.Status]int{}, nil
	for _, c := range checks {
		next.Counts[c.Status]++
		if c.Status == check.Fail || c.Status == check.Warn {
			c.Evidence = nil // a look of the report has it
			next.Checks = append(next.Checks, c)
		}
	}
	next.Status = verdict(next.Counts)
	unseen, bad, was := l.last == nil || l.resumed, next.Status == check.Fail, l.Status == check.Fail
	turns := l.turns(checks, s)
	if unseen || bad != was {
		next.Since = s.At
	}
	if bad != was {
		next.Well = time.Time{}
	}
	if bad && !was {
		next.Turns = nil // of an earlier trouble
		if !unseen {
			next.Well = s.At
		}
	}
	l.resumed = false
	next.Turns = append(slices.Clone(next.Turns), turns...)
	next.Turns = next.Turns[max(0, len(next.Turns)-mostTurns):]
	news = unseen || !reflect.DeepEqual(next, l.Live)
	l.Live = next
	return news
}

// restarts tells whether the API has not been ready for as short as when it restarts.
func restarts(s *State, ready time.Time) bool {
	gone := s.At.Sub(ready)
	return (s.Away != nil || s.NotReady != nil) && s.Torn == nil && gone >= 0 && gone < restartTime
}

// turns are the verdicts that changed. What is skipped behind an API that is away is not a change, nor is what comes back unchanged.
func (l *story) turns(checks []check.Check, s *State) (turns []Turn) {
	first := l.last == nil
	if first {
		l.last = map[string]check.Status{}
	}
	bad := func(s check.Status) bool { return s == check.Fail || s == check.Warn }
	for _, c := range checks {
		if c.Status == check.Skip && s.Away != nil || l.last[c.ID] == c.Status {
			continue
		}
		was := l.last[c.ID]
		l.last[c.ID] = c.Status
		if !first && (bad(was) || bad(c.Status)) {
			turns = append(turns, Turn{At: s.At, ID: c.ID, Title: c.Title, Status: c.Status, Observed: c.Observed})
		}
	}
	return turns
}

// verdict is the worst of what was judged.
func verdict(counts map[check.Status]int) check.Status {
	for _, worst := range []check.Status{check.Fail, check.Warn} {
		if counts[worst] > 0 {
			return worst
		}
	}
	return check.Pass
}
