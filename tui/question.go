package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
)

// question asks what a step wants to know.
type question struct {
	base
	id      string
	row     row
	stopped time.Time // when the countdown ends that the engine was asked to stop; it is asked once for each
}

func newQuestion(d *desk) *question {
	q := &question{base: base{d}, id: d.snap.Question.ID}
	for i, c := range d.snap.Question.Choices {
		if c.Value == d.snap.Question.Default {
			q.row.at = i
		}
	}
	return q
}

func (q *question) name() string { return "question" }

func (q *question) keys() []key.Binding {
	k := q.desk.keys
	return []key.Binding{k.up, k.enter, k.log, k.help, k.leave}
}

func (q *question) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok || q.snap.Question == nil {
		return q, nil
	}
	list := q.buttons()
	if n := digit(press); n >= 1 && n <= len(q.snap.Question.Choices) {
		q.row.at = n - 1
		return q, q.hold()
	}
	if hit := q.row.choose(press, q.desk.keys, list); hit != nil {
		if q.hasty() {
			return q, q.hold()
		}
		if hit.careful { // an answer
			return hit.do()
		}
		next, cmd := hit.do()
		return next, tea.Batch(cmd, q.hold())
	}
	return q, q.hold()
}

// hold stops the countdown: whoever presses a key is there.
func (q *question) hold() tea.Cmd {
	v := q.snap.Question
	if !q.held || v.Held || v.Until.IsZero() || q.stopped.Equal(v.Until) {
		return nil
	}
	q.stopped = v.Until
	return q.link.act(session.Action{Verb: session.Hold, Question: q.id})
}

func (q *question) buttons() []button {
	var list []button
	for i, c := range q.snap.Question.Choices {
		number := numbered(i)
		list = append(list, button{key: number, label: show(c.Label), careful: true, do: func() (screen, tea.Cmd) {
			if !q.held {
				q.flash = t("control.readonly")
				return q, nil
			}
			return q, q.link.act(session.Action{Verb: session.Reply, Question: q.id, Value: c.Value})
		}})
	}
	return append(list, common(q.desk, q)...)
}

func (q *question) view(w, h int) page {
	v := q.snap.Question
	if v == nil {
		return page{}
	}
	var lines []string
	for _, line := range wrap(show(v.Text), w, "") {
		lines = append(lines, q.theme.strong.Render(line))
	}
	lines = append(append(lines, ""), wrap(show(v.Detail), w, "")...)
	lines = append(lines, "")
	list, y := q.row.list(q.theme, q.buttons(), func(i int) string {
		if i < len(v.Choices) && v.Choices[i].Value == v.Default {
			return t("question.default")
		}
		return ""
	}, w)
	p := page{x: 0, y: len(lines) + y}
	lines = append(append(lines, list...), "")
	switch {
	case v.Held:
		lines = append(lines, wrap(t("question.held", v.Until.UTC().Format("15:04")), w, "")...)
	case !v.Until.IsZero():
		lines = append(lines, wrap(t("question.until", span(v.Until.Sub(q.now()))), w, "")...)
		if q.held {
			lines = append(lines, wrap(t("question.hold"), w, "")...)
		}
	}
	p.lines = lines
	return p
}
