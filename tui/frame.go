package tui

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"touchdown/steps/view"
)

// frame is header, page and footer, and where the cursor stands among them.
func (a *app) frame(s screen, w, h int) page {
	rows := said(a, w, h)
	p := a.pane.body(a.theme, s, w, max(h-above-below+1-len(rows), 1))
	lines := append(a.header(w, h), p.lines...)
	x, y, keys := p.x, p.y+above, s.keys()
	if a.locked() { // in the place of the sentence, so that the page can still be read
		var pin string
		if pin, x = a.lock.view(w); a.hide() {
			pin = "" // how long it is
		}
		rows, y, keys = []string{a.theme.strong.Render(cut(pin, w))}, len(lines), a.lock.keys(a.keys)
	}
	if h < above+below+1 { // only what matters most
		if a.locked() {
			return page{lines: rows, x: x}.fit(h)
		}
		return page{lines: p.lines, x: p.x, y: p.y}
	}
	lines = append(append(lines, rows...), a.theme.fill(footer(w-1, keys...), w))
	return page{lines, x, y, lower(p.late, len(lines)-1)}
}

// saidRows is how many rows a sentence above the keys may have: the page gives up all but the first.
const saidRows = 5

// said is the sentence above the keys, on as many rows as it needs: an error stands nowhere else. It is one row where there is none.
func said(a *app, w, h int) []string {
	text := a.flash
	if a.locked() || text != "" && text == a.unrecorded && a.hide() {
		text = ""
	}
	rows := wrap(text, w, "")
	if most := max(min(saidRows, h-above-below), 1); len(rows) > most {
		rows = append(rows[:most-1], cut(strings.Join(rows[most-1:], " "), w))
	}
	for i := range rows {
		rows[i] = a.theme.strong.Render(rows[i])
	}
	if len(rows) == 0 {
		return []string{""}
	}
	return rows
}

// lower are late rows of a page, below the header. On a page that has late rows, or none now, the footer is one: it changes with the focus,
// too.
func lower(late []int, footer int) (rows []int) {
	if late == nil {
		return nil
	}
	for _, y := range late {
		rows = append(rows, y+above)
	}
	return append(rows, footer)
}

// header tells where one is: machine, stage, console, who writes; below it what everybody must know.
func (a *app) header(w, h int) []string {
	where := a.name + "  " + a.now().Format("15:04") + " UTC"
	if a.gone != nil {
		where = t("header.silent") + "  " + where
	} else if a.snap != nil { // before its first answer it is not known
		where = t("header.answers") + "  " + where
	}
	if a.snap == nil {
		return []string{a.theme.fill(ends(a.theme.head.Render(t("product")), where, w), w), a.theme.fill("", w), a.notice(w, h)}
	}
	host, rest := a.snap.Hostname, "  "+worded("life", a.snap.Life)
	if a.snap.Serial != "" {
		rest = "  " + t("header.serial", a.snap.Serial) + rest
	}
	if lipgloss.Width(t("product")+host+rest+where)+3 > w {
		host, _, _ = strings.Cut(host, ".")
	}
	host += rest
	one := ends(a.theme.head.Render(t("product"))+"  "+host, where, w)
	two := ends(a.whereabouts(), a.controlState(), w)
	return []string{a.theme.fill(one, w), a.theme.fill(two, w), a.notice(w, h)}
}

// whereabouts is "stage n of m".
func (a *app) whereabouts() string {
	all := a.listed()
	n, i := len(all), -1
	switch a.snap.State {
	case view.Inspecting, view.Collecting:
		_, i = a.stage(a.opened)
	case view.Reviewed:
		if a.snap.Touched {
			return t("header.reviewAgain")
		}
		return t("header.review")
	case view.IsDone:
		return t("header.done")
	case view.IsUndone:
		return t("header.undone")
	default:
		_, i = a.current()
	}
	if i < 0 {
		return t("header.stages", n)
	}
	here := a.snap.Stages[i]
	if here.Advanced {
		return show(here.Title)
	}
	i = slices.IndexFunc(all, func(s view.Stage) bool { return s.ID == here.ID })
	return t("header.stage", i+1, n, here.Title)
}

// notice is one line: that the engine is away, that the window is small, what the engine tells everybody.
func (a *app) notice(w, h int) string {
	var all []string
	if a.gone != nil {
		all = append(all, t("engine.gone"))
	}
	if w < minWidth || h < minHeight {
		all = append(all, t("small", w, h))
	}
	if a.snap != nil {
		all = append(all, showAll(a.snap.Notices)...)
		if !a.snap.Resumed.IsZero() && a.snap.State != view.IsDone {
			all = append(all, t("resumed", a.snap.Resumed.UTC().Format("15:04")))
		}
	}
	if len(all) == 0 {
		return a.theme.rule(w)
	}
	text := alert + all[0]
	if len(all) > 1 {
		text += strings.Repeat(" ", 2) + t("notice.more", len(all)-1, all[1])
	}
	return a.theme.warn.Render(cut(text, w))
}
