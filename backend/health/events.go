package health

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// A warning is told while it was last seen within recent. It keeps coming back when it came often, and also within fresh: a start of the
// node makes many that pass on their own, and a healthy window of 2 minutes outlasts those. An event lives on for hours from each time that
// it comes, so one that comes now and then counts up, too: between the first time and the last, pause is the longest mean pause.
const (
	recent = 15 * time.Minute
	fresh  = 2 * time.Minute
	often  = 5
	pause  = 10 * time.Minute
)

func judgeEvents(s *State) check.Check {
	reasons, again, told := map[message.Text]int{}, map[message.Text]int{}, 0 // counted by text; the events
	c := check.Check{
		ID: "events", Title: message.T("Warnings of the cluster (events)"), Expected: message.T("none that keeps coming back"),
		Source: message.T("Events of type Warning; Touchdown: 5 times in all, every 10 minutes on average, the last within 2 minutes"),
		Fix:    message.T("Look at the object that is named: oc describe says the same with its cause."),
	}
	if unread, no := unreadWide(s, c, "events"); no {
		return lenient(unread)
	}
	for i := range s.Wide.Events {
		e := &s.Wide.Events[i]
		last, count := seen(e)
		age := s.age(last)
		if age > recent {
			continue
		}
		reasons[message.Data(firstLine(e.Reason))] += count
		told++
		if age < fresh && count >= often && last.Sub(first(e)) <= time.Duration(count-1)*pause && !dispensable(s, e.InvolvedObject.Namespace) {
			name := strings.TrimPrefix(e.InvolvedObject.Namespace+"/"+e.InvolvedObject.Name, "/")
			again[with(message.F("%s %s, %d times in all", name, firstLine(e.Reason), count), firstLine(e.Message))] = count
		}
	}
	for _, reason := range most(reasons) {
		c.Evidence = append(c.Evidence, message.F("%s: last seen within 15 minutes, %d times in all", reason, reasons[reason]))
	}
	if s.Wide.Cut {
		c.Evidence = append(c.Evidence, message.F("only %d warnings were read; there are more", len(s.Wide.Events)))
	}
	fine := message.T("none within 15 minutes")
	if told > 0 {
		fine = message.F("%d seen within 15 minutes, none keeps coming back", told)
	}
	return found(c, check.Warn, most(again), fine)
}

// most are the 40 texts that were counted most often, the first first.
func most[T interface {
	comparable
	String() string
}](counts map[T]int) []T {
	all := slices.SortedFunc(maps.Keys(counts), func(a, b T) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a.String(), b.String()))
	})
	return all[:min(40, len(all))]
}

// seen tells when an event came last, and how often. Newer writers count in a series.
func seen(e *corev1.Event) (last time.Time, count int) {
	last, count = e.LastTimestamp.Time, int(e.Count)
	if e.EventTime.After(last) {
		last = e.EventTime.Time
	}
	if e.Series != nil {
		count = int(e.Series.Count)
		if e.Series.LastObservedTime.After(last) {
			last = e.Series.LastObservedTime.Time
		}
	}
	if last.IsZero() {
		last = e.CreationTimestamp.Time
	}
	return last, max(1, count)
}

// first tells when an event came for the first time; where nothing tells, at once with the last.
func first(e *corev1.Event) time.Time {
	last, _ := seen(e)
	for _, t := range []time.Time{e.FirstTimestamp.Time, e.EventTime.Time} {
		if !t.IsZero() {
			return t
		}
	}
	return last
}

// lenient makes a warning of a failure to read what only helps to find causes.
func lenient(c check.Check) check.Check {
	if c.Status == check.Fail {
		c.Status = check.Warn
	}
	return c
}
