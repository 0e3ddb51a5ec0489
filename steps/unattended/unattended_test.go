package unattended_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/message"
	"touchdown/steps/unattended"
)

// The documents that can be in the sockets.
var (
	stick     = unattended.Document{ID: "stick", Verdict: unattended.Trusted, Asks: true}
	second    = unattended.Document{ID: "second", Verdict: unattended.Trusted, Asks: true}
	attended  = unattended.Document{ID: "attended", Verdict: unattended.Trusted}
	used      = unattended.Document{ID: "used", Verdict: unattended.Used, Asks: true}
	refused   = unattended.Document{Verdict: unattended.Refused}
	unread    = unattended.Document{Verdict: unattended.Unread}
	refusedAs = unattended.Document{ID: "refused", Verdict: unattended.Refused, Asks: true}
)

// sockets are what can be in them, with the one stick that may start; "" for none.
var sockets = []struct {
	media []unattended.Document
	may   string
}{
	{nil, ""},
	{[]unattended.Document{attended}, ""},
	{[]unattended.Document{used}, ""},
	{[]unattended.Document{refused}, ""},
	{[]unattended.Document{stick, second}, ""},
	{[]unattended.Document{stick, attended}, ""},
	{[]unattended.Document{attended, stick}, ""},
	{[]unattended.Document{stick, refused}, ""},
	{[]unattended.Document{refusedAs, stick}, ""},
	{[]unattended.Document{used, refused}, ""},
	{[]unattended.Document{unread}, ""},
	{[]unattended.Document{stick, refused, unread}, ""},
	{[]unattended.Document{attended, unread}, ""},
	{[]unattended.Document{stick, unread}, "stick"},
	{[]unattended.Document{unread, stick}, "stick"},
	{[]unattended.Document{stick}, "stick"},
	{[]unattended.Document{stick, used}, "stick"},
	{[]unattended.Document{used, stick}, "stick"},
}

// bakedKinds are what the factory can have put in; the one that may start is first.
func bakedKinds() []*unattended.Document {
	return []*unattended.Document{
		{ID: "baked", Verdict: unattended.Trusted, Asks: true},
		{ID: "baked", Verdict: unattended.Trusted},
		{ID: "baked", Verdict: unattended.Used, Asks: true},
		{ID: "baked", Verdict: unattended.Refused, Asks: true},
		nil,
	}
}

// reviews are what a review can have found; those from the third on stand against a start.
func reviews() []*unattended.Review {
	found := []message.Text{message.T("something")}
	return []*unattended.Review{
		nil, {}, {Warnings: found, KeepGoing: true}, {Warnings: found}, {Problems: found}, {Problems: found, KeepGoing: true},
	}
}

// bits are all values of so many yes-or-no facts.
func bits(n int, each func(is func(int) bool)) {
	for i := range 1 << n {
		each(func(bit int) bool { return i>>bit&1 == 1 })
	}
}

// TestDecideInEveryCase: the rules, written here as what has to hold where something starts, and where nothing does.
func TestDecideInEveryCase(t *testing.T) {
	cases, acts := 0, map[unattended.Act]int{}
	for _, socket := range sockets {
		for kind := range bakedKinds() {
			for seen := range reviews() {
				bits(11, func(is func(int) bool) {
					f := unattended.Facts{
						Sealed: is(0), Begun: is(1), Lost: is(2), Typed: is(3), Taken: is(4), Blind: is(5), Halted: is(6), Counted: is(7), Shipped: is(10),
						Baked: bakedKinds()[kind], Review: reviews()[seen],
					}
					if is(8) {
						f.Control = "tty1"
					}
					for _, d := range socket.media {
						if is(9) {
							d.Tried = message.T("it failed")
						}
						f.Media = append(f.Media, d)
					}
					if is(9) && f.Baked != nil {
						f.Baked.Tried = message.T("it failed")
					}
					got, want := unattended.Decide(f), wanted(f, socket.may, kind == 0, seen)
					if got.Act != want.Act || want.Act != unattended.Nothing && got.Document != want.Document {
						t.Fatalf("%d with %q, not %d with %q: %+v, sockets %v", got.Act, got.Document, want.Act, want.Document, f, socket.media)
					}
					if told := got.Why != (message.Text{}); told != (got.Act <= unattended.Wait && got.Document != "") {
						t.Fatalf("%+v: %+v", got, f)
					}
					cases++
					acts[got.Act]++
				})
			}
		}
	}
	if cases != len(sockets)*5*6*2048 || len(acts) != 5 {
		t.Errorf("%d cases, %v", cases, acts)
	}
}

