package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
	"touchdown/steps/updates"
)

// updatePage asks whether the release on a stick is installed, or tells why it is not and how an update goes. "Not now" is in focus, and the
// number of an answer only moves the focus.
type updatePage struct {
	base
	of  updates.Offer // that it asks about
	row row
}

func newUpdate(d *desk) *updatePage { return &updatePage{base: base{d}, of: *d.snap.Update} }

// about tells whether the page is still about the release on the stick.
func (u *updatePage) about(now *updates.Offer) bool { return sameRelease(&u.of, now) }

// leave closes the page of a release that is not used. Without control this console alone has read it; others still show it.
func (u *updatePage) leave() (screen, tea.Cmd) {
	switch {
	case u.of.State == updates.Asks, u.of.Runs():
	case u.held:
		return u, u.link.act(session.Update.Close(&u.of))
	default:
		u.course.read = &u.of
	}
	return u, nil
}

func (u *updatePage) name() string { return "update" }

func (u *updatePage) keys() []key.Binding {
	k := u.desk.keys
	if u.of.State == updates.Asks || u.of.Runs() { // Esc answers nothing
		return []key.Binding{k.up, k.enter, k.log, k.help, k.leave}
	}
	return []key.Binding{k.up, k.enter, means(k.back, "key.close"), k.log, k.help, k.leave}
}

func (u *updatePage) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return u, nil
	}
	if pressed(press, u.desk.keys.back) && !u.hasty() {
		return u.leave()
	}
	if n := digit(press); n >= 1 && n <= len(u.answers()) {
		u.row.at = n - 1
		return u, nil
	}
	hit := u.row.choose(press, u.desk.keys, u.buttons())
	if hit == nil || u.hasty() {
		return u, nil
	}
	return hit.do()
}

// answers are what a person can say; none while it runs.
func (u *updatePage) answers() []button {
	if u.of.Runs() {
		return nil
	}
	answer := func(i int, label string, do func() (screen, tea.Cmd)) button {
		return button{key: numbered(i), label: label, careful: true, do: func() (screen, tea.Cmd) {
			if !u.held {
				u.flash = t("control.readonly")
				return u, nil
			}
			return do()
		}}
	}
	no := func() (screen, tea.Cmd) { return u, u.link.act(session.Update.Close(&u.of)) }
	if u.of.State != updates.Asks {
		return []button{{key: numbered(0), label: t("button.close"), careful: true, do: u.leave}}
	}
	return []button{answer(0, t("button.updateNot"), no), answer(1, t("button.update"), u.yes)}
}

// yes starts the update, on a landed node when the host name is typed.
func (u *updatePage) yes() (screen, tea.Cmd) {
	a := session.Action{Verb: session.Update, Fingerprint: u.of.Program}
	if !wantsHostName(u.snap) {
		return u, u.link.act(a)
	}
	a.Value = u.snap.Hostname
	return newConfirm(u.desk, confirm{
		title: t("update.sure", u.of.Version), text: t("update.landed"), word: []string{u.hostWord()}, verb: a,
	}), nil
}

func (u *updatePage) buttons() []button { return append(u.answers(), common(u.desk, u)...) }

func (u *updatePage) view(w, _ int) page {
	title, text := u.lines(w)
	var lines []string
	for _, line := range title {
		lines = append(lines, u.theme.strong.Render(line))
	}
	lines = append(append(lines, text...), "")
	list, y := u.row.list(u.theme, u.buttons(), func(i int) string {
		if i == 0 && u.of.State == updates.Asks {
			return t("question.default")
		}
		return ""
	}, w)
	return page{lines: append(lines, list...), y: len(lines) + y}
}

// unusedTitle is the title of a release that was refused, or that failed. Without a volume it names none.
func unusedTitle(o *updates.Offer) string {
	if o.Volume == "" {
		return t("update." + string(o.State) + ".unnamed")
	}
	return t("update."+string(o.State), o.Volume)
}

// howUpdated tells how an update goes. Where there is an order, what becomes of that matters more, and a page has only so many lines.
func howUpdated(o *updates.Offer) []string {
	short := t("update.briefly", o.Has)
	switch order := o.Order; {
	case order == nil:
		return []string{t("update.how", o.Has)}
	case order.Problem == nil:
		return []string{short, t("update.ordered")}
	default:
		return []string{short, t("update.unordered", show(order.Problem.Summary), show(order.Problem.Fix), order.Code())}
	}
}

// lines tell what there is to know, below its title.
func (u *updatePage) lines(w int) (head, lines []string) {
	var title string
	var text []string
	switch o := u.of; {
	case o.Runs():
		title = t("update.runs", o.Version)
		text = []string{t("update." + string(o.State)), t("update.meanwhile", o.Has)}
	case o.State == updates.Asks:
		title = t("update.found", o.Version, o.Volume)
		text = append([]string{t("update.now", o.Has, o.Signer)}, howUpdated(&o)...)
	default:
		title = unusedTitle(&o)
		text = []string{show(o.Problem.Summary), show(o.Problem.Fix), t("problem.code", o.Problem.Code)}
		if o.State == updates.Refused {
			text = append(text, t("update.nothing"))
		}
	}
	for _, paragraph := range text {
		lines = append(append(lines, ""), wrap(paragraph, w, "")...)
	}
	return wrap(title, w, ""), lines
}
