package tui

import (
	"context"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/handout"
)

// logInTime is how long the credentials stay on a screen that nobody closes.
const logInTime = 2 * time.Minute

// logIn shows how to log in to the cluster, on this console alone. What was given lives as long as the page.
type logIn struct {
	base
	msg   logInMsg
	since time.Time
}

// newLogIn asks the engine for the credentials.
func newLogIn(d *desk) (screen, tea.Cmd) {
	return &logIn{base: base{d}, since: d.clock()}, d.link.give
}

// give asks for the credentials in the name of this console, which has to have control.
func (l *link) give() tea.Msg {
	ctx, cancel := context.WithTimeout(l.ctx, workTimeout)
	defer cancel()
	got, err := l.session.Give(ctx, l.token(), handout.Ask{Password: true})
	return logInMsg{got, err}
}

func (l *logIn) name() string  { return "logIn" }
func (l *logIn) overlay() bool { return true }
func (l *logIn) private() bool { return true }
func (l *logIn) keys() []key.Binding {
	return []key.Binding{means(l.desk.keys.enter, "key.close"), means(l.desk.keys.back, "key.close")}
}

func (l *logIn) update(msg tea.Msg) (screen, tea.Cmd) {
	switch msg := msg.(type) {
	case logInMsg:
		l.msg, l.since = msg, l.desk.clock()
	case tea.KeyPressMsg:
		if k := l.desk.keys; pressed(msg, k.enter, k.back) {
			return nil, nil
		}
	}
	return l, nil
}

// over tells whether the page must not stay: whoever took control may stand at another screen, and who walked away leaves this one
// to anyone.
func (l *logIn) over() bool { return !l.held || l.desk.clock().Sub(l.since) >= logInTime }

func (l *logIn) view(w, h int) page {
	text := page{lines: append([]string{l.theme.strong.Render(t("logIn.title")), ""}, l.lines(w)...)}.fit(h - 1)
	return page{lines: append(text.lines, marker+l.theme.focus.Render("[ "+t("button.close")+" ]")), x: 3, y: h - 1}
}

func (l *logIn) lines(w int) []string {
	switch {
	case l.msg.failed != nil:
		return wrap(l.explain(l.msg.failed), w, "")
	case l.msg.got == nil:
		return []string{t("logIn.loading")}
	}
	return logInLines(l.msg.got, w, t("logIn.closing"))
}

// logInLines are the credentials, and what to do with them; closing is how they go from the screen.
func logInLines(got *handout.LogIn, w int, closing string) []string {
	var lines []string
	if got.Console != "" {
		lines = append(lines, hang(t("logIn.console", got.Console), w, "", 13)...)
	}
	lines = append(lines, hang(t("logIn.api", got.API), w, "", 13)...)
	lines = append(lines, t("logIn.user", got.User))
	if show(got.Why) != "" {
		lines = append(lines, hang(t("logIn.none", got.Why), w, "", 13)...)
	} else {
		lines = append(append(lines, t("logIn.password", got.Password), ""), wrap(strings.TrimSpace(t("logIn.alone")+" "+closing), w, "")...)
	}
	return append(append(lines, ""), wrap(t("logIn.config"), w, "")...)
}
