package tui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// questions goes through all fields; "back" leads to the one before.
func (p *prompts) questions() error {
	tellFound(p)
	p.write(wrap(t("plain.how", t("plain.backWord"), t("plain.emptyWord")), minWidth, "")...)
	to := ""                        // the question that "back" leads to
	for asked := []string(nil); ; { // an answer, or a medium that comes or goes, can change what is asked
		if showsUpdate(p.snap) {
			return nil
		}
		var list []view.Field
		for _, stage := range p.asked() {
			list = append(list, fields(stage)...)
		}
		next := slices.IndexFunc(list, func(v view.Field) bool {
			return v.Path == to || to == "" && !slices.Contains(asked, v.Path)
		})
		if next < 0 && to != "" { // it is not asked any more
			to = ""
			continue
		}
		if to == "" {
			var err error
			if to, err = onTheWay(p, asked, list, next); err != nil {
				return err
			}
			if to != "" { // what follows it is asked again
				asked = asked[:slices.Index(asked, to)]
				continue
			}
		}
		if next < 0 {
			break
		}
		back, again, err := p.field(list[next])
		if err != nil {
			return err
		}
		switch {
		case again:
		case back:
			asked, to = backFrom(asked, list)
		default:
			asked, to = append(asked, list[next].Path), ""
		}
	}
	p.goTo("")
	p.write(t("review.asking"))
	p.act(session.Action{Verb: session.Review})
	return nil
}

// tellFound tells what was found out, and what to do about what did not pass.
func tellFound(p *prompts) {
	for _, stage := range p.snap.Stages {
		tell(p, findings(stage))
	}
}

// backFrom is what was asked before the last question that is still in the list, and that question; "" when there is none.
func backFrom(asked []string, list []view.Field) (before []string, last string) {
	for n := len(asked) - 1; n >= 0; n-- {
		if slices.ContainsFunc(list, func(v view.Field) bool { return v.Path == asked[n] }) {
			return asked[:n], asked[n]
		}
	}
	return nil, ""
}

// field asks one question.
func (p *prompts) field(v view.Field) (back, again bool, err error) {
	p.offers(v)
	if v.Kind == steps.Secret {
		p.echo(false)
		defer p.echo(true)
	}
	line, next, err := firstLine(p, v)
	if err != nil {
		return false, false, err
	}
	p.busy.Store(true) // what follows is a part of the answer
	defer p.busy.Store(false)
	text := strings.TrimSpace(line)
	if v.Kind == steps.Secret {
		if text, err = p.object(text); err != nil {
			return false, false, err
		}
	}
	cmd := p.link.set(v.Path, text)
	tried, _ := strconv.Atoi(strings.TrimPrefix(text, p.keys.act.Help().Key))
	switch n, _ := strconv.Atoi(text); {
	case isBack(text):
		return true, false, nil
	case text == t("plain.emptyWord"):
		cmd = p.link.set(v.Path, "")
	case text == "?":
		p.explainField(v)
		return false, true, nil
	case v.Files && text == t("plain.fileWord"):
		return false, true, p.fromFile(v)
	case text == "" && show(v.Problem) != "":
		return p.verdict(v.Path)
	case text == "":
		return false, v.Value == "" && !v.Optional && !v.SecretSet, nil
	case v.Act != nil && tried > 0 && n == 0 && tried <= len(v.Choices):
		p.try(v, v.Choices[tried-1].Value)
		return false, true, nil
	case n > 0 && n <= len(choicesOf(v)):
		cmd = p.link.set(v.Path, choicesOf(v)[n-1].Value)
	case isPasted(v.Kind) && strings.HasPrefix(text, "/"):
		cmd = p.link.setFile(v.Path, text)
	case isPasted(v.Kind):
		if text, err = p.block(line, v.Kind == steps.Lines, next); err != nil {
			return false, false, err
		}
		if len(text) > longestPEM {
			p.write(t("paste.long", v.Label, longestPEM))
			return false, true, p.drop()
		}
		cmd = p.link.set(v.Path, text)
	}
	p.write(p.do(cmd))
	return p.verdict(v.Path)
}

// firstLine asks for the answer, and tells what asks for more of its lines.
func firstLine(p *prompts, v view.Field) (line string, next func(string) (string, error), err error) {
	next = p.ask
	if v.Kind == steps.Lines {
		next = p.askLine
		p.write(t("plain.lines"))
	}
	line, err = next(promptOf(p, v))
	return line, next, err
}

