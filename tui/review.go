package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// review shows what would be done. The work starts only when a word was typed that names this machine; the focus is
// on going back, so that no number of Enters starts anything.
type review struct {
	base
	of     string // its fingerprint: what is typed is for no other one
	row    row
	onWord bool
	ed     editor
	scroll scroller
}

func newReview(d *desk) *review {
	return &review{base: base{d}, of: d.fingerprint(), ed: newEditor("")}
}

func (r *review) name() string { return "review" }
func (r *review) typing() bool { return r.onWord }

func (r *review) keys() []key.Binding {
	k := r.desk.keys
	if r.onWord {
		return []key.Binding{k.next, k.prev, k.enter, k.leave}
	}
	return []key.Binding{k.next, k.enter, k.up, k.pageDown, k.back, k.help, k.log}
}

// ready reports whether the work may start: nothing is in the way and this console may write.
func (r *review) ready() bool {
	return r.snap.Review != nil && len(r.snap.Review.Problems) == 0 && r.held
}

func (r *review) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		r.onWord = r.onWord && r.ready()
		return r, nil
	}
	k, list := r.desk.keys, r.buttons()
	switch {
	case r.onWord && pressed(press, k.next, k.down):
		r.onWord, r.row.at = false, 1
	case r.onWord && pressed(press, k.prev, k.up):
		r.onWord, r.row.at = false, 0
	case r.onWord && pressed(press, k.enter):
		return r.start()
	case r.onWord, r.wordGoesOn(press):
		r.onWord = true
		r.ed.press(press, k)
	case r.ready() && (pressed(press, k.next) && r.row.at == 0 || pressed(press, k.prev) && r.row.at == 1):
		r.onWord = true // the word lies between "Go back" and "Start"
	case r.scroll.press(press, k):
	default:
		if hit := r.row.press(press, k, list); hit != nil {
			return hit.do()
		}
	}
	return r, nil
}

func (r *review) wordGoesOn(press tea.KeyPressMsg) bool {
	return r.ready() && begins(r.words(), &r.ed, press)
}

func (r *review) start() (screen, tea.Cmd) {
	if !r.ready() {
		r.flash = t("review.blocked")
		return r, nil
	}
	typed := strings.TrimSpace(r.ed.value())
	if !slices.ContainsFunc(r.words(), func(w string) bool { return strings.EqualFold(w, typed) }) {
		r.onWord = true
		r.flash = t("confirm.word", r.word())
		return r, nil
	}
	return r, r.link.act(session.Action{Verb: session.Start, Fingerprint: r.snap.Review.Fingerprint})
}

func (r *review) buttons() []button {
	k, d := r.desk.keys, r.desk
	label := t("button.goBack")
	if v := r.snap.Review; v != nil {
		if stage, i := r.stage(v.Page); i >= 0 {
			label = t("button.goTo", stage.Title)
		}
	}
	list := []button{{key: k.back, label: label, do: func() (screen, tea.Cmd) { return r, d.edit() }}}
	if r.ready() {
		list = append(list, button{label: t("button.start"), do: r.start})
	}
	if r.snap.Touched && r.held {
		list = append(list, button{key: k.undo, label: t("button.undo"), do: func() (screen, tea.Cmd) { return newUndo(d), nil }})
	}
	return append(list, common(d, r)...)
}

func (r *review) view(w, h int) page {
	buttons, bx, by := r.row.view(r.theme, r.buttons(), !r.onWord, w)
	bottom := []string{r.theme.rule(w)}
	p := page{x: bx}
	if r.ready() {
		ask := t("review.type", r.word())
		mark := "  "
		if r.onWord {
			mark = marker + " "
		}
		text, x := r.typed(&r.ed, 24, false)
		bottom = append(bottom, mark+ask+" ["+pad(text, 24)+"]")
		if r.onWord {
			p.x, p.y = len(mark)+len([]rune(ask))+2+x, h-len(buttons)-1
		}
	} else if r.snap.Review != nil && len(r.snap.Review.Problems) > 0 {
		for _, line := range wrap(alert+t("review.blocked"), w, "") {
			bottom = append(bottom, r.theme.bad.Render(line))
		}
	}
	r.scroll.fill(r.text(w), w, h-len(bottom)-len(buttons))
	p.lines = append(append(r.scroll.view(r.theme), bottom...), buttons...)
	if !r.onWord {
		p.y = h - len(buttons) + by
	}
	return p
}

// text is the review itself: what keeps it from starting, what changes, what others notice, what is only a warning, and last what is left out.
func (r *review) text(w int) []string {
	v := r.snap.Review
	if v == nil {
		return nil
	}
	var lines []string
	section := func(title string, items []string, recorded ...string) {
		if len(items) == 0 {
			return
		}
		lines = append(lines, title)
		for _, item := range items {
			one := hang(bullet+item, w, "  ", 2)
			for _, instead := range recorded {
				one = r.unlessBlind(one, "  "+bullet+instead)
			}
			lines = append(lines, one...)
		}
		lines = append(lines, "")
	}
	section(r.theme.bad.Render(t("review.problems")), allLabelled(r.client, v.Problems), untoldProblem)
	title := t("review.changes")
	if v.Seconds > 0 {
		title = t("review.lasts", about(seconds(v.Seconds)))
	}
	var changes, disturbs, permanent, skipped []string
	for _, s := range v.Steps {
		if show(s.Skip) != "" {
			skipped = append(skipped, t("review.skip", s.Title, s.Skip))
			continue
		}
		changes = append(changes, r.plan(s, w)...)
		for _, d := range s.Plan.Disturbances {
			disturbs = append(disturbs, t("review.disturbance", d.What, limit(seconds(d.Seconds)), d.Cause))
		}
		permanent = append(permanent, showAll(s.Plan.Permanent)...)
	}
	if len(changes) == 0 && len(v.Problems) == 0 { // else nothing was planned
		changes = []string{"  " + t("review.none")}
	}
	if len(changes) > 0 {
		lines = append(append(append(lines, r.theme.strong.Render(title)), changes...), "")
	}
	section(r.theme.strong.Render(t("review.disturbances")), disturbs)
	section(r.theme.strong.Render(t("review.permanent")), permanent)
	section(r.theme.strong.Render(t("review.files")), showAll(v.Files), untold)
	section(r.theme.warn.Render(t("review.warnings")), allLabelled(r.client, v.Warnings))
	section(r.theme.strong.Render(t("review.skipped")), skipped)
	return lines
}

// plan is what one step changes. A step that changes nothing is not worth a line.
func (r *review) plan(s view.StepPlan, w int) []string {
	if len(s.Plan.Changes) == 0 {
		return nil
	}
	lines := wrap(show(s.Title), w, "  ")
	for _, c := range s.Plan.Changes {
		old := c.Old
		if show(old) == "" {
			old = message.Data(t("review.none"))
		}
		lines = append(lines, hang(show(c.What)+": "+show(old)+arrow+show(c.New), w, "    ", 4)...)
	}
	return lines
}
