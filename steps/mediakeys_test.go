package steps

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/ledger"
	"touchdown/backend/media"
	"touchdown/backend/problem"
	"touchdown/test/stick"
)

// TestMediaKeys: the bake lays the keys that it was given, or that the bench line chose, does nothing twice, and takes them away
// again. Without any it does nothing.
func TestMediaKeys(t *testing.T) {
	ca, hostKey := keyPair(t)
	key, public := stick.Key(t)
	for name, test := range map[string]struct{ given, chosen []byte }{"given": {given: public}, "chosen": {chosen: public}, "none": {}} {
		t.Run(name, func(t *testing.T) {
			node := shipped(t, "SN01", "one", ca, hostKey)
			known, keys := media.Of(node.Host), mediaKeys(test.given)
			if test.chosen != nil {
				if err := known.Choose(test.chosen); err != nil {
					t.Fatal(err)
				}
			}
			for again := range 2 {
				want := name != "none" && again == 0
				p, err := (&bakeRecord{Keys: keys}).Plan(t.Context(), node)
				if err != nil || (len(p.Changes) > 0) != want || want && p.Changes[0].New.String() != key.ID() {
					t.Errorf("%d: %+v, %v", again, p, err)
				}
				r := newKept()
				if err := keys.lay(node, r); err != nil || (len(r.said) > 0) != want {
					t.Errorf("%d: %q, %v", again, r.said, err)
				}
				recipient, err := known.Recipient()
				if err != nil || (recipient != "") != (name != "none") || want && !strings.Contains(fmt.Sprint(r.said), recipient) {
					t.Errorf("%d: %q is not told in %q, %v", again, recipient, r.said, err)
				}
				if strings.Contains(fmt.Sprint(r.said), "AGE-SECRET") {
					t.Error("the private half is told")
				}
			}
			r := newKept()
			if err := (&bakeRecord{Keys: keys}).Undo(t.Context(), node, r); err != nil || (len(r.said) > 0) != (name != "none") {
				t.Errorf("%q, %v", r.said, err)
			}
			if ids, err := known.Trusts(); err != nil || len(ids) > 0 {
				t.Errorf("still trusted: %q, %v", ids, err)
			}
		})
	}
	if err := mediaKeys("no key").lay(shipped(t, "SN01", "one", ca, hostKey), newKept()); err == nil {
		t.Error("what is not a key was laid")
	}
}

// TestTheLedgerHasTheNodesKey: the public half of a node's key is in its line. Two nodes with one key are copies of each other.
func TestTheLedgerHasTheNodesKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	if _, err := ledger.Prepare(file); err != nil {
		t.Fatal(err)
	}
	_, public := stick.Key(t)
	var first string
	for _, serial := range []string{"SN01", "SN02"} {
		ca, hostKey := keyPair(t)
		node := shipped(t, serial, serial, ca, hostKey)
		if err := (ledger.Choice{File: file}).Keep(node.Host); err != nil {
			t.Fatal(err)
		}
		if err := mediaKeys(public).lay(node, newKept()); err != nil {
			t.Fatal(err)
		}
		if serial == "SN01" {
			if err := (&Seal{}).Run(t.Context(), node, newKept()); err != nil {
				t.Fatal(err)
			}
			recipient, err := media.Of(node.Host).Recipient()
			if text, _ := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"mediaKey":"`+recipient+`"`) {
				t.Errorf("%s\n%v", text, err)
			}
			private, err := node.Host.ReadFile("/var/lib/touchdown/media/node.key")
			if err != nil {
				t.Fatal(err)
			}
			first = string(private)
			continue
		}
		if err := media.Of(node.Host).Forget(); err != nil {
			t.Fatal(err)
		}
		if err := node.Host.WriteFile("/var/lib/touchdown/media/node.key", []byte(first), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := mediaKeys(public).lay(node, newKept()); err != nil {
			t.Fatal(err)
		}
		err := (&copyCheck{}).Run(t.Context(), node, newKept())
		if p := problem.From(err); p.Code != "FAC-TWN" || !strings.Contains(p.Summary.String(), "the key for site media") {
			t.Errorf("%v", err)
		}
	}
}
