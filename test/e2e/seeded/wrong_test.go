package seeded

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	seed "touchdown/backend/images"
	"touchdown/test/bench/node"
)

// TestBadInput gives the seeding what it should not get, one thing after the other on one node: each time it says what is
// wrong and what to do, leaves nothing half made, and CRI-O goes on with all it had.
//
// The parts that need no CRI-O are tested in backend/images/store (hostile_test.go, clone_test.go) and layerstore (refuse_test.go).
func TestBadInput(t *testing.T) {
	n := start(t, 20*time.Minute)
	n.well("before")
	for _, c := range []struct {
		name string
		play func(*seeded)
	}{
		{"lists and names", (*seeded).badLists},
		{"attributes and whiteouts", (*seeded).faithful},
		{"storage.conf edited by hand", (*seeded).editedByHand},
		{"another file system", (*seeded).otherDisk},
		{"store missing at boot", (*seeded).missingAtBoot},
	} {
		begun := time.Now()
		passed := t.Run(c.name, func(t *testing.T) {
			sub := *n
			sub.T = t
			c.play(&sub)
			sub.restart()
			sub.well("afterwards")
		})
		t.Logf("%s: %.0f s", c.name, time.Since(begun).Seconds())
		if !passed {
			return
		}
	}
}

// restart has CRI-O read everything again.
func (n *seeded) restart() {
	n.Helper()
	n.sh("systemctl stop kubelet crio; systemctl start crio; systemctl start --no-block kubelet")
}

// current is the generation in force: what the link says.
func (n *seeded) current() string {
	n.Helper()
	target, err := os.Readlink(n.path(seed.StoreDir, "current"))
	if err != nil {
		return "generations/0"
	}
	return target
}

// refused seeds, which must fail and say why, and must have changed nothing that CRI-O sees once the cause is gone.
func (n *seeded) refused(what string, undo func(), says ...string) {
	n.Helper()
	before, store := n.current(), n.store()
	out, err := n.touchdown("images", "seed")
	if err == nil {
		n.Errorf("%s: it was seeded:\n%s", what, out)
	}
	for _, words := range append(says, "try:") {
		if !strings.Contains(out, words) {
			n.Errorf("%s: it does not say %q:\n%s", what, words, out)
		}
	}
	n.Logf("%s:\n%s", what, tail(out))
	undo()
	n.untouched(what, before, store)
}

// tail is the end of what a command printed.
func tail(out string) string { return out[max(0, len(out)-700):] }

func (n *seeded) untouched(what, generation string, store set) {
	n.Helper()
	if now := n.current(); now != generation || !n.store().sameIDs(store) {
		n.Errorf("%s: in force is %s with %s, before it was %s with %s", what, now, n.store(), generation, store)
	}
	if left := n.sh("find " + seed.StoreDir + " -xdev -maxdepth 2 '(' -name '*.part' -o -name '*.old' ')'"); left != "" {
		n.Errorf("%s: half made is left: %s", what, left)
	}
	n.seen(what)
}

// edit changes a list of CRI-O's own store behind its back: it goes by the time of the file and by the lock. The returned
// function puts the list back.
func (n *seeded) edit(list string, change func(records []map[string]any) []map[string]any) (undo func()) {
	n.Helper()
	file := n.path(node.Graphroot, list)
	data, err := os.ReadFile(file)
	n.must(err)
	var records []map[string]any
	n.must(json.Unmarshal(data, &records))
	spoilt, err := json.Marshal(change(records))
	n.must(err)
	n.rewrite(file, spoilt)
	return func() { n.rewrite(file, data) }
}

// rewrite gives a file other content and leaves its time.
func (n *seeded) rewrite(file string, data []byte) {
	n.Helper()
	st, err := os.Stat(file)
	n.must(err)
	n.must(os.WriteFile(file, data, st.Mode()))
	n.must(os.Chtimes(file, st.ModTime(), st.ModTime()))
}

// fresh puts one new image into CRI-O's own store and returns its id and its layer's.
func (n *seeded) fresh(name string) (id, layer string) {
	n.Helper()
	n.put(name)
	n.sh("crictl images > /var/tmp/images") // CRI-O reads the new lists now, and not when they are spoilt
	var records []struct {
		ID, Layer string
		Names     []string
	}
	data, err := os.ReadFile(n.path(node.Graphroot, "overlay-images/images.json"))
	n.must(err)
	n.must(json.Unmarshal(data, &records))
	for _, r := range records {
		if len(r.Names) > 0 && r.Names[0] == name {
			return r.ID, r.Layer
		}
	}
	n.Fatalf("%s is not among %d images", name, len(records))
	return "", ""
}

