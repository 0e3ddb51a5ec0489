package tui

import (
	"math"
	"time"

	"touchdown/steps/engine"
)

// about says how long something will take, as a good guess is said.
func about(d time.Duration) string {
	minutes := int(math.Ceil(d.Minutes()))
	switch {
	case d < 50*time.Second:
		return t("about.moment")
	case minutes < 60:
		return t("about.minutes", minutes)
	}
	return t("about.hours", minutes/60, minutes%60)
}

// left is how long the work still takes, and when it will be done; ok is false where that is not known.
func left(s *engine.Snapshot, now time.Time) (d time.Duration, done time.Time, ok bool) {
	if s == nil || s.Left <= 0 {
		return 0, time.Time{}, false
	}
	done = s.Now.Add(seconds(s.Left))
	return max(done.Sub(now), 0), done, true
}

// whole are the lines about the whole landing: one bar, one time, and why that has grown.
func (s *work) whole(w int) []string {
	rest, done, ok := left(s.snap, s.now())
	if !ok {
		return nil
	}
	text := t("work.left", about(rest), done.UTC().Format("15:04"))
	if s.snap.State == engine.InQuestion { // it waits for a person, so the end is not known
		text = t("work.rest", about(rest))
	}
	worked := int64(s.snap.Worked)
	lines := []string{bar(worked, worked+int64(rest.Seconds())+1, max(min(w-len(text)-1, 40), 0)) + " " + text}
	if late := s.snap.Late; late != "" {
		lines = append(lines, wrap(t("work.grows", late), w, "")...)
	}
	return append(lines, rule(w))
}
