package tui

import (
	"slices"
	"strconv"
	"strings"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// review tells what would change, and asks for the word that starts it.
func (p *prompts) review() error {
	r := review{base: base{p.desk}}
	p.blind = true
	recorded := r.text(minWidth)
	p.blind = false
	p.as(recorded, r.text(minWidth))
	if !r.ready() {
		p.write(t("review.blocked"))
	}
	if len(p.allFindings(bad)) > 0 {
		p.write(t("plain.waive", t("plain.waiveWord")))
	}
	if len(p.allFindings(p.withdrawable)) > 0 {
		p.write(t("plain.withdraw", t("plain.withdrawWord")))
	}
	p.write(t("plain.look", t("plain.lookWord")))
	if p.snap.Touched {
		p.write(t("plain.undo", t("plain.undoWord")))
	}
	isWord := func(text string) bool {
		return slices.ContainsFunc(p.words(), func(w string) bool { return strings.EqualFold(w, text) })
	}
	numbers := offersClosed(p, isWord)
	text, err := p.oneOf(t("plain.start", p.word(), t("plain.backWord")), func(text string) bool {
		return isBack(text) || isWord(text) || p.isReviewWord(text) || numbers[text].ID != ""
	})
	if err != nil {
		return err
	}
	switch text {
	case t("plain.waiveWord"):
		return plainWaive(p)
	case t("plain.withdrawWord"):
		return plainWithdraw(p)
	case t("plain.undoWord"):
		return p.sure("undo", t("undo.title"), ofUndo(p.desk), session.Action{Verb: session.Undo}).do()
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

// isReviewWord tells whether a line is one of the words that do something else with a review than to start it.
func (p *prompts) isReviewWord(text string) bool {
	words := []string{t("plain.waiveWord"), t("plain.withdrawWord"), t("plain.lookWord")}
	return slices.Contains(words, text) || p.snap.Touched && text == t("plain.undoWord")
}

// offersClosed tells which number opens which of the closed pages.
func offersClosed(p *prompts, isWord func(string) bool) map[string]view.Stage {
	numbers, n := map[string]view.Stage{}, 0
	for _, stage := range p.closed() {
		for n++; isWord(strconv.Itoa(n)); n++ { // a node or a cluster may be called 1: that starts
		}
		numbers[strconv.Itoa(n)] = stage
		p.write(t("plain.advanced", n, stage.Title, given(p.answers, stage)))
	}
	return numbers
}
