package tui

import (
	"errors"
	"slices"
	"strings"

	"touchdown/steps/chosen"
	"touchdown/steps/engine"
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
		p.act(engine.Action{Verb: engine.Hold, Question: q.ID})
	case n >= 0:
		p.act(engine.Action{Verb: engine.Reply, Question: q.ID, Value: q.Choices[n].Value})
	}
	return err
}

func (p *prompts) trouble() error {
	step, _ := p.current()
	if v := p.snap.Problem; v != nil {
		p.write(t("problem.title", step.Title), show(v.Summary), t("problem.fix", v.Fix), t("problem.code", v.Code))
		p.write(v.Output...)
	}
	if p.snap.Locked {
		return p.unlock()
	}
	n, err := p.options(t("button.retry"), t("button.edit"), t("button.skip"), t("button.undo"), t("button.bundle"),
		t("button.log"), t("button.waive"), t("button.summary"))
	verbs := []engine.Action{{Verb: engine.Retry}, {Verb: engine.Edit}, {Verb: engine.Skip, Step: step.ID}, {Verb: engine.Undo}}
	switch {
	case n == 7:
		plainSummary(p)
	case n == 6:
		return p.waive()
	case n == 5:
		p.log()
	case n == 4:
		p.write(p.bundled())
	case n == 2 || n == 3:
		return p.sure(verbs[n], err)
	case n >= 0:
		p.act(verbs[n])
	}
	return err
}

// unlock asks for the host name. An empty line leaves the node locked.
func (p *prompts) unlock() error {
	p.write(t("unlock.title"), t("unlock.text"))
	name, err := p.ask(t("confirm.type", p.hostWord()))
	switch {
	case err != nil || name == "":
	case strings.EqualFold(name, p.hostWord()):
		p.act(engine.Action{Verb: engine.Unlock, Value: p.snap.Hostname})
	default: // the engine says what to type
		p.act(engine.Action{Verb: engine.Unlock, Value: name})
	}
	return err
}

// sure asks for the word before an action that a wrong number must not start.
func (p *prompts) sure(a engine.Action, err error) error {
	if err != nil {
		return err
	}
	text, err := p.decide(t("confirm.type", p.word()))
	if slices.ContainsFunc(p.words(), func(w string) bool { return strings.EqualFold(w, text) }) {
		p.act(a)
	}
	return err
}

func (p *prompts) bundled() string {
	msg, ok := p.link.bundle(p.save)().(docMsg)
	if !ok || msg.failed != nil {
		return p.explain(msg.failed)
	}
	return t("bundle.saved", msg.saved)
}

// plainSummary prints what a terminal records for support, on a line that has neither network nor stick.
func plainSummary(p *prompts) {
	p.write(t("bundle.making"), t("plain.summary"))
	p.write(strings.Split(p.do(p.link.export(chosen.SummaryText, nil)), "\n")...)
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
	type way struct {
		name string
		do   func(error) error
	}
	sure := func(verb engine.Verb) func(error) error {
		return func(err error) error { return p.sure(engine.Action{Verb: verb}, err) }
	}
	show := func(f func()) func(error) error {
		return func(err error) error { f(); return err }
	}
	document := func(what engine.Document) func(error) error {
		return show(func() { p.write(strings.Split(p.do(p.link.export(what, nil)), "\n")...) })
	}
	ways := []way{{"report", document(engine.ReportText)}}
	if p.snap.Locked {
		ways = append(ways, way{"unlock", func(err error) error { return errors.Join(err, p.unlock()) }})
	} else {
		ways = append(ways, way{"undo", sure(engine.Undo)})
	}
	if p.snap.List != engine.ListFactory && !p.snap.Locked { // a node on the bench line is sealed, not handed over
		ways = append(ways, way{"handover", sure(engine.HandOver)}, way{"logIn", func(err error) error { return errors.Join(err, plainLogIn(p)) }})
	}
	ways = append(ways,
		way{"bundle", show(func() { p.write(p.bundled()) })}, way{"log", show(p.log)},
		way{"reboot", sure(engine.Reboot)}, way{"powerOff", sure(engine.PowerOff)},
		way{"inventory", document(engine.Inventory)}, way{"summary", show(func() { plainSummary(p) })})
	var names []string
	for _, w := range ways {
		names = append(names, t("button."+w.name))
	}
	n, err := p.options(names...)
	if n < 0 || n >= len(ways) {
		return err
	}
	return ways[n].do(err)
}

// plainLog is how many lines of the log a line terminal is given: two screens.
const plainLog = 40

func (p *prompts) log() {
	msg, ok := p.link.log(plainLog)().(logMsg)
	if !ok || msg.failed != nil {
		p.write(p.explain(msg.failed))
		return
	}
	p.write(msg.lines...)
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
	by, err := p.decide(t("waive.by") + ":")
	if err != nil {
		return err
	}
	why, err := p.decide(t("waive.reason") + ":")
	if err != nil {
		return err
	}
	if by == "" || why == "" {
		p.write(t("waive.needed"))
		return nil
	}
	p.act(engine.Action{Verb: engine.Waive, Step: all[n].step, Check: all[n].ID, By: by, Reason: why})
	return nil
}
