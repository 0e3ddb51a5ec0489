package tui

import (
	"strings"
	"time"
)

// heartbeat is how long line mode says nothing at most: who hears or reads only lines has nothing else to go by.
const heartbeat = 30 * time.Second

// told is what line mode printed last of the work.
type told struct {
	line string
	at   time.Time
}

// news is what is to be printed of the work now, or "".
func (l *told) news(w work, now time.Time) string {
	step, _ := w.current()
	line := show(step.Title)
	if pr := step.Progress; pr != nil {
		line = strings.Join(append([]string{line}, w.counted(step)...), "  ")
		if show(pr.Waiting) != "" {
			line += "  " + t("work.waiting", pr.Waiting)
		}
	}
	if n := len(step.Said); n > 0 {
		line += "  " + show(step.Said[n-1])
	}
	said := line
	if line == l.line {
		if now.Sub(l.at) < heartbeat {
			return ""
		}
		said = alive(w, show(step.Title), now)
		if age := stillFor(step, now); age > 0 && w.gone == nil {
			said += "; " + t("work.still", span(age))
		}
	}
	l.line, l.at = line, now
	return now.Format("15:04:05") + "  " + said
}

// alive says that the work goes on, and for how long it will, or that nobody answers.
func alive(w work, title string, now time.Time) string {
	if w.gone != nil {
		return t("plain.silent")
	}
	text := t("plain.alive", title)
	if rest, done, ok := left(w.snap, now); ok {
		text += "; " + t("work.left", about(rest), done.UTC().Format("15:04"))
	}
	return text
}
