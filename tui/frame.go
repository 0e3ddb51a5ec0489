package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/engine"
)

// Lines around a page: two of header, one of notices above; one sentence and the keys below.
const (
	above = 3
	below = 2
)

// frame puts header, page and footer together.
func (d *desk) frame(s screen, w, h int) frame {
	body := max(h-above-below, 1)
	p := s.view(w, body).fit(body)
	lines := append(d.header(w, h), p.lines...)
	flash := d.flash
	if flash != "" {
		flash = d.theme.strong.Render(cut(flash, w))
	}
	lines = append(lines, flash, footer(w-1, s.keys()...))
	if h < above+below+1 { // only what matters most
		lines = p.lines
		return frame{w: w, h: h, lines: lines, x: p.x, y: p.y}
	}
	return frame{w: w, h: h, lines: lines, x: p.x, y: p.y + above}
}

// header tells where one is: machine, stage, console, who writes; below it what everybody must know.
func (d *desk) header(w, h int) []string {
	where := d.name + "  " + d.now().Format("15:04") + " UTC"
	if d.snap == nil {
		return []string{ends(d.theme.head.Render(t("product")), where, w), "", d.notice(w, h)}
	}
	host, rest := d.snap.Hostname, "  "+d.snap.Life
	if d.snap.Serial != "" {
		rest = "  " + t("header.serial", d.snap.Serial) + rest
	}
	if len(t("product"))+len(host)+len(rest)+len(where)+3 > w {
		host, _, _ = strings.Cut(host, ".")
	}
	host += rest
	one := ends(d.theme.head.Render(t("product"))+"  "+host, where, w)
	two := ends(d.whereabouts(), d.penState(), w)
	return []string{one, two, d.notice(w, h)}
}

// whereabouts is "stage n of m".
func (d *desk) whereabouts() string {
	n := len(d.snap.Stages)
	i := -1
	switch d.snap.State {
	case engine.Inspecting, engine.Collecting:
		_, i = d.stage(d.page)
	case engine.Reviewed:
		return t("header.review")
	case engine.IsDone:
		return t("header.done")
	case engine.IsUndone:
		return t("header.undone")
	default:
		_, i = d.current()
	}
	if i < 0 {
		return t("header.stages", n)
	}
	return t("header.stage", i+1, n, d.snap.Stages[i].Title)
}

func (d *desk) penState() string {
	switch holder := d.snap.Pen.Holder; {
	case d.held:
		return t("pen.yours")
	case holder == "", holder == d.name: // its own, from before it was started again
		return t("pen.free")
	default:
		return t("pen.other", holder)
	}
}

// notice is one line: that the engine is away, that the window is small, what the engine tells everybody.
func (d *desk) notice(w, h int) string {
	var all []string
	if d.gone != nil {
		all = append(all, t("engine.gone"))
	}
	if w < minWidth || h < minHeight {
		all = append(all, t("small", w, h))
	}
	if d.snap != nil {
		all = append(all, d.snap.Notices...)
		if !d.snap.Resumed.IsZero() && d.snap.State != engine.IsDone {
			all = append(all, t("resumed", d.snap.Resumed.UTC().Format("15:04")))
		}
	}
	if len(all) == 0 {
		return rule(w)
	}
	text := alert + all[0]
	if len(all) > 1 {
		text += strings.Repeat(" ", 2) + t("notice.more", len(all)-1, all[1])
	}
	return d.theme.warn.Render(cut(text, w))
}

// common are the things that can be done on every page.
func (d *desk) common(of screen) []button {
	var list []button
	if d.snap != nil && !d.held {
		list = append(list, button{key: d.keys.pen, label: t("button.pen"), do: d.takeOver})
	}
	return append(list,
		button{key: d.keys.log, label: t("button.log"), do: func() (screen, tea.Cmd) { return newLog(d) }},
		button{key: d.keys.help, label: t("button.help"), do: func() (screen, tea.Cmd) { return newHelp(d, of), nil }},
		button{key: d.keys.leave, label: t("button.leave"), do: func() (screen, tea.Cmd) { return newLeave(d), nil }},
	)
}
