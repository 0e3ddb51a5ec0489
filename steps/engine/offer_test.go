package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"touchdown/backend/problem"
	"touchdown/steps/idle"
	"touchdown/steps/offered"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// reachable gives an engine an address that it is reached at, and a port that was free a moment ago.
func reachable(t *testing.T, o *Options) {
	t.Helper()
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	at := netip.MustParseAddrPort(free.Addr().String())
	must(t, free.Close())
	o.OfferPort = at.Port()
	o.Reached = func(context.Context) ([]netip.Addr, error) { return []netip.Addr{at.Addr()}, nil }
}

// begins has an engine offer a bundle, at another port when someone has taken that one.
func begins(t *testing.T, s session.Session, o *Options) (b offered.Bundle) {
	t.Helper()
	wait.Until(t, "an offer", func() bool {
		told, err := s.Export(t.Context(), offered.Begin)
		if problem.From(err).Code == "BND-BUSY" {
			reachable(t, o)
			return false
		}
		must(t, err)
		must(t, json.Unmarshal(told, &b))
		return true
	})
	return b
}

// fetched is what lies at an address; nil where nothing answers.
func fetched(t *testing.T, url string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	must(t, err)
	return data
}

// TestABundleOnTheNetwork: is fetched with nothing but the address, is what its SHA-256 says, and is told with who fetched it. Its address
// is in no bundle.
func TestABundleOnTheNetwork(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		reachable(t, r.o)
		first := begins(t, s, r.o)
		b := begins(t, s, r.o)
		if data := fetched(t, first.URLs[0]); string(data) != "not here\n" {
			t.Errorf("the first of two: %d bytes", len(data))
		}
		snapshot, err := s.Snapshot(t.Context())
		must(t, err)
		if o := snapshot.Offer; o == nil || o.Ended != "" || o.URLs[0] != b.URLs[0] || o.SHA256 != b.SHA256 || o.Left <= 0 {
			t.Fatalf("%+v", o)
		}
		archive := fetched(t, b.URLs[0])
		if fmt.Sprintf("%x", sha256.Sum256(archive)) != b.SHA256 || int64(len(archive)) != b.Bytes {
			t.Fatalf("%d bytes of %d", len(archive), b.Bytes)
		}
		text := unpacked(t, archive)
		_, code, _ := strings.Cut(strings.TrimPrefix(b.URLs[0], "http://"), "/")
		_, before, _ := strings.Cut(strings.TrimPrefix(first.URLs[0], "http://"), "/")
		if !strings.Contains(text, "touchdown-bundle/snapshot.json") || strings.Contains(text, code) || strings.Contains(text, before) {
			t.Error("the bundle has no snapshot, or has the address of one")
		}
		until(t, s, "the end of the offer", func(s *view.Snapshot) bool { return s.Offer.Ended == offered.Taken })
		snapshot, err = s.Snapshot(t.Context())
		must(t, err)
		if f := snapshot.Offer.Fetches; len(f) != 1 || f[0].From != "127.0.0.1" || !f[0].Whole {
			t.Errorf("%+v", f)
		}
	})
}

// TestAnOfferEnds: by a person, and with the engine. Nothing listens any more.
func TestAnOfferEnds(t *testing.T) {
	r := newRig(t, newWorld())
	reachable(t, r.o)
	if _, err := r.Export(t.Context(), offered.End); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("nothing was offered: %v", err)
	}
	b := begins(t, r, r.o)
	told, err := r.Export(t.Context(), offered.End)
	must(t, err)
	var over offered.Bundle
	must(t, json.Unmarshal(told, &over))
	if over.Ended != offered.Withdrawn || fetched(t, b.URLs[0]) != nil {
		t.Errorf("%+v", over)
	}
	b = begins(t, r, r.o)
	must(t, r.Engine.Close())
	if fetched(t, b.URLs[0]) != nil {
		t.Error("the engine has ended and offers a bundle")
	}
	r.offers.replace(nil)
	if _, err := offerBundle(offered.Life)(t.Context(), r.Engine); err == nil && r.offers.view().Ended == "" {
		t.Error("an engine that has ended offers another one")
	}
}

// TestNothingIsOffered: without a network, for how long nobody means, or at a console that is locked; each has its reason.
func TestNothingIsOffered(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		until(t, s, "the form", inState(view.Collecting))
		for name, reached := range map[string]func(context.Context) ([]netip.Addr, error){
			"an engine that knows none": nil,
			"no address":                func(context.Context) ([]netip.Addr, error) { return nil, nil },
			"NetworkManager is down":    func(context.Context) ([]netip.Addr, error) { return nil, errors.New("no answer") },
			"the address is gone": func(context.Context) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("192.0.2.77")}, nil
			},
		} {
			r.o.Reached = reached
			if _, err := s.Export(t.Context(), offered.Begin); problem.From(err).Code != "BND-ADDR" {
				t.Errorf("%s: %v", name, err)
			}
		}
		reachable(t, r.o)
		for _, life := range []string{"/1s", "/2h", "/soon", "/-5m"} {
			if _, err := s.Export(t.Context(), offered.Begin+session.Document(life)); !errors.Is(err, session.ErrInvalid) {
				t.Errorf("%s: %v", life, err)
			}
		}
		tty, serial := idle.At(t.Context(), "tty1"), idle.At(t.Context(), "ttyS0")
		must(t, s.Set(tty, take(t, s), "spec.console.pin", testPIN))
		r.beginsLock(t)
		for _, what := range []session.Document{offered.Begin, offered.End} {
			if _, err := s.Export(serial, what); !errors.Is(err, idle.ErrLocked) {
				t.Errorf("%s at a locked console: %v", what, err)
			}
		}
		wait.Until(t, "nothing that listens", func() bool {
			return fetched(t, fmt.Sprintf("http://127.0.0.1:%d/", r.o.OfferPort)) == nil
		})
	})
}

// TestWhoAskedIsGone: nothing is offered whose address nobody was told.
func TestWhoAskedIsGone(t *testing.T) {
	r := newRig(t, newWorld())
	reachable(t, r.o)
	ctx, stop := context.WithCancel(t.Context())
	at := r.o.Reached
	r.o.Reached = func(asked context.Context) ([]netip.Addr, error) {
		defer stop()
		return at(asked)
	}
	if told, err := offerBundle(offered.Life)(ctx, r.Engine); err == nil {
		t.Errorf("%s", told)
	}
	if v := r.offers.view(); v != nil {
		t.Errorf("%+v", v)
	}
}