// wanted is what has to come of facts: a node where every fact is right has one document that may start, and everything else is nothing.
func wanted(f unattended.Facts, stick string, baked bool, seen int) unattended.Decision {
	tried := len(f.Media) > 0 && f.Media[0].Tried != message.Text{} || f.Baked != nil && f.Baked.Tried != message.Text{}
	if f.Begun || f.Lost || f.Typed || f.Taken || f.Blind || f.Control != "" || !f.Sealed || seen > 2 {
		return unattended.Decision{}
	}
	switch {
	case stick != "" && tried:
		return unattended.Decision{Act: unattended.Wait, Document: stick}
	case stick != "" && seen == 0:
		return unattended.Decision{Act: unattended.Try, Document: stick}
	case stick != "":
		return unattended.Decision{Act: unattended.Start, Document: stick}
	case slices.ContainsFunc(f.Media, func(d unattended.Document) bool { return d.Verdict != unattended.Unread }) || !baked || f.Halted || !f.Shipped:
		return unattended.Decision{}
	case tried:
		return unattended.Decision{Act: unattended.Wait, Document: "baked"}
	case !f.Counted:
		return unattended.Decision{Act: unattended.CountDown, Document: "baked"}
	case seen == 0:
		return unattended.Decision{Act: unattended.Try, Document: "baked"}
	}
	return unattended.Decision{Act: unattended.Start, Document: "baked"}
}

// TestWhy: what a person reads, each of it the one thing that stands against a start.
func TestWhy(t *testing.T) {
	ready := func() unattended.Facts { return unattended.Facts{Sealed: true, Shipped: true, Baked: bakedKinds()[0]} }
	for want, change := range map[string]func(*unattended.Facts){
		"the factory has not sealed this node":      func(f *unattended.Facts) { f.Sealed = false },
		"its landing has begun before":              func(f *unattended.Facts) { f.Begun = true },
		"records of this node were lost":            func(f *unattended.Facts) { f.Lost = true },
		"answers were typed":                        func(f *unattended.Facts) { f.Typed = true },
		"a person took the answers":                 func(f *unattended.Facts) { f.Taken = true },
		"tty1 has control":                          func(f *unattended.Facts) { f.Control = "tty1" },
		"could not be checked":                      func(f *unattended.Facts) { f.Blind = true },
		"a medium that is not used is there":        func(f *unattended.Facts) { f.Media = []unattended.Document{refused} },
		"leave the right one in":                    func(f *unattended.Facts) { f.Media = []unattended.Document{stick, second} },
		"which goes before the site config in":      func(f *unattended.Facts) { f.Media = []unattended.Document{attended} },
		"not booted since":                          func(f *unattended.Facts) { f.Shipped = false },
		"a person stopped it":                       func(f *unattended.Facts) { f.Halted = true },
		"it failed":                                 func(f *unattended.Facts) { f.Baked.Tried = message.T("it failed") },
		"what has to be fixed first: something":     func(f *unattended.Facts) { f.Review = reviews()[4] },
		"nobody to judge them; fix them, start at ": func(f *unattended.Facts) { f.Review = reviews()[3] },
	} {
		f := ready()
		if got := unattended.Decide(f); got.Act != unattended.CountDown {
			t.Fatalf("%+v", got)
		}
		change(&f)
		if got := unattended.Decide(f); got.Act > unattended.Wait || !strings.Contains(fmt.Sprint(got.Why), want) {
			t.Errorf("%q, not %q", got.Why, want)
		}
	}
}

// TestSource: what the node put in itself is told apart from what a person took.
func TestSource(t *testing.T) {
	for _, document := range []string{"stick SITECONFIG", "factory"} {
		if was, byNode := unattended.Bare(unattended.Source(document)); was != document || !byNode {
			t.Errorf("%q, %t", was, byNode)
		}
		if was, byNode := unattended.Bare(document); was != document || byNode {
			t.Errorf("%q, %t", was, byNode)
		}
	}
}
