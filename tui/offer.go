package tui

import (
	"context"
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"touchdown/steps/offered"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// offerPage tells of the support bundle that is offered on the network: where, for how long, and who fetched it.
type offerPage struct {
	base
	row    row
	asked  bool // the engine collects a bundle, or ends the offer
	failed error
}

// newOffer has a support bundle offered, unless one is.
func newOffer(d *desk) (screen, tea.Cmd) {
	o := &offerPage{base: base{d}}
	if isOffered(d.snap) {
		return o, nil
	}
	return o, o.ask(offered.Begin)
}

func isOffered(s *view.Snapshot) bool { return s != nil && s.Offer != nil && s.Offer.Ended == "" }

func (o *offerPage) ask(what session.Document) tea.Cmd {
	o.asked, o.failed = true, nil
	return o.link.offer(what)
}

// offer has an offer begin or end, and asks how it is then.
func (l *link) offer(what session.Document) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(l.ctx, workTimeout)
		defer cancel()
		_, err := l.session.Export(ctx, what)
		return offerMsg{l.look(), err}
	}
}

func (o *offerPage) name() string  { return "offer" }
func (o *offerPage) overlay() bool { return true }

func (o *offerPage) keys() []key.Binding {
	k := o.desk.keys
	return []key.Binding{k.next, k.enter, k.back, k.help}
}

func (o *offerPage) buttons() []button {
	k := o.desk.keys
	list := []button{{key: k.back, label: t("button.close"), do: func() (screen, tea.Cmd) { return nil, nil }}}
	switch {
	case o.asked:
	case isOffered(o.snap):
		list = append(list, button{key: k.stop, label: t("button.offerEnd"), do: func() (screen, tea.Cmd) { return o, o.ask(offered.End) }})
	default:
		list = append(list, button{key: k.offer, label: t("button.offerMore"), do: func() (screen, tea.Cmd) { return o, o.ask(offered.Begin) }})
	}
	return list
}

func (o *offerPage) update(msg tea.Msg) (screen, tea.Cmd) {
	switch msg := msg.(type) {
	case offerMsg:
		o.asked, o.failed = false, msg.failed
		return o, o.absorb(msg.snapshot)
	case tea.KeyPressMsg:
		if hit := o.row.press(msg, o.desk.keys, o.buttons()); hit != nil {
			return hit.do()
		}
	}
	return o, nil
}

func (o *offerPage) view(w, h int) page {
	buttons, x, y := o.row.view(o.theme, o.buttons(), true, w)
	lines := append([]string{o.theme.strong.Render(t("offer.title")), ""}, o.lines(w)...)
	text := page{lines: lines}.fit(h - len(buttons))
	if isOffered(o.snap) && !o.asked && !o.hide() {
		if code := o.theme.qrLines(o.snap.Offer.URLs[0]); len(code) > 0 {
			text.lines = corner(text.lines, append(code, ends(t("offer.code"), "", lipgloss.Width(code[0]))), w)
		}
	}
	return page{lines: append(text.lines, buttons...), x: x, y: h - len(buttons) + y}
}

func (o *offerPage) lines(w int) []string {
	switch {
	case o.asked:
		return []string{t("bundle.making")}
	case o.failed != nil:
		return wrap(o.advice(o.failed), w, "")
	case o.snap == nil || o.snap.Offer == nil:
		return nil
	}
	return offerLines(o.snap, w, isOffered(o.snap) && o.hide())
}

// offerLines tell how an offer goes. For the record its address is left out: whoever has it can fetch the bundle.
func offerLines(s *view.Snapshot, w int, blind bool) []string {
	b := s.Offer
	var lines []string
	if b.Ended == "" {
		lines = append(wrap(t("offer.fetch", s.Now.Add(seconds(b.Left)).UTC().Format("15:04")), w, ""), "")
		for _, url := range b.URLs {
			if !blind {
				lines = append(lines, "  "+url)
			}
		}
		lines = append(append(lines, ""), wrap(t("offer.open"), w, "")...)
	} else {
		lines = wrap(t("offer."+b.Ended), w, "")
	}
	lines = append(append(lines, "", t("offer.file", b.Name, b.Bytes/1024+1), t("bundle.sum")), sumLines(b.SHA256)...)
	lines = append(lines, "")
	for _, f := range slices.Backward(b.Fetches) {
		switch {
		case f.Whole:
			lines = append(lines, t("offer.got", f.From, f.At.UTC().Format(time.TimeOnly)))
		case f.Over:
			lines = append(lines, t("offer.part", f.From, f.Sent/1024, b.Bytes/1024+1))
		default:
			lines = append(lines, t("offer.getting", f.From, f.Sent/1024, b.Bytes/1024+1))
		}
	}
	if len(b.Fetches) == 0 {
		lines = append(lines, t("offer.nobody"))
	}
	return lines
}
