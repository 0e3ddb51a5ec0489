package pool_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/pool"
	"touchdown/backend/images/store"
	"touchdown/backend/problem"
	"touchdown/test/imagestore"
)

func (b *bench) in(layer string, parts ...string) string {
	return filepath.Join(append([]string{b.pool.Dir, "overlay", layer}, parts...)...)
}

func (b *bench) has(layer string) bool {
	_, err := os.Lstat(b.in(layer))
	return err == nil
}

// repulled is the primary after CRI-O wiped it and pulled everything again: the same layers under other short names, one
// image known by its tag only, one new image.
func (b *bench) repulled() {
	b.Helper()
	b.must(os.RemoveAll(b.primary))
	b.made = imagestore.New(b.primary)
	b.made.Salt = "again"
	base := b.made.Layer("", append(imagestore.Odd(), imagestore.Tree(1, 200, 3<<20)...)...)
	second := b.made.Layer(base, imagestore.Tree(2, 100, 2<<20)...)
	b.made.Image(second, "registry.example/second:v2")
	b.made.Image(b.made.Layer(second, imagestore.Tree(9, 20, 1<<20)...), "registry.example/new:v1", "registry.example/base:v1")
	b.box = b.made.Container(second)
	b.must(b.made.Save())
}

func TestAddKeepsWhatThePrimaryLost(t *testing.T) {
	for _, way := range []string{"add", "move"} {
		t.Run(way, func(t *testing.T) {
			b := newBench(t, "xfs")
			b.must(b.pool.Switch(t.Context(), b.add(pool.Selection{}).N))
			before := b.inode(b.layers[0])
			b.repulled()
			b.must(operate(b.pool, way, b.primary))
			g := b.whole()
			if len(g.Images) != 6 || len(g.Layers) != 5 || b.inode(b.layers[0]) != before {
				t.Errorf("there are %d images on %d layers", len(g.Images), len(g.Layers))
			}
			names := map[string]int{}
			for _, i := range g.Images {
				for _, name := range i.Names {
					names[name]++
				}
			}
			if names["registry.example/base:v1"] != 1 || names["registry.example/second:v1"] != 1 || names["registry.example/second:v2"] != 1 {
				t.Errorf("the names are %v", names)
			}
			if lost := b.standsOn(); lost != "" {
				t.Errorf("the container stands on %s, which leads nowhere", lost)
			}
			if s := b.open(); way == "move" && (len(s.Images) != 0 || len(s.Layers) != 3) {
				t.Errorf("the primary keeps %d images and %d layers", len(s.Images), len(s.Layers))
			}
		})
	}
}

func (b *bench) inode(layer string) uint64 {
	b.Helper()
	var st unix.Stat_t
	b.must(unix.Lstat(b.in(layer, "diff"), &st))
	return st.Ino
}

func TestUnknownFieldsSurvive(t *testing.T) {
	b := newBench(t, "xfs")
	g := b.add(pool.Selection{})
	for _, list := range []string{store.LayersJSON, store.ImagesJSON} {
		data, err := os.ReadFile(filepath.Join(b.pool.Root(g.N), list))
		if err != nil || strings.Count(string(data), `"x-unknown":"kept"`) != 4 {
			t.Errorf("%s, %v: %.400s", list, err, data)
		}
	}
	if n, err := os.ReadDir(filepath.Join(b.pool.Root(g.N), "overlay-layers")); err != nil || len(n) != 4+2 {
		t.Errorf("beside the layers lie %v, %v", n, err)
	}
}

func TestDropAndPrune(t *testing.T) {
	b := newBench(t, "xfs")
	first := b.add(pool.Selection{})
	b.must(b.pool.Switch(t.Context(), first.N))
	// The primary loses its images: only the container is left, on layers of the pool.
	b.must(store.Locked(t.Context(), b.primary, func(s *store.Store) error { return s.Remove(b.layers, b.images) }))
	second := b.add(pool.Selection{Drop: b.images[1:]})
	b.must(b.pool.Switch(t.Context(), second.N))
	// The container stands on the second layer: its record stays, or the library does not find it.
	if g := b.whole(); len(g.Images) != 1 || len(g.Layers) != 2 {
		t.Errorf("without the images there are %d, on %d layers", len(g.Images), len(g.Layers))
	}
	b.must(b.pool.Prune(t.Context(), b.primary, first.N))
	if !b.has(b.layers[3]) {
		t.Error("a layer of a generation that was to be kept is gone")
	}
	b.must(b.pool.Prune(t.Context(), b.primary))
	if b.has(b.layers[2]) || b.has(b.layers[3]) || !b.has(b.layers[0]) || !b.has(b.layers[1]) {
		t.Error("not exactly the unneeded layers were removed")
	}
	all, err := b.pool.Generations()
	b.must(err)
	if len(all) != 1 || all[0].N != second.N {
		t.Errorf("there are %d generations", len(all))
	}
	if _, ok, err := b.pool.Previous(); ok || err != nil {
		t.Errorf("a removed generation is the previous one: %v", err)
	}
	b.whole()
	if links, _ := os.ReadDir(filepath.Join(b.pool.Dir, "overlay", "l")); len(links) != 2 {
		t.Errorf("the short names are %v", links)
	}
}

