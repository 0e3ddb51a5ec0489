package media_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/problem"
	"touchdown/test/stick"
)

const bakedDocument = layout.Media + "/baked.dsse.json"

// only wants one medium.
func only(found []*media.Medium) bool { return len(found) == 1 }

// TestBaked: a site config that the factory put in is found as that of a medium, without a key that the node trusts, opens with the node's
// own key, is sealed on the disk, and is wiped when it was used.
func TestBaked(t *testing.T) {
	s := newSocket(t)
	if err := s.known.Forget(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.known.Bake([]byte("an earlier one"), false); err != nil {
		t.Fatal(err)
	}
	d, err := s.known.Bake([]byte(config), false)
	if err != nil || d.Serial != "SN1" {
		t.Fatalf("%+v, %v", d, err)
	}
	info, err := os.Stat(s.Path(bakedDocument))
	if text := s.Content(bakedDocument); err != nil || info.Mode().Perm() != 0o600 || strings.Contains(text, "store0042") || bytes.Contains(d.Site, []byte("store0042")) {
		t.Errorf("%v, %v: %s", err, info.Mode(), text)
	}
	w := s.watch()
	f := s.sees("the baked site config", func(found []*media.Medium) bool { return only(found) && found[0].Refused == nil })[0]
	if f.ID() != d.ID || f.Unattended() || !f.Baked() || f.Name() != "FACTORY (in the node)" {
		t.Errorf("%s: %+v", f.Name(), f)
	}
	taken, err := w.Take(d.ID, "")
	if err != nil || string(taken.Text) != config || taken.Source != media.BakedSource {
		t.Fatalf("%+v, %v", taken, err)
	}
	if err := taken.Use(); err != nil || s.Exists(bakedDocument) || !strings.Contains(s.Content(layout.Media+"/used"), d.ID) {
		t.Errorf("%v, still there %t", err, s.Exists(bakedDocument))
	}
	s.sees("nothing", func(found []*media.Medium) bool { return len(found) == 0 })
}

// TestBakedRefused: what a copied disk, a stick's signature or a damaged file would bring is refused, with a reason.
func TestBakedRefused(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*testing.T, *socket)
		code  string
	}{
		"another machine": {func(_ *testing.T, s *socket) { s.File("/sys/class/dmi/id/product_serial", "SN2\n") }, "MED-SER"},
		"another key": {func(t *testing.T, s *socket) {
			d := envelope.New("SN1")
			if err := d.Seal([]byte(config), envelope.Lock{}); err != nil {
				t.Fatal(err)
			}
			signed, err := envelope.Sign(d, s.key) // which signs media
			if err != nil {
				t.Fatal(err)
			}
			s.File(bakedDocument, string(signed))
		}, "MED-UKEY"},
		"damaged": {func(_ *testing.T, s *socket) { s.File(bakedDocument, "{}") }, "MED-SHPE"},
		"no record": {func(t *testing.T, s *socket) {
			if err := s.Remove(layout.Media + "/used"); err != nil {
				t.Fatal(err)
			}
		}, "MED-REC"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSocket(t)
			if _, err := s.known.Bake([]byte(config), false); err != nil {
				t.Fatal(err)
			}
			test.spoil(t, s)
			s.watch()
			if f := s.sees("it", only)[0]; f.Refused == nil || f.Refused.Code != test.code {
				t.Errorf("%+v", f.Refused)
			}
		})
	}
}

// TestBakedIsTakenAway: an unbake wipes it with the keys; a machine without a serial number gets none; a stick beside it is a second medium.
func TestBakedIsTakenAway(t *testing.T) {
	s := newSocket(t)
	if _, err := s.known.Bake([]byte(config), false); err != nil {
		t.Fatal(err)
	}
	stick.Plug(t, s.Root(), "sdb", stick.Image(t, envelope.New("SN1"), config, envelope.Lock{}, s.key))
	s.watch()
	if found := s.sees("both", func(found []*media.Medium) bool { return len(found) == 2 }); found[0].Baked() || !found[1].Baked() {
		t.Errorf("%s, %s", found[0].Name(), found[1].Name())
	}
	if err := s.known.Forget(); err != nil || s.Exists(bakedDocument) {
		t.Errorf("%v, still there %t", err, s.Exists(bakedDocument))
	}
	nameless := hosttest.New(t)
	if _, err := media.Of(nameless.Machine).Bake([]byte(config), false); problem.From(err).Code != "MED-SER" || nameless.Exists(bakedDocument) {
		t.Errorf("no serial number: %v", err)
	}
}

// TestBakedForTheSeal: the seal is told the document, and refused one that was lost, spoilt or replaced. One that was taken back is asked for no
// more; an unbake heals a node that lost the record of what was used.
func TestBakedForTheSeal(t *testing.T) {
	s := newSocket(t)
	wants := func(when, want, code string) {
		t.Helper()
		d, err := s.known.Baked()
		id := ""
		if d != nil {
			id = d.ID
		}
		if id != want || code == "" && err != nil || code != "" && problem.From(err).Code != code {
			t.Errorf("%s: %q, %v", when, id, err)
		}
	}
	bake := func() string {
		t.Helper()
		d, err := s.known.Bake([]byte(config), false)
		if err != nil {
			t.Fatal(err)
		}
		return d.ID
	}
	wants("none", "", "")
	first, old := bake(), s.Content(bakedDocument)
	wants("baked", first, "")
	second := bake()
	wants("baked again", second, "")
	s.File(bakedDocument, old)
	wants("the earlier one is back", "", "MED-BAKE")
	if err := s.Remove(layout.Media + "/used"); err != nil {
		t.Fatal(err)
	}
	bake()
	wants("no record of what was used", "", "MED-BAKE")
	if err := s.known.Forget(); err != nil {
		t.Fatal(err)
	}
	wants("unbaked", "", "MED-BAKE")
	wants("baked after that", bake(), "")
	if was, err := s.known.TakeBack(); !was || err != nil || s.Exists(bakedDocument) {
		t.Errorf("taken back: %t, %v", was, err)
	}
	wants("taken back", "", "")
	if was, err := s.known.TakeBack(); was || err != nil {
		t.Errorf("taken back again: %t, %v", was, err)
	}
}

// TestStartOf: a document is shipped once the seal named it and the node was booted since, and halted for good; another one is neither.
func TestStartOf(t *testing.T) {
	h := hosttest.New(t)
	h.Boot()
	is, other := media.StartOf(h.Machine, "document"), media.StartOf(h.Machine, "other")
	says := func(when string, shipped, halted bool) {
		t.Helper()
		if is.Shipped() != shipped || is.Halted() != halted || other.Shipped() || other.Halted() {
			t.Errorf("%s: shipped %t, halted %t, the other one %t, %t", when, is.Shipped(), is.Halted(), other.Shipped(), other.Halted())
		}
	}
	says("at first", false, false)
	h.Boot()
	says("booted", false, false)
	if err := is.Seal(); err != nil {
		t.Fatal(err)
	}
	says("sealed", false, false)
	h.Boot()
	says("sealed and booted", true, false)
	if err := is.Halt(); err != nil {
		t.Fatal(err)
	}
	says("halted", true, true)
	if err := media.Of(h.Machine).Forget(); err != nil {
		t.Fatal(err)
	}
	says("unbaked", false, false)
	if err := os.MkdirAll(h.Path(layout.Media+"/halted/x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if !is.Halted() {
		t.Error("a note that cannot be read is taken for none")
	}
}
