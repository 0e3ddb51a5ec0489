package tui

import (
	"time"

	"touchdown/backend/check"
)

// liveTurns is how many changes the dashboard shows; the newest count.
const liveTurns = 8

// live is how the cluster of a landed node is now, on its dashboard and in line mode.
type live struct{ base }

// lines are all that there is to tell: the verdict, what speaks against it, and what changed since all was well.
func (b *live) lines(w int) []string {
	l := b.snap.Live
	if l == nil {
		return nil
	}
	lines := append([]string{""}, b.verdict(w)...)
	c, room := checks{base: b.base}, 0
	for _, k := range l.Checks {
		room = max(room, columns(show(k.Title)))
	}
	for _, k := range l.Checks {
		lines = append(lines, "  "+c.line(finding{Check: k}, w-2, room))
	}
	if len(l.Turns) == 0 {
		return lines
	}
	title := t("live.turns")
	if !l.Well.IsZero() {
		title = t("live.until", b.moment(l.Well))
	}
	lines = append(lines, "", title)
	for i := len(l.Turns) - 1; i >= max(0, len(l.Turns)-liveTurns); i-- { // the newest first
		lines = append(lines, b.turn(i, w))
	}
	return lines
}

// newest is the verdict and the last change.
func (b *live) newest(w int) []string {
	lines := b.verdict(w)
	if turns := b.snap.Live.Turns; len(turns) > 0 {
		lines = append(lines, b.turn(len(turns)-1, w))
	}
	return lines
}

// verdict is one sentence on how the cluster is.
func (b *live) verdict(w int) (lines []string) {
	l := b.snap.Live
	text := t("live.well", b.moment(l.Since))
	switch {
	case !l.Pause.IsZero():
		text = t("live.pause", b.moment(l.Pause))
	case !l.Away.IsZero():
		text = t("live.away", b.moment(l.Away))
	case l.Status == check.Fail:
		text = t("live.bad", b.moment(l.Since))
	}
	for _, line := range wrap(text, w, "") {
		lines = append(lines, b.theme.strong.Render(line))
	}
	return lines
}

// moment is a time of today, or a day and a time.
func (b *live) moment(at time.Time) string {
	at, now := at.UTC(), b.now().UTC()
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

// turn is a change as a line.
func (b *live) turn(i, w int) string {
	v, c := b.snap.Live.Turns[i], checks{base: b.base}
	at := b.moment(v.At)
	return "  " + at + "  " + c.line(finding{Check: check.Check{Title: v.Title, Status: v.Status, Observed: v.Observed}}, w-4-len(at), narrowTitle)
}
