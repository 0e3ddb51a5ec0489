package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/test/stick"
)

const bakedDocument = layout.Media + "/baked.dsse.json"

// TestABakedSiteConfigLands: a sealed node whose factory put a site config in lands with no key pressed and no stick. It counts as used
// before the first change, is wiped, and fires once.
func TestABakedSiteConfigLands(t *testing.T) {
	r := newSealedRig(t)
	d, err := r.known.Bake([]byte(onStick), true)
	must(t, err)
	r.w.onRun(func(step string) {
		if step == "names" && (!r.used(t, d.ID) || r.host.Exists(bakedDocument)) {
			t.Error("something changes, and the site config is not noted as used and wiped")
		}
	})
	r.open(t)
	until(t, r, "the landing", inState(IsDone))
	if got := r.w.get("names"); got != "shop.stick.example" {
		t.Errorf("landed as %s", got)
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "journal.jsonl"))
	must(t, err)
	if journal := string(text); !strings.Contains(journal, "started by medium FACTORY (in the node)") || strings.Contains(journal, "c2VjcmV0OnNlY3JldA") {
		t.Errorf("the journal:\n%s", journal)
	}
	must(t, r.Close())
	r.host.File(layout.Armed, "") // as if it were sealed still
	changed := r.w.calls["names"]
	r.open(t)
	r.look(t)
	if s, err := r.Snapshot(t.Context()); err != nil || s.State != IsDone || r.w.calls["names"] != changed {
		t.Errorf("%s, %v", s.State, err)
	}
}

// TestABakedSiteConfigAsks: one that is not unattended starts nothing and is offered as a stick's answers are; one that is starts nothing
// beside a usable stick. The hand-over of a landing that did without it wipes it.
func TestABakedSiteConfigAsks(t *testing.T) {
	r := newSealedRig(t)
	d, err := r.known.Bake([]byte(onStick), false)
	must(t, err)
	r.open(t)
	r.look(t)
	s := until(t, r, "the offer", func(s *Snapshot) bool {
		return s.State == Collecting && len(s.Stages[2].Steps[0].Fields) > 0
	})
	fields := s.Stages[2].Steps[0].Fields
	offer := fields[len(fields)-1]
	if !s.Started.IsZero() || offer.Choices[0].Value != d.ID || !strings.HasPrefix(offer.Choices[0].Label.String(), "FACTORY (in the node)") {
		t.Fatalf("%+v", offer)
	}
	must(t, r.Do(t.Context(), take(t, r), Action{Verb: Act, Path: offer.Path, Value: d.ID}))
	if v, _ := r.Snapshot(t.Context()); v.Cluster != "shop.stick.example" || v.State == Working || r.host.Exists(bakedDocument) {
		t.Errorf("%s, %s, still there %t", v.Cluster, v.State, r.host.Exists(bakedDocument))
	}
	must(t, r.Close())

	both := newSealedRig(t)
	_, err = both.known.Bake([]byte(onStick), true)
	must(t, err)
	stick.Plug(t, both.host.Root(), "sdb", stick.Image(t, envelope.New("SN1"), onStick, envelope.Lock{}, both.key))
	both.open(t)
	until(t, both, "why nothing starts", noticed("FACTORY (in the node) starts nothing", "another medium is there, too"))
	if s, err := both.Snapshot(t.Context()); err != nil || !s.Started.IsZero() {
		t.Errorf("%v, %v", s.Started, err)
	}
	both.mu.Lock()
	err = both.core.handOver()
	both.mu.Unlock()
	if err != nil || both.host.Exists(bakedDocument) {
		t.Errorf("after the hand-over: %v, still there %t", err, both.host.Exists(bakedDocument))
	}
}
