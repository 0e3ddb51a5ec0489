package tui

import (
	"math"
	"time"

	"touchdown/steps/view"
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
func left(s *view.Snapshot, now time.Time) (d time.Duration, done time.Time, ok bool) {
	if s == nil || s.Left <= 0 {
		return 0, time.Time{}, false
	}
	done = s.Now.Add(seconds(s.Left))
	return max(done.Sub(now), 0), done, true
}
