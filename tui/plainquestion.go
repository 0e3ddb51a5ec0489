package tui

import (
	"touchdown/steps/session"
)

// decision asks what the job asks, with its choices numbered.
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
