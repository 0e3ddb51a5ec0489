package tui

import (
	"cmp"
	"slices"
	"strings"

	"touchdown/steps/offered"
	"touchdown/steps/records"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

func (p *prompts) decision() error {
	q := p.snap.Question
	p.told = told{}
	p.write(show(q.Text), show(q.Detail))
	var names []string
	for _, c := range q.Choices {
		names = append(names, show(c.Label))
	}
	counts := !q.Until.IsZero() && !q.Held
	if counts {
		p.write(t("question.until", span(q.Until.Sub(p.now()))))
		names = append(names, t("question.stop"))
	}
	n, err := p.options(names...)
	switch {
	case counts && n == len(q.Choices):
		p.act(session.Action{Verb: session.Hold, Question: q.ID})
	case n >= 0:
		p.act(session.Action{Verb: session.Reply, Question: q.ID, Value: q.Choices[n].Value})
	}
	return err
}

// wayOn is one of the numbered ways on.
type wayOn struct {
	name string // the button of the same way on a screen
	do   func() error
}

// choose has a person choose one.
func (p *talk) choose(ways []wayOn) error {
	var names []string
	for _, w := range ways {
		names = append(names, t("button."+w.name))
	}
	n, err := p.options(names...)
	if n < 0 || err != nil {
		return err
	}
	return ways[n].do()
}

// sure is a way on that a wrong number must not start: it says what it does, and asks for the word.
func (p *prompts) sure(name, title, text string, a session.Action) wayOn {
	return wayOn{name, func() error {
		p.write(title)
		p.write(wrap(text, minWidth, "")...)
		typed, err := p.decide(t("confirm.type", p.word()))
		if slices.ContainsFunc(p.words(), func(w string) bool { return strings.EqualFold(w, typed) }) {
			p.act(a)
		}
		return err
	}}
}

// shows is a way on that only shows something.
func shows(name string, show func()) wayOn {
	return wayOn{name, func() error { show(); return nil }}
}

func (p *prompts) trouble() error {
	step, _ := p.current()
	v, title, lost := failure(p.snap), t("problem.title", step.Title), lostRecords(p.snap)
	if lost {
		title = t("lost.title")
	}
	p.write(title, show(v.Summary), t("problem.fix", v.Fix), t("problem.code", v.Code), show(v.Detail))
	p.write(v.Output...)
	if p.snap.Locked {
		return p.unlock()
	}
	does := func(name string, verb session.Verb) wayOn {
		return shows(name, func() { p.act(session.Action{Verb: verb}) })
	}
	undo := p.sure("undo", t("undo.title"), t("undo.text"), session.Action{Verb: session.Undo})
	rest := []wayOn{undo, shows("bundle", func() { p.write(p.bundled()...) }), shows("log", func() { plainRecords(p, false) })}
	ways := []wayOn{p.sure("continue", t("lost.title"), t("lost.text"), session.Action{Verb: session.Retry}), does("edit", session.Edit)}
	if !lost {
		skip := p.sure("skip", t("skip.title", step.Title), t("skip.text"), session.Action{Verb: session.Skip, Step: step.ID})
		ways = []wayOn{does("retry", session.Retry), does("edit", session.Edit), skip}
	}
	if ways = append(ways, rest...); len(p.waivable()) > 0 {
		ways = append(ways, wayOn{"waive", p.waive})
	}
	return p.choose(append(ways, shows("summary", func() { plainSummary(p) }), shows("journal", func() { plainRecords(p, true) }), wayOn{"offer", func() error { return plainOffer(p) }}))
}

// unlock asks for the host name. An empty line leaves the node locked.
func (p *prompts) unlock() error {
	p.write(t("unlock.title"), t("unlock.text"))
	name, err := p.ask(t("confirm.type", p.hostWord()))
	switch {
	case err != nil || name == "":
	case strings.EqualFold(name, p.hostWord()):
		p.act(session.Action{Verb: session.Unlock, Value: p.snap.Hostname})
	default: // the engine says what to type
		p.act(session.Action{Verb: session.Unlock, Value: name})
	}
	return err
}

func (p *prompts) bundled() []string {
	msg, ok := p.link.bundle(p.save)().(docMsg)
	if !ok || msg.failed != nil {
		return []string{p.explain(msg.failed)}
	}
	return bundledLines(msg)
}

// plainSummary prints what a terminal records for support, on a line that has neither network nor stick.
func plainSummary(p *prompts) {
	p.write(t("bundle.making"), t("plain.summary"))
	p.printed("the support summary", strings.Split(p.do(p.link.export(session.SummaryText, nil)), "\n"))
}

// liveNews is what line mode tells of the cluster while it waits: the verdict and the newest change, once for each.
func liveNews(p *prompts) func() []string {
	l, said := live{base{p.desk}}, ""
	if p.snap.Live != nil {
		said = strings.Join(l.newest(minWidth), "\n")
	}
	return func() []string {
		p.absorb(p.link.look())
		if p.snap == nil || p.snap.Live == nil {
			return nil
		}
		lines := l.newest(minWidth)
		if text := strings.Join(lines, "\n"); text != said {
			said = text
			return lines
		}
		return nil
	}
}

func (p *prompts) finish() error {
	d := dashboard{base: base{p.desk}}
	p.write(d.text(minWidth)...)
	p.changes = liveNews(p)
	defer func() { p.changes = nil }()
	document := func(name string, what session.Document) wayOn {
		return shows(name, func() { p.printed(string(what), strings.Split(p.do(p.link.export(what, nil)), "\n")) })
	}
	sure := func(name string, verb session.Verb) wayOn {
		return p.sure(name, t(name+".title"), t(name+".text"), session.Action{Verb: verb})
	}
	var ways []wayOn
	done, line := p.state() == view.IsDone, p.snap.List == view.ListFactory
	if done {
		ways = append(ways, document("report", session.ReportText))
	}
	switch {
	case p.snap.Locked:
		ways = append(ways, wayOn{"unlock", p.unlock})
	case done && line: // a node on the bench line is sealed, not handed over
		ways = append(ways, sure("undo", session.Undo))
	case done:
		ways = append(ways, sure("undo", session.Undo), sure("handover", session.HandOver), wayOn{"logIn", func() error { return plainLogIn(p) }})
	}
	ways = append(ways, shows("bundle", func() { p.write(p.bundled()...) }), shows("log", func() { plainRecords(p, false) }),
		sure("reboot", session.Reboot), sure("powerOff", session.PowerOff), document("inventory", session.InventoryPage))
	if again := sure("move", session.Edit); !p.snap.Locked {
		if line {
			again.name = "recheck"
		}
		ways = append(ways, again)
	}
	return p.choose(append(ways, shows("summary", func() { plainSummary(p) }), shows("journal", func() { plainRecords(p, true) }), wayOn{"offer", func() error { return plainOffer(p) }}))
}

// plainLog is how many lines of the log a line terminal is given: two screens.
const plainLog = 40

// plainRecords prints what was recorded last: by the engine, or what the node recorded that deserves attention.
func plainRecords(p *prompts, ofNode bool) {
	msg := p.link.readLog(records.Ask{Lines: plainLog, Node: ofNode, Grave: ofNode})
	switch {
	case msg.failed != nil:
		p.write(p.explain(msg.failed))
	case len(msg.lines) == 0:
		p.write(t("log.empty"))
	default:
		p.printed("the log", msg.lines)
	}
}

// waivable are the checks that did not pass.
func (p *prompts) waivable() []finding {
	var all []finding
	for _, stage := range p.snap.Stages {
		for _, f := range findings(stage) {
			if bad(f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// stopWork asks whether the work is to stop.
func stopWork(p *prompts) error {
	if err := p.heard(); err != nil || !p.moving() {
		return err
	}
	if !p.held {
		p.write(t("control.readonly"))
		return nil
	}
	return p.sure("cancel", t("cancel.title"), t("cancel.text"), session.Action{Verb: session.Cancel}).do()
}

// waive asks which check, who and why. An empty answer leaves everything as it was.
func (p *prompts) waive() error {
	all := p.waivable()
	var names []string
	for _, f := range all {
		names = append(names, show(f.Title)+": "+show(f.Observed))
	}
	n, err := p.options(names...)
	if n < 0 || err != nil {
		return err
	}
	p.write(t("waive.title", all[n].Title), t("waive.text"))
	ask := t("waive.by") + ":"
	if p.by != "" {
		ask = t("waive.by") + " [" + p.by + "]:"
	}
	by, err := p.decide(ask)
	if err != nil {
		return err
	}
	by = cmp.Or(by, p.by)
	why, err := p.decide(t("waive.reason") + ":")
	if err != nil {
		return err
	}
	if by == "" || why == "" {
		p.write(t("waive.needed"))
		return nil
	}
	p.by = by
	p.act(session.Action{Verb: session.Waive, Step: all[n].step, Check: all[n].ID, By: by, Reason: why})
	return nil
}

// plainOffer has a bundle offered, or tells how the offer goes and ends it.
func plainOffer(p *prompts) error {
	if isOffered(p.snap) {
		p.told = told{}
		p.write(offerLines(p.snap, minWidth, true)...)
		return p.choose([]wayOn{
			shows("offerEnd", func() { p.write(p.offerNow(offered.End)...) }), shows("close", func() {}),
		})
	}
	p.write(t("bundle.making"))
	p.write(p.offerNow(offered.Begin)...)
	return nil
}

// offerNow has an offer begin or end, and tells how it is then. Its address is printed, and not recorded.
func (p *prompts) offerNow(what session.Document) []string {
	msg, ok := p.link.offer(what)().(offerMsg)
	if !ok {
		return nil
	}
	p.absorb(msg.snapshot)
	if msg.failed != nil {
		return wrap(p.advice(msg.failed), minWidth, "")
	}
	if p.snap.Offer == nil {
		return nil
	}
	if isOffered(p.snap) {
		p.printed("the address of the bundle", p.snap.Offer.URLs)
	}
	return offerLines(p.snap, minWidth, true)
}
