package tui

import (
	"strconv"
	"strings"

	"touchdown/steps"
	"touchdown/steps/view"
)

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
	case isPath(v, text):
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
	switch v.Kind {
	case steps.Lines:
		next = p.askLine
		p.write(t("plain.lines"))
	case steps.PEM:
		p.write(wrap(t("plain.pem"), minWidth, "")...)
	}
	line, err = next(promptOf(p, v))
	return line, next, err
}

// promptOf is the prompt of a field, whose answer is not recorded.
func promptOf(p *prompts, v view.Field) string {
	p.secret = answered(v)
	return show(v.Label) + " [" + inBrackets(v) + "]:"
}

// inBrackets is what stands beside a question: its answer, unless nobody may see it.
func inBrackets(v view.Field) string {
	if isHidden(v) && (v.Value != "" || v.SecretSet) {
		return t("form.set")
	}
	return v.Value
}

// answered is the answer of a field as it stands beside its question; "" for none. A line takes any text at any question.
func answered(v view.Field) string {
	if inBrackets(v) == "" {
		return ""
	}
	return "[" + inBrackets(v) + "]"
}

// isBack reports whether someone wants to go back: the English word does in every language.
func isBack(text string) bool { return text == "back" || text == t("plain.backWord") }

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
	if p.write(show(v.Help)); isText(v.Kind) && v.Example != "" {
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
			why = labelled(p.client, f.Problem)
		}
	}
	if why != "" {
		p.as([]string{alert + untoldProblem}, []string{alert + why})
		err = p.drop() // what follows a wrong answer was meant for it
	}
	return false, why != "", err
}
