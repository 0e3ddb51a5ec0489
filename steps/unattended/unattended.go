// Package unattended decides whether a node starts its landing without a person: with which document, or why not. It knows nothing but
// the facts that it is given, and is the only place where this is decided.
//
// The rules, the stronger ones first:
//
//   - Only a node that the factory sealed, whose landing has never begun, starts without a person. Where records of the node were lost,
//     it is not certain what happened to it, and nothing starts.
//   - A person comes first. While a typed value, a loaded file or answers that a person took from a document are in the draft, nothing
//     starts. Whoever takes the values out again hands back.
//   - While someone has control, nothing starts. Giving control back without an answer hands back.
//   - A stick goes before the document that the factory put into the node, whatever the stick says: someone brought it later.
//   - A document that is refused, and a second medium that could be used, stop everything: a person decides. A stick that
//     was used on this node already can stay beside one that starts; it stops the factory's document, as every stick does.
//   - A drive that cannot be read, whatever is on it, counts nothing: many servers have one that is not a medium, and a node must not wait
//     for a person because of it. The seal notes it.
//   - A stick starts when its document says unattended, the node trusts it, and it is the only one.
//   - The factory's document starts when it says unattended, was made for exactly this machine, the seal named it, the node was booted
//     since, and no stick with a site config is there. A countdown comes first, and the sockets are looked at until its end. A stick that comes meanwhile ends it. A key at any console
//     stops it, for this document for good: whoever pressed the key goes on, with the document's answers or with others.
//   - Nothing starts with a review that found a problem, or a warning that the document does not take responsibility for
//     (spec.policy.keepGoingOnWarnings).
//   - A document whose start failed waits, and is tried again while nobody touches a console: a router that boots together with the node
//     is late. After a key it is not tried until it is pulled out and put in, or the engine starts again, as it does after a reboot or a
//     power cut.
//
// A document counts as used once the journal has its start, which comes before the first change (backend/media): none starts a landing twice.
// A start that a power cut or a full disk kept out of the journal has changed nothing, and is made again.
package unattended

import (
	"slices"
	"strings"

	"touchdown/backend/message"
)

// Verdict is what the node thinks of a document.
type Verdict int

// The verdicts.
const (
	Refused Verdict = iota // it is foreign, changed or not signed
	Unread                 // what is on the drive could not be read: it counts nothing
	Used                   // it was used on this node
	Trusted                // the node may use it
)

// Document is one that is in the node or on a medium in its sockets.
type Document struct {
	ID      string
	Verdict Verdict
	Asks    bool         // it says unattended
	Tried   message.Text // why its start failed; zero: it was not tried
}

// Review is what the review of a document's answers found.
type Review struct {
	Problems, Warnings []message.Text
	KeepGoing          bool // the document takes responsibility for warnings
}

// Facts are all that counts.
type Facts struct {
	Sealed bool // by the factory
	Begun  bool // a landing began on this node, whatever became of it
	Lost   bool // records of the node were lost

	Typed   bool   // values that a person typed, chose or loaded from a file are in the draft
	Taken   bool   // answers that a person took from a document are
	Control string // who has control, without the one who asks; "" for nobody

	Blind   bool       // the sockets could not be checked
	Media   []Document // in the sockets
	Baked   *Document  // what the factory put into the node; nil for none
	Shipped bool       // the seal named Baked, and the node was booted since
	Halted  bool       // a person pressed a key while the countdown of Baked ran

	Counted bool    // the countdown has ended
	Review  *Review // nil: it has not been made yet
}

// Act is what is to be done now.
type Act int

// The acts. Each asks for what the one before it asks for, and more.
const (
	Nothing   Act = iota
	Wait          // until Document.Tried is taken back; nothing else stands against the start
	CountDown     // until Facts.Counted
	Try           // take the document's answers and make the review
	Start
)

// Decision is what is to be done, with which document.
type Decision struct {
	Act      Act
	Document string       // its ID; of the one that starts, or the one that asked first; "" when none asks
	Why      message.Text // why nothing is done, or it waits; zero when something is done, or when none asks
}