// object reads on to the end of a JSON object, such as a pull secret on several lines; a dot gives it up.
func (p *talk) object(text string) (string, error) {
	for unbalanced(text) && len(text) <= longest {
		line, err := p.ask("")
		if err != nil || line == "." {
			return text, err
		}
		text += "\n" + line
	}
	return text, nil
}

// explainField prints the help of a question.
func (p *talk) explainField(v view.Field) {
	if p.write(show(v.Help)); v.Example != "" {
		p.write(t("form.example", v.Example))
	}
}

// offers tells what can be typed at a question in place of a value.
func (p *prompts) offers(v view.Field) {
	for i, c := range choicesOf(v) {
		p.write(t("pick.choice", i+1, c.Label))
	}
	if v.Act != nil {
		p.write(t("act.plain", p.keys.act.Help().Key, v.Act.Label))
	}
	if v.Files {
		p.write(t("plain.files", t("plain.fileWord")))
	}
}

// try is act for a line terminal: it waits for the end.
func (p *prompts) try(v view.Field, value string) {
	cmd := p.answers.act(v, value)
	p.write(p.aside.text)
	if msg, ok := cmd().(actMsg); ok {
		p.flash = ""
		p.absorb(msg.snapshot)
		p.actedAside(msg)
		p.write(p.aside.text, p.flash)
	}
	p.aside = aside{}
}

// verdict tells what is wrong with the answer that was just given, if anything is; then the question is asked again.
func (p *prompts) verdict(path string) (back, again bool, err error) {
	why := p.refused[path]
	for _, f := range p.allFields() {
		if f.Path == path && show(f.Problem) != "" {
			why = show(f.Problem)
		}
	}
	if why != "" {
		p.as([]string{alert + untoldProblem}, []string{alert + why})
		err = p.drop() // what follows a wrong answer was meant for it
	}
	return false, why != "", err
}

func (p *prompts) review() error {
	r := review{base: base{p.desk}}
	p.blind = true
	recorded := r.text(minWidth)
	p.blind = false
	p.as(recorded, r.text(minWidth))
	if !r.ready() {
		p.write(t("review.blocked"))
	}
	if len(p.waivable()) > 0 {
		p.write(t("plain.waive", t("plain.waiveWord")))
	}
	p.write(t("plain.look", t("plain.lookWord")))
	isWord := func(text string) bool {
		return slices.ContainsFunc(p.words(), func(w string) bool { return strings.EqualFold(w, text) })
	}
	numbers := map[string]view.Stage{}
	n := 0
	for _, stage := range p.closed() {
		for n++; isWord(strconv.Itoa(n)); n++ { // a node or a cluster may be called 1: that starts
		}
		numbers[strconv.Itoa(n)] = stage
		p.write(t("plain.advanced", n, stage.Title, given(stage)))
	}
	text, err := p.decide(t("plain.start", p.word(), t("plain.backWord")))
	if err != nil {
		return err
	}
	switch text {
	case t("plain.waiveWord"):
		return p.waive()
	case t("plain.lookWord"):
		p.write(t("checks.again"))
		for _, verb := range []session.Verb{session.Edit, session.Inspect, session.Review} {
			p.act(session.Action{Verb: verb})
		}
		tellFound(p)
		return nil
	}
	stage, opens := numbers[text]
	switch {
	case isBack(text):
		p.write(p.do(p.edit()))
	case opens:
		if p.act(session.Action{Verb: session.Edit}); p.state() == view.Collecting {
			p.goTo(stage.ID)
		}
	case isWord(text) && r.ready():
		p.act(session.Action{Verb: session.Start, Fingerprint: p.snap.Review.Fingerprint})
	}
	return nil
}

// watch tells what the work says when it changes, and that it goes on when nothing does.
func (p *prompts) watch() error {
	word := t("plain.stopWord")
	if p.told == (told{}) && p.held {
		p.write(t("plain.stop", word))
	}
	if line := p.told.news(work{base: base{p.desk}}, p.now()); line != "" {
		p.write(line)
	}
	if typed, err := p.pause(2*time.Second, word); !typed {
		return err
	}
	return stopWork(p)
}
