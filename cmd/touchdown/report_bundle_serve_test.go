package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/event"
	"touchdown/steps/offered"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// offerer is an engine that offers a bundle, which somewhere someone fetches, or not.
type offerer struct {
	hostile
	end string // how the offer ends
	bad error

	mu    sync.Mutex
	asked []session.Document
	offer offered.Bundle
}

func (o *offerer) Export(_ context.Context, what session.Document) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asked = append(o.asked, what); o.bad != nil {
		return nil, o.bad
	}
	o.offer = offered.Bundle{URLs: []string{"http://192.0.2.10:8765/abcd-efgh-jkmn"}, Name: "b.tar.gz", Bytes: 12, SHA256: "5e55"}
	return json.Marshal(o.offer)
}

func (o *offerer) Snapshot(context.Context) (*view.Snapshot, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	offer := o.offer
	return &view.Snapshot{Seq: 7, Offer: &offer}, nil
}

func (o *offerer) Events(_ context.Context, _ string, from uint64, each func([]event.Event) error) error {
	if from != 7 {
		return errors.New("events from long ago")
	}
	for _, step := range []func(){
		func() { o.offer.Fetches = []offered.Fetch{{From: "192.0.2.99", Sent: 4}} },
		func() { // another list: the server still writes the one of the last snapshot
			o.offer.Fetches, o.offer.Ended = []offered.Fetch{{From: "192.0.2.99", Sent: 12, Whole: o.end == offered.Taken}}, o.end
		},
	} {
		o.mu.Lock()
		step()
		o.mu.Unlock()
		if err := each([]event.Event{{Seq: 8, Kind: event.Changed}}); err != nil {
			return err
		}
	}
	return errors.New("the offer never ended")
}

// shut is an output that takes nothing.
type shut struct{}

func (shut) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestAnAddressThatIsNotPrinted: ends the offer.
func TestAnAddressThatIsNotPrinted(t *testing.T) {
	o := &offerer{end: offered.Taken}
	if code, said := served(t, o, shut{}, "report", "bundle", "--serve"); code == 0 || len(o.asked) != 2 || o.asked[1] != offered.End {
		t.Errorf("%d, %v: %s", code, o.asked, said)
	}
}

// TestBundleIsServed: the command tells where the bundle is and what it has to be, waits until it was fetched, and tells by whom; without a
// network it tells why not.
func TestBundleIsServed(t *testing.T) {
	var out strings.Builder
	o := &offerer{end: offered.Taken}
	code, said := served(t, o, &out, "report", "bundle", "--serve")
	if code != 0 || o.asked[0] != "bundle.offered/10m0s" {
		t.Fatalf("%d, %v: %s", code, o.asked, said)
	}
	for _, want := range []string{"http://192.0.2.10:8765/abcd-efgh-jkmn\n", "SHA-256 5e55\n", "192.0.2.99 fetched 12 of 12 bytes\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not told:\n%s", want, out.String())
		}
	}
	o = &offerer{end: offered.Late}
	if code, said := served(t, o, io.Discard, "report", "bundle", "--serve=5m"); code == 0 || o.asked[0] != "bundle.offered/5m0s" || !strings.Contains(said, "nobody fetched the whole bundle") {
		t.Errorf("%d, %v: %s", code, o.asked, said)
	}
	o = &offerer{bad: &problem.Problem{Code: "BND-ADDR", Summary: message.T("This node has no address in a network, so nobody could fetch the support bundle.")}}
	if code, said := served(t, o, io.Discard, "report", "bundle", "--serve"); code == 0 || !strings.Contains(said, "no address") {
		t.Errorf("%d: %s", code, said)
	}
}