func TestRepair(t *testing.T) {
	b := newBench(t, "xfs")
	b.must(b.pool.Switch(t.Context(), b.add(pool.Selection{}).N))
	b.add(pool.Selection{Images: []string{}, Drop: b.images[3:]}) // a second generation shares what is damaged
	victim := b.in(b.layers[0], "diff", "usr/bin/ping")
	manifest, err := filepath.Glob(filepath.Join(b.pool.Dir, "current", "overlay-images", b.images[3], "manifest"))
	b.must(err)
	b.must(errors.Join(os.WriteFile(victim, []byte("changed"), 0o755), os.Remove(b.in(b.layers[1], "link")),
		os.WriteFile(filepath.Join(b.pool.Dir, "current", "overlay-layers", b.layers[2]+".tar-split.gz"), []byte("x"), 0o600),
		os.WriteFile(manifest[0], []byte("{}"), 0o600)))
	damage := func() []store.Damage {
		g, err := b.pool.Current()
		b.must(err)
		s, err := b.pool.Store(t.Context(), g.N)
		b.must(err)
		found, err := s.Full(t.Context(), store.VerifyOptions{})
		b.must(err)
		return found
	}
	found := damage()
	for _, id := range b.layers[:3] {
		if !slices.ContainsFunc(found, func(d store.Damage) bool { return d.Layer == id }) {
			t.Errorf("the damage of layer %s is not among %v", id, found)
		}
	}
	b.must(b.pool.Repair(t.Context(), b.open(), found))
	b.whole()
	for _, n := range []int{1, 2} {
		s, err := b.pool.Store(t.Context(), n)
		b.must(err)
		if left, err := s.Full(t.Context(), store.VerifyOptions{}); err != nil || len(left) > 0 {
			t.Errorf("generation %d: %v, %v", n, left, err)
		}
	}
	b.must(b.pool.Recover(t.Context()))
	b.whole()
	b.must(b.pool.Prune(t.Context(), b.primary))
	if aside, _ := filepath.Glob(b.in("*.damaged")); len(aside) != 0 {
		t.Errorf("%v is left", aside)
	}
}

func TestRepairNeedsASoundPrimary(t *testing.T) {
	b := newBench(t, "xfs")
	b.must(b.pool.Switch(t.Context(), b.add(pool.Selection{}).N))
	for _, file := range []string{b.in(b.layers[0], "diff", "etc/passwd"), b.made.Path("overlay", b.layers[0], "diff", "etc/passwd")} {
		b.must(os.WriteFile(file, []byte(strings.Repeat("x", 700)), 0o644))
	}
	err := b.pool.Repair(t.Context(), b.open(), []store.Damage{{Layer: b.layers[0]}})
	if p := problem.From(err); p.Code != "STR-REPR" || !strings.Contains(p.Summary, "etc/passwd") {
		t.Errorf("repaired with %v", err)
	}
}

// TestDamagedSourceIsNotSeeded: what the quick verification sees never becomes a generation.
func TestDamagedSourceIsNotSeeded(t *testing.T) {
	b := newBench(t, "xfs")
	b.must(os.Truncate(b.made.Path("overlay", b.layers[0], "diff", "etc/passwd"), 10))
	_, err := b.pool.Add(t.Context(), b.open(), pool.Selection{}, nil)
	if p := problem.From(err); p.Code != "STR-DMG" || !strings.Contains(p.Summary, "etc/passwd") {
		t.Errorf("added with %v", err)
	}
	if all, err := b.pool.Generations(); err != nil || len(all) != 1 {
		t.Errorf("there are %d generations, %v", len(all), err)
	}
}

