package tui

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchdown/steps/offered"
	"touchdown/steps/view"
)

// TestBundleOnTheNetwork: three keys from any page with a log; the page tells where it lies, who fetches it and how it ended. The record
// has no address.
func TestBundleOnTheNetwork(t *testing.T) {
	b := newBench(t, 80, 24, finished)
	b.press("l", "o", "enter")
	for _, want := range []string{"http://198.51.100.10:8765/k7mq-2xwp-r9tc", "until 02:23 UTC", "The bundle has no secrets.", "touchdown-support.tar.gz, 1368 kB", "01234567  89abcdef", "Nobody has fetched it yet.", "[ End the offer ]"} {
		b.shows(want)
	}
	b.fake.change(func(s *view.Snapshot) {
		s.Offer = anOffer()
		s.Offer.Fetches = []offered.Fetch{{From: "198.51.100.7", Sent: 512 << 10, Over: true}, {From: "198.51.100.8", Sent: 700 << 10}}
	})
	b.refresh()
	b.shows("198.51.100.8 fetches it: 700 of 1368 kB")
	b.shows("198.51.100.7 fetched 512 of 1368 kB and stopped.")
	b.fake.change(func(s *view.Snapshot) {
		s.Offer = anOffer()
		s.Offer.Ended, s.Offer.Fetches = offered.Taken, []offered.Fetch{{From: "198.51.100.8", Sent: 1_400_000, Whole: true, Over: true, At: epoch}}
	})
	b.refresh()
	b.shows("The offer has ended: the bundle was fetched. Nothing listens any more.")
	b.shows("198.51.100.8 fetched all of it at 02:13:07 UTC.")
	if strings.Contains(b.screen(), "http://") {
		t.Errorf("the address is still there:\n%s", b.screen())
	}
	if text := b.told(); strings.Contains(text, "k7mq") || !strings.Contains(text, "page offer") {
		t.Errorf("%s", text)
	}
}

// TestAnOfferIsEndedByAKey: and closing the page does not end it.
func TestAnOfferIsEndedByAKey(t *testing.T) {
	b := newBench(t, 80, 24, finished)
	b.press("l", "o", "enter", "b", "l", "o", "enter")
	b.shows("[ End the offer ]")
	b.press("x")
	b.shows("The offer was ended. Nothing listens any more.")
	b.shows("[ Offer it again ]")
}

// TestNoNetworkForTheBundle: the page says why, and what else there is.
func TestNoNetworkForTheBundle(t *testing.T) {
	b := newBench(t, 80, 24, failed)
	b.fake.noNetwork = true
	b.press("l", "o", "enter")
	b.shows("This node has no address in a network")
	b.shows("write the bundle")
	b.press("b", "p", "enter")
	b.shows("Support bundle: /var/tmp/touchdown-support.tar.gz")
}

// TestBundleOnAFullDisk: fails with a reason, and the page offers the ways that need no disk. A key that was meant for the page before
// does nothing.
func TestBundleOnAFullDisk(t *testing.T) {
	b := newBench(t, 80, 24, failed)
	b.app.save = func([]byte) (string, error) { return "", fmt.Errorf("saving the support bundle: %w", syscall.ENOSPC) }
	b.press("p", "enter")
	b.shows("The support bundle was not saved: saving the support bundle: no")
	b.shows("Neither needs the disk.")
	b.press("o")
	b.shows("The support bundle was not saved")
	b.now = b.now.Add(2 * time.Second)
	b.press("o")
	b.shows("http://198.51.100.10:8765/k7mq-2xwp-r9tc")
}

// TestTheAddressAsACode: stands beside the text where there is room for it, and is not in the record.
func TestTheAddressAsACode(t *testing.T) {
	b := newBench(t, 132, 43, finished)
	b.app.switchMode()
	b.press("l", "o", "enter")
	b.shows("Scan for the bundle")
	b.shows("http://198.51.100.10:8765/k7mq-2xwp-r9tc")
	b.shows("\u2588")
	if text, recorded, is := strings.Cut(b.told(), "page offer"); !is || strings.Contains(recorded, "\u2588") {
		t.Errorf("the record has the code, or not the page:\n%s\n%s", text, recorded)
	}
}
