package engine

import (
	"strings"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

const bakedDocument = layout.Media + "/baked.dsse.json"

// TestABakedSiteConfigThatNoSealNamed starts nothing, whatever it says, on a sealed node that nobody has touched. It is offered all the
// same, and its answers are taken by a person.
func TestABakedSiteConfigThatNoSealNamed(t *testing.T) {
	r := newSealedRig(t)
	recipient, err := r.known.Recipient()
	must(t, err)
	lock, err := envelope.NodeLock(recipient)
	must(t, err)
	d := forNobody()
	must(t, d.Seal([]byte(onStick), lock))
	key, err := envelope.NewSigningKey()
	must(t, err)
	signed, err := envelope.Sign(d, key)
	must(t, err)
	r.host.File(layout.Media+"/baked.pub", string(key.Public().PEM()))
	r.host.File(bakedDocument, string(signed))
	r.open(t)
	r.look(t)
	r.look(t)
	s, err := r.Snapshot(t.Context())
	must(t, err)
	if !s.Started.IsZero() || s.Cluster == "shop.stick.example" || !r.host.Exists(bakedDocument) || r.used(t, d.ID) {
		t.Fatalf("started %v, %s, %s", s.Started, s.State, s.Cluster)
	}
	until(t, r, "the offer", inState(view.Collecting))
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Act, Path: "medium.volume", Value: d.ID}))
	if s, err = r.Snapshot(t.Context()); err != nil || s.Cluster != "shop.stick.example" || !s.Started.IsZero() || !r.used(t, d.ID) {
		t.Errorf("%s, started %v, %v", s.Cluster, s.Started, err)
	}
}

// TestABakedSiteConfigAsks: it is offered as a stick's answers are, and wiped when they were taken. A stick that starts the landing goes
// before it. The hand-over of a landing that did without it wipes it.
func TestABakedSiteConfigAsks(t *testing.T) {
	r := newSealedRig(t)
	d, err := r.known.Bake([]byte(onStick), false)
	must(t, err)
	r.open(t)
	r.look(t)
	s := until(t, r, "the offer", func(s *view.Snapshot) bool {
		return s.State == view.Collecting && len(s.Stages[2].Steps[0].Fields) > 0
	})
	fields := s.Stages[2].Steps[0].Fields
	offer := fields[len(fields)-1]
	if !s.Started.IsZero() || offer.Choices[0].Value != d.ID || !strings.HasPrefix(offer.Choices[0].Label.String(), "FACTORY (in the node)") {
		t.Fatalf("%+v", offer)
	}
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Act, Path: offer.Path, Value: d.ID}))
	if v, _ := r.Snapshot(t.Context()); v.Cluster != "shop.stick.example" || v.State == view.Working || r.host.Exists(bakedDocument) {
		t.Errorf("%s, %s, still there %t", v.Cluster, v.State, r.host.Exists(bakedDocument))
	}
	must(t, r.Close())

	both := newSealedRig(t)
	_, err = both.known.Bake([]byte(strings.Replace(onStick, "shop", "baked", 1)), true)
	must(t, err)
	both.plug(t, "sdb", forNobody())
	both.open(t)
	until(t, both, "the landing from the stick", inState(view.IsDone))
	if got := both.w.get("names"); got != "shop.stick.example" || !both.host.Exists(bakedDocument) {
		t.Errorf("landed as %s", got)
	}
	both.mu.Lock()
	err = both.core.handOver()
	both.mu.Unlock()
	if err != nil || both.host.Exists(bakedDocument) {
		t.Errorf("after the hand-over: %v, still there %t", err, both.host.Exists(bakedDocument))
	}
}