// badLists spoils what CRI-O's own store says of a new image, in many ways.
func (n *seeded) badLists() {
	n.Helper()
	const name = "localhost/wrong/one:1"
	id, layer := n.fresh(name)
	overlay := filepath.Join(node.Graphroot, "overlay")
	set := func(key string, value any, of string) func([]map[string]any) []map[string]any {
		return func(records []map[string]any) []map[string]any {
			for _, r := range records {
				if r["id"] == of {
					r[key] = value
				}
			}
			return records
		}
	}
	for _, c := range []struct {
		what  string
		spoil func() (undo func())
		says  []string
	}{
		{"a layer whose id is a path", func() func() {
			return n.edit("overlay-layers/layers.json", set("id", "../../../../etc", layer))
		}, []string{"STR-BAD", "layers.json"}},
		{"a name that moves the cursor", func() func() {
			return n.edit("overlay-images/images.json", set("names", []string{"a\x1b[2Jb"}, id))
		}, []string{"STR-BAD", "images.json"}},
		{"a short name that is a path", func() func() {
			return n.replace(filepath.Join(overlay, layer, "link"), "../../../../../../etc/shadow")
		}, []string{"STR-BAD", "/link"}},
		{"a short name that leads elsewhere", func() func() {
			link := filepath.Join(overlay, "l", n.sh("cat "+filepath.Join(overlay, layer, "link")))
			n.sh("ln -sfn /etc " + link)
			return func() { n.sh("ln -sfn ../" + layer + "/diff " + link) }
		}, []string{"STR-BAD", "/overlay/l/"}},
		{"files that are a link", func() func() {
			diff := filepath.Join(overlay, layer, "diff")
			n.sh("mv " + diff + " " + diff + ".away; ln -s /etc " + diff)
			return func() { n.sh("rm " + diff + "; mv " + diff + ".away " + diff) }
		}, []string{"diff"}},
		{"a manifest that is cut off", func() func() {
			return n.replace(filepath.Join(node.Graphroot, "overlay-images", id, "manifest"), `{"schemaVersion":`)
		}, []string{"STR-DMG", name}},
		{"a manifest that cannot be read", func() func() {
			file := filepath.Join(node.Graphroot, "overlay-images", id, "manifest")
			n.sh("mv " + file + " " + file + ".away; mkdir " + file)
			return func() { n.sh("rmdir " + file + "; mv " + file + ".away " + file) }
		}, []string{"manifest"}},
	} {
		n.refused(c.what, c.spoil(), c.says...)
	}
	n.incomplete(name, set("flags", map[string]any{"incomplete": true}, layer))
	n.twoOfOneName(name, id)
}

// replace gives a file of the node other content.
func (n *seeded) replace(name, content string) (undo func()) {
	n.Helper()
	file := n.path(name)
	data, err := os.ReadFile(file)
	n.must(err)
	n.rewrite(file, []byte(content))
	return func() { n.rewrite(file, data) }
}

// incomplete: what a pull left half done is not taken, and that is told; all else is.
func (n *seeded) incomplete(name string, flag func([]map[string]any) []map[string]any) {
	n.Helper()
	before, store := n.current(), n.store()
	undo := n.edit("overlay-layers/layers.json", flag)
	out := n.run("images", "seed")
	if !strings.Contains(out, name) || !strings.Contains(out, "incomplete") || !strings.Contains(out, "try:") {
		n.Errorf("an incomplete layer: it does not say that %s is left out:\n%s", name, out)
	}
	n.Logf("an incomplete layer:\n%s", tail(out))
	undo()
	n.untouched("an incomplete layer", before, store)
}

// twoOfOneName: the later one of two images has a name that both claim, or CRI-O would read nothing of the store.
func (n *seeded) twoOfOneName(name, id string) {
	n.Helper()
	more, _ := n.fresh("localhost/wrong/two:1")
	undo := n.edit("overlay-images/images.json", func(records []map[string]any) []map[string]any {
		for _, r := range records {
			if r["id"] == more {
				r["names"] = []string{"localhost/wrong/two:1", name, name}
			}
		}
		return records
	})
	n.run("images", "seed")
	undo()
	owners := map[string]int{}
	for _, names := range n.store() {
		for _, each := range names {
			owners[each]++
		}
	}
	for each, count := range owners {
		if count != 1 {
			n.Errorf("%s is %d images of the store", each, count)
		}
	}
	if n.store()[id] == nil || n.store()[more] == nil || owners[name] != 1 {
		n.Errorf("the store holds %v and %v", n.store()[id], n.store()[more])
	}
}
