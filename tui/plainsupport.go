package tui

import (
	"strings"

	"touchdown/steps/offered"
	"touchdown/steps/records"
	"touchdown/steps/session"
)

// forSupport are the ways on that end each list: what a terminal can record of the node, and a bundle on the network.
func forSupport(p *prompts) []wayOn {
	return []wayOn{
		shows("summary", func() { plainSummary(p) }), shows("journal", func() { plainRecords(p, true) }),
		{"offer", func() error { return plainOffer(p) }},
	}
}

// bundled has a support bundle made, and tells where it is.
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
