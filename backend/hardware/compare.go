package hardware

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// differences are what a machine has become on the way.
type differences struct {
	checks []check.Check
	unread []message.Text // what only one side knows
	ids    map[string]int // how often a name was given
}

// part is one thing that can be lost, added or exchanged.
type part struct {
	key   string // a number that no other part has, "" where it tells none
	wwn   string // another one, of disks
	place string // where it is plugged in, "" where that is not known
	like  string // what all parts of this kind share: model and size
	name  string // of its kind, for people; "": like says it
}

// number is the one that people find on the part.
func (p part) number() string { return cmp.Or(p.key, p.wwn) }

func (p part) compare(q part) int {
	return cmp.Or(cmp.Compare(p.key, q.key), cmp.Compare(p.wwn, q.wwn), cmp.Compare(p.like, q.like), cmp.Compare(p.place, q.place))
}

// pair is a part that is the same on both sides, by the positions in their lists.
type pair struct{ then, now int }

// matched says which parts are still there, which are in another's place, and which are only on one side.
type matched struct {
	same, exchanged []pair
	gone, added     []int
	unsure          []pair // the same as far as can be told: only one side knows the number
}

// match finds each part again wherever it is plugged in now. Parts with a number are the same when it is the same, wherever they
// are; what has none is the same when it is of the same kind, at the same place first. In the end, another part at the
// place of a missing one took that place.
func match(then, now []part) matched {
	var m matched
	left := func(all []part) []int { // in an order that is the same at each look, whatever the kernel found first
		var at []int
		for i := range all {
			at = append(at, i)
		}
		slices.SortStableFunc(at, func(i, j int) int { return all[i].compare(all[j]) })
		return at
	}
	m.gone, m.added = left(then), left(now)
	join := func(is func(a, b part) bool) []pair {
		var found []pair
		m.gone = slices.DeleteFunc(m.gone, func(i int) bool {
			at := slices.IndexFunc(m.added, func(j int) bool { return is(then[i], now[j]) })
			if at < 0 {
				return false
			}
			found = append(found, pair{i, m.added[at]})
			m.added = slices.Delete(m.added, at, at+1)
			return true
		})
		return found
	}
	samePlace := func(a, b part) bool { return a.place != "" && a.place == b.place }
	both := func(a, b string) bool { return a != "" && b != "" }
	unknown := func(a, b part) bool { return !both(a.key, b.key) && !both(a.wwn, b.wwn) && a.like == b.like }
	m.same = join(func(a, b part) bool { return a.key != "" && a.key == b.key })
	m.same = append(m.same, join(func(a, b part) bool { return !both(a.key, b.key) && a.wwn != "" && a.wwn == b.wwn })...)
	guessed := join(func(a, b part) bool { return unknown(a, b) && samePlace(a, b) })
	guessed = append(guessed, join(unknown)...)
	for _, p := range guessed {
		if m.same = append(m.same, p); then[p.then].number() != now[p.now].number() {
			m.unsure = append(m.unsure, p)
		}
	}
	m.exchanged = join(samePlace)
	return m
}

// name makes the ID of a check: short enough for a command line, and the same at each look for the same difference, so that
// whoever accepts one has accepted no other.
func (d *differences) name(kind string, of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	id := "shipped-" + kind + "-" + hex.EncodeToString(sum[:4])
	if d.ids == nil {
		d.ids = map[string]int{}
	}
	if d.ids[id]++; d.ids[id] > 1 {
		return fmt.Sprintf("%s-%d", id, d.ids[id])
	}
	return id
}

// value compares what has one value on a machine.
func (d *differences) value(v value) {
	switch {
	case v.then == v.now:
		return
	case v.then == (message.Text{}):
		d.unread = append(d.unread, message.F("%s: not known at the factory", v.what))
		return
	case v.now == (message.Text{}):
		d.unread = append(d.unread, message.F("%s: not known now", v.what))
		return
	}
	c := shippedCheck(d.name(v.id, v.of, v.then.String(), v.now.String()), v.title)
	d.tell(c, v.verdict, message.F("%s was %s and is %s now", v.what, v.then, v.now), v.fix)
}

// tell adds a difference. Its fix ends with the ID: whoever accepts it on a command line has to name it.
func (d *differences) tell(c check.Check, verdict check.Status, observed, fix message.Text) {
	c.Status, c.Observed, c.Fix = verdict, observed, message.F("%s (%s)", fix, c.ID)
	d.checks = append(d.checks, c)
}

// value is a property of the machine or of one of its parts, on both sides.
type value struct {
	id        string       // in the name of the check: "bios"
	verdict   check.Status // of another value
	of        string       // whose property it is: a number; "" for the machine's own
	title     message.Text
	what      message.Text // the beginning of the sentence
	fix       message.Text
	then, now message.Text
}

// kind is a kind of parts, with the sentences that only differ in the part.
type kind struct {
	id                     string
	title, fix             message.Text
	gone, added, exchanged func(then, now part) message.Text
}

// list compares the parts of a kind, and returns those that both sides have.
func (d *differences) list(k kind, then, now []part) []pair {
	m := match(then, now)
	tell := func(what string, verdict check.Status, a, b part, say func(then, now part) message.Text) {
		c := shippedCheck(d.name(k.id, what, a.number(), a.like, b.number(), b.like), k.title)
		d.tell(c, verdict, say(a, b), k.fix)
	}
	for _, p := range m.exchanged {
		tell("exchanged", check.Fail, then[p.then], now[p.now], k.exchanged)
	}
	for _, i := range m.gone {
		tell("gone", check.Fail, then[i], part{}, k.gone)
	}
	for _, i := range m.added {
		tell("added", check.Warn, part{}, now[i], k.added)
	}
	for _, p := range m.unsure {
		d.unread = append(d.unread, message.F("the serial number of %s at %s", then[p.then].model(), then[p.then].bay()))
	}
	return m.same
}