func TestVanishedImageIsTakenFromANewSnapshot(t *testing.T) {
	b := newBench(t, "xfs")
	stale := b.open()
	b.must(store.Locked(t.Context(), b.primary, func(s *store.Store) error { return s.Remove(b.layers[3:], b.images[3:]) }))
	b.must(os.RemoveAll(b.made.Path("overlay", b.layers[3])))
	g, err := b.pool.Add(t.Context(), stale, pool.Selection{}, nil)
	b.must(err)
	if len(g.Images) != 3 {
		t.Errorf("there are %d images", len(g.Images))
	}
	b.must(os.RemoveAll(b.made.Path("overlay", b.layers[2])))
	again, err := pool.Init(filepath.Join(b.disk.Dir, "second"))
	b.must(err)
	if _, err := again.Add(t.Context(), b.open(), pool.Selection{}, nil); problem.From(err).Code != "STR-GNE" {
		t.Errorf("files that are lost are told as %v", err)
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(t, "xfs")
	if _, err := pool.Open(filepath.Join(b.disk.Dir, "nowhere")); problem.From(err).Code != "STR-NSED" {
		t.Errorf("a pool that is not there opens with %v", err)
	}
	if _, err := b.pool.Add(t.Context(), b.open(), pool.Selection{Images: []string{strings.Repeat("a", 64)}}, nil); problem.From(err).Code != "STR-LACK" {
		t.Errorf("an image that is not there is added with %v", err)
	}
	if err := b.pool.Switch(t.Context(), 7); err == nil {
		t.Error("a generation that is not there is current")
	}
	busy := &pool.Pool{Dir: b.pool.Dir}
	b.pool.Step = func(string) {
		if err := busy.Switch(t.Context(), 0); problem.From(err).Code != "STR-BUSY" {
			t.Errorf("two at once: %v", err)
		}
	}
	b.add(pool.Selection{})
	b.pool.Step = nil
	far, err := pool.Init(filepath.Join(imagestore.NewDisk(t, "ext4", 200<<20).Dir, "pool"))
	b.must(err)
	if _, err := far.Move(t.Context(), b.primary, pool.Selection{}); problem.From(err).Code != "STR-DEV" {
		t.Errorf("a move to another disk: %v", err)
	}
	if len(b.open().Images) != 4 {
		t.Error("a refused move took images away")
	}
}

// TestMoveOfSome: images that stay find the layers that went.
func TestMoveOfSome(t *testing.T) {
	b := newBench(t, "xfs")
	g, err := b.pool.Move(t.Context(), b.primary, pool.Selection{Images: b.images[:1]})
	b.must(err)
	seeded, err := b.pool.Store(t.Context(), g.N)
	b.must(err)
	s := b.open()
	found, err := s.Quick(t.Context(), store.VerifyOptions{Beside: seeded})
	b.must(err)
	if len(found) > 0 || len(s.Images) != 3 || len(s.Layers) != 4 {
		t.Errorf("the primary keeps %d images on %d layers; %v", len(s.Images), len(s.Layers), found)
	}
	b.whole()
	if again, err := b.pool.Move(t.Context(), b.primary, pool.Selection{Images: []string{}}); err != nil || again.N != g.N {
		t.Errorf("moving nothing makes generation %d, %v", again.N, err)
	}
}

func TestEmptyStoreIsValid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "current")
	if err := pool.Empty(dir); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), dir)
	if err != nil || len(s.Images) != 0 {
		t.Errorf("it opens with %v", err)
	}
	for _, name := range []string{"overlay/l", "overlay-layers/layers.lock", "overlay-layers/layers.json", "overlay-images/images.lock", "overlay-images/images.json"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it lacks %s", name)
		}
	}
}

// TestJournal: a torn last line is no record, and nothing is glued to it.
func TestJournal(t *testing.T) {
	b := newBench(t, "xfs")
	b.must(b.pool.Switch(t.Context(), b.add(pool.Selection{}).N))
	name := filepath.Join(b.pool.Dir, "journal.jsonl")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	b.must(err)
	_, err = f.WriteString(`{"op":"move","phase":"sure","gener`)
	b.must(errors.Join(err, f.Close()))
	b.must(b.pool.Recover(t.Context()))
	b.must(b.pool.Switch(t.Context(), 0))
	data, err := os.ReadFile(name)
	if err != nil || strings.Contains(string(data), "gener`") || strings.Contains(string(data), `"sure"`) {
		t.Errorf("the journal is %s, %v", data, err)
	}
	if g := b.whole(); g.N != 0 {
		t.Errorf("generation %d is current", g.N)
	}
}

// TestFullDisk: what does not fit is taken back, and the current generation stays as it is.
func TestFullDisk(t *testing.T) {
	b := newBench(t, "xfs")
	b.must(b.pool.Switch(t.Context(), b.add(pool.Selection{Images: b.images[3:]}).N))
	full := filepath.Join(b.disk.Dir, "full")
	f, err := os.Create(full)
	b.must(err)
	for size, at := int64(1<<30), int64(0); size >= 4096; {
		if unix.Fallocate(int(f.Fd()), 0, at, size) == nil {
			at += size
		} else {
			size /= 2
		}
	}
	b.must(f.Close())
	_, err = b.pool.Add(t.Context(), b.open(), pool.Selection{}, nil)
	if problem.From(err).Code != "DSK-FULL" {
		t.Errorf("on a full disk it ends with %v", err)
	}
	b.must(os.Remove(full))
	b.must(b.pool.Recover(t.Context()))
	if g := b.whole(); len(g.Images) != 1 {
		t.Errorf("afterwards there are %d images", len(g.Images))
	}
	if g := b.add(pool.Selection{}); len(g.Images) != 4 {
		t.Errorf("with room again there are %d images", len(g.Images))
	}
}