// Decide applies the rules.
func Decide(f Facts) Decision {
	asks := f.asks()
	if asks == nil {
		return Decision{}
	}
	for _, against := range []func(*Document) message.Text{f.node, f.person, f.sockets, f.factory, f.review} {
		if why := against(asks); why != (message.Text{}) {
			return Decision{Document: asks.ID, Why: why}
		}
	}
	switch {
	case asks.Tried != (message.Text{}):
		return Decision{Act: Wait, Document: asks.ID, Why: asks.Tried}
	case asks == f.Baked && !f.Counted:
		return Decision{Act: CountDown, Document: asks.ID}
	case f.Review == nil:
		return Decision{Act: Try, Document: asks.ID}
	}
	return Decision{Act: Start, Document: asks.ID}
}

// asks is the document that asks to start: the first medium that does, before the one in the node; nil for none.
func (f *Facts) asks() *Document {
	asks := func(d Document) bool { return d.Verdict == Trusted && d.Asks }
	if i := slices.IndexFunc(f.Media, asks); i >= 0 {
		return &f.Media[i]
	}
	if f.Baked != nil && asks(*f.Baked) {
		return f.Baked
	}
	return nil
}

// node is what stands against a start on this node at all.
func (f *Facts) node(*Document) message.Text {
	switch {
	case !f.Sealed || f.Begun:
		return message.T("the factory has not sealed this node, or its landing has begun before")
	case f.Lost:
		return message.T("records of this node were lost, so a person has to look at it")
	}
	return message.Text{}
}

// person is what a person did that goes before.
func (f *Facts) person(*Document) message.Text {
	switch {
	case f.Typed:
		return message.T("answers were typed on this node")
	case f.Taken:
		return message.T("a person took the answers of a medium")
	case f.Control != "":
		return message.F("%s has control; it starts when nobody has", f.Control)
	}
	return message.Text{}
}

// sockets is what in the sockets stands against a start of a document.
func (f *Facts) sockets(asks *Document) message.Text {
	is := map[Verdict]int{}
	for _, d := range f.Media {
		is[d.Verdict]++
	}
	switch {
	case f.Blind:
		return message.T("the drives and USB ports could not be checked for media")
	case is[Refused] > 0:
		return message.T("a medium that is not used is there, too; take it out")
	case asks != f.Baked && is[Trusted] > 1:
		return message.T("another medium is there, too; leave the right one in")
	case asks == f.Baked && len(f.Media) > is[Unread]:
		return message.T("a medium is there, which goes before the site config in the node; take its answers, or take it out")
	}
	return message.Text{}
}

// factory is what stands against the document in the node alone.
func (f *Facts) factory(asks *Document) message.Text {
	switch {
	case asks != f.Baked:
	case !f.Shipped:
		return message.T("the factory did not seal the node with it, or the node was not booted since")
	case f.Halted:
		return message.T("a person stopped it; take its answers on the page Network, or enter others")
	}
	return message.Text{}
}

// review is what was found in the review, once it is made.
func (f *Facts) review(*Document) message.Text {
	switch r := f.Review; {
	case r == nil:
	case len(r.Problems) > 0:
		return message.F("the review found what has to be fixed first: %s", strings.Join(message.English(r.Problems), "; "))
	case len(r.Warnings) > 0 && !r.KeepGoing:
		return message.F("there are warnings and nobody to judge them; fix them, start at a console, or set spec.policy.keepGoingOnWarnings: %s",
			strings.Join(message.English(r.Warnings), "; "))
	}
	return message.Text{}
}

// mark begins the source of answers that nobody took: the node put them in on a document's word.
const mark = "unattended "

// Source is the source of answers that the node takes from a document with nobody there.
func Source(document string) string { return mark + document }

// Bare is a source without that, and tells whether Source made it.
func Bare(source string) (document string, byNode bool) { return strings.CutPrefix(source, mark) }
