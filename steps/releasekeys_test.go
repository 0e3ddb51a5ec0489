package steps

import (
	"fmt"
	"strings"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/media"
	"touchdown/test/stick"
)

// TestReleaseKeys: the bake lays the keys that it was given, or that the bench line chose, beside those for media, does nothing twice, and
// takes them away again. A key for media is not laid for releases.
func TestReleaseKeys(t *testing.T) {
	ca, hostKey := keyPair(t)
	key, public := stick.Key(t)
	release := envelope.ForReleases(public)
	for name, test := range map[string]struct{ given, chosen []byte }{"given": {given: release}, "chosen": {chosen: release}, "none": {}} {
		node := shipped(t, "SN01", "one", ca, hostKey)
		known, record := media.ReleasesOf(node.Host), &bakeRecord{Releases: test.given}
		if test.chosen != nil {
			if err := known.Choose(test.chosen); err != nil {
				t.Fatal(err)
			}
		}
		for again := range 2 {
			want := name != "none" && again == 0
			p, err := record.Plan(t.Context(), node)
			if err != nil || (len(p.Changes) > 0) != want || want && p.Changes[0].New.String() != key.ID() {
				t.Errorf("%s, %d: %+v, %v", name, again, p, err)
			}
			r := newKept()
			if err := record.Releases.lay(node, r); err != nil || (len(r.said) > 0) != want || want && !strings.Contains(fmt.Sprint(r.said), key.ID()) {
				t.Errorf("%s, %d: %q, %v", name, again, r.said, err)
			}
		}
		trust, err := known.Trust()
		if err != nil || (trust != nil) != (name != "none") {
			t.Errorf("%s: trusted: %v, %v", name, trust, err)
		}
		if ids, err := media.Of(node.Host).Trusts(); err != nil || len(ids) > 0 {
			t.Errorf("%s: trusted for media: %q, %v", name, ids, err)
		}
		r := newKept()
		if err := record.Undo(t.Context(), node, r); err != nil || (len(r.said) > 0) != (name != "none") {
			t.Errorf("%s: %q, %v", name, r.said, err)
		}
		if trust, err := known.Trust(); err != nil || trust != nil {
			t.Errorf("%s: still trusted: %v, %v", name, trust, err)
		}
	}
	if err := releaseKeys(public).lay(shipped(t, "SN01", "one", ca, hostKey), newKept()); err == nil {
		t.Error("a key for media was laid for releases")
	}
}

// TestARevokedReleaseKey: a medium's list of revoked keys counts for keys of releases too.
func TestARevokedReleaseKey(t *testing.T) {
	ca, hostKey := keyPair(t)
	key, public := stick.Key(t)
	node := shipped(t, "SN01", "one", ca, hostKey)
	if err := releaseKeys(envelope.ForReleases(public)).lay(node, newKept()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		trust, err := media.ReleasesOf(node.Host).Trust()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := trust.Key(key.ID()); ok != want {
			t.Errorf("trusted: %v, want %v", ok, want)
		}
		if err := node.Host.WriteFile("/var/lib/touchdown/media/revoked", []byte(key.ID()+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
