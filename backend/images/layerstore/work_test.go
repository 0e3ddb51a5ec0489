package layerstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/backend/problem"
	"touchdown/test/imagestore"
)

func (b *bench) in(layer string, parts ...string) string {
	return filepath.Join(append([]string{b.seeded.Dir, "overlay", layer}, parts...)...)
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
			b.must(b.seeded.Switch(t.Context(), b.add(layerstore.Selection{}).N))
			before := b.inode(b.layers[0])
			b.repulled()
			b.must(operate(b.seeded, way, b.primary))
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

// TestImagesOnLayersOfTheStore: a pull of what the store has makes a record in the primary, and no layer.
func TestImagesOnLayersOfTheStore(t *testing.T) {
	b := newBench(t, "xfs")
	first := b.add(layerstore.Selection{Images: b.images[1:]})
	b.must(b.seeded.Switch(t.Context(), first.N))
	b.must(store.Locked(t.Context(), b.primary, func(s *store.Store) error { return s.Remove(b.layers, nil) }))
	for _, id := range b.layers {
		b.must(os.RemoveAll(b.made.Path("overlay", id)))
	}
	g := b.add(layerstore.Selection{})
	b.must(b.seeded.Switch(t.Context(), g.N))
	if g := b.whole(); len(g.Images) != 4 || g.N == first.N {
		t.Errorf("generation %d has %d images", g.N, len(g.Images))
	}
}

// TestNewItemIsASeed: an image that got a signature since is not the same.
func TestNewItemIsASeed(t *testing.T) {
	b := newBench(t, "xfs")
	first := b.add(layerstore.Selection{})
	b.must(b.seeded.Switch(t.Context(), first.N))
	b.made.Alter(func(_, images []map[string]any) {
		keys, _ := images[0]["big-data-names"].([]string)
		images[0]["big-data-names"] = append(keys, "signed")
	})
	b.must(errors.Join(os.WriteFile(b.made.Path("overlay-images", b.images[0], "signed"), []byte("by someone"), 0o600), b.made.Save()))
	g := b.add(layerstore.Selection{})
	data, err := os.ReadFile(filepath.Join(b.seeded.Root(g.N), "overlay-images", b.images[0], "signed"))
	if g.N == first.N || string(data) != "by someone" {
		t.Errorf("generation %d has the item %q, %v", g.N, data, err)
	}
}

// TestInitGoesOn: a crash between the first generation and the link to it.
func TestInitGoesOn(t *testing.T) {
	b := newBench(t, "xfs")
	b.must(os.Remove(filepath.Join(b.seeded.Dir, "current")))
	_, err := layerstore.Init(b.seeded.Dir)
	b.must(err)
	b.whole()
}

func TestUnknownFieldsSurvive(t *testing.T) {
	b := newBench(t, "xfs")
	g := b.add(layerstore.Selection{})
	for _, list := range []string{store.LayersJSON, store.ImagesJSON} {
		data, err := os.ReadFile(filepath.Join(b.seeded.Root(g.N), list))
		if err != nil || strings.Count(string(data), `"x-unknown":"kept"`) != 4 {
			t.Errorf("%s, %v: %.400s", list, err, data)
		}
	}
	if n, err := os.ReadDir(filepath.Join(b.seeded.Root(g.N), "overlay-layers")); err != nil || len(n) != 4+2 {
		t.Errorf("beside the layers lie %v, %v", n, err)
	}
}

func TestDropAndPrune(t *testing.T) {
	b := newBench(t, "xfs")
	first := b.add(layerstore.Selection{})
	b.must(b.seeded.Switch(t.Context(), first.N))
	// The primary loses its images: only the container is left, on layers of the image store.
	b.must(store.Locked(t.Context(), b.primary, func(s *store.Store) error { return s.Remove(b.layers, b.images) }))
	second := b.add(layerstore.Selection{Drop: b.images[1:]})
	b.must(b.seeded.Switch(t.Context(), second.N))
	// The container stands on the second layer: its record stays, or the library does not find it.
	if g := b.whole(); len(g.Images) != 1 || len(g.Layers) != 2 {
		t.Errorf("without the images there are %d, on %d layers", len(g.Images), len(g.Layers))
	}
	b.must(b.seeded.Prune(t.Context(), b.primary, first.N))
	if !b.has(b.layers[3]) {
		t.Error("a layer of a generation that was to be kept is gone")
	}
	b.must(b.seeded.Prune(t.Context(), b.primary))
	if b.has(b.layers[2]) || b.has(b.layers[3]) || !b.has(b.layers[0]) || !b.has(b.layers[1]) {
		t.Error("not exactly the unneeded layers were removed")
	}
	all, err := b.seeded.Generations()
	b.must(err)
	if len(all) != 1 || all[0].N != second.N {
		t.Errorf("there are %d generations", len(all))
	}
	if _, ok, err := b.seeded.Previous(); ok || err != nil {
		t.Errorf("a removed generation is the previous one: %v", err)
	}
	b.whole()
	if links, _ := os.ReadDir(filepath.Join(b.seeded.Dir, "overlay", "l")); len(links) != 2 {
		t.Errorf("the short names are %v", links)
	}
}

func TestRepair(t *testing.T) {
	b := newBench(t, "xfs")
	b.must(b.seeded.Switch(t.Context(), b.add(layerstore.Selection{}).N))
	b.add(layerstore.Selection{Images: []string{}, Drop: b.images[3:]}) // a second generation shares what is damaged
	victim := b.in(b.layers[0], "diff", "usr/bin/ping")
	manifest, err := filepath.Glob(filepath.Join(b.seeded.Dir, "current", "overlay-images", b.images[3], "manifest"))
	b.must(err)
	b.must(errors.Join(os.WriteFile(victim, []byte("changed"), 0o755), os.Remove(b.in(b.layers[1], "link")),
		os.WriteFile(filepath.Join(b.seeded.Dir, "current", "overlay-layers", b.layers[2]+".tar-split.gz"), []byte("x"), 0o600),
		os.WriteFile(manifest[0], []byte("{}"), 0o600)))
	damage := func() []store.Damage {
		g, err := b.seeded.Current()
		b.must(err)
		s, err := b.seeded.Store(t.Context(), g.N)
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
	b.must(b.seeded.Repair(t.Context(), b.open(), found))
	b.whole()
	for _, n := range []int{1, 2} {
		s, err := b.seeded.Store(t.Context(), n)
		b.must(err)
		if left, err := s.Full(t.Context(), store.VerifyOptions{}); err != nil || len(left) > 0 {
			t.Errorf("generation %d: %v, %v", n, left, err)
		}
	}
	b.must(b.seeded.Recover(t.Context()))
	b.whole()
	b.must(b.seeded.Prune(t.Context(), b.primary))
	if aside, _ := filepath.Glob(b.in("*.damaged")); len(aside) != 0 {
		t.Errorf("%v is left", aside)
	}
}

func TestRepairNeedsASoundPrimary(t *testing.T) {
	b := newBench(t, "xfs")
	b.must(b.seeded.Switch(t.Context(), b.add(layerstore.Selection{}).N))
	for _, file := range []string{b.in(b.layers[0], "diff", "etc/passwd"), b.made.Path("overlay", b.layers[0], "diff", "etc/passwd")} {
		b.must(os.WriteFile(file, []byte(strings.Repeat("x", 700)), 0o644))
	}
	err := b.seeded.Repair(t.Context(), b.open(), []store.Damage{{Layer: b.layers[0]}})
	if p := problem.From(err); p.Code != "STR-REPR" || !strings.Contains(p.Summary.String(), "etc/passwd") {
		t.Errorf("repaired with %v", err)
	}
}

// TestUnderTheLibrarysMount: the library mounts its overlay folder onto itself, and renames end at a mount.
func TestUnderTheLibrarysMount(t *testing.T) {
	for _, way := range []string{"add", "move"} {
		t.Run(way, func(t *testing.T) {
			b := newBench(t, "xfs")
			overlay := b.made.Path("overlay")
			b.must(unix.Mount(overlay, overlay, "", unix.MS_BIND, ""))
			t.Cleanup(func() { _ = unix.Unmount(overlay, unix.MNT_DETACH) })
			b.must(operate(b.seeded, way, b.primary))
			if g := b.whole(); len(g.Images) != 4 {
				t.Errorf("there are %d images", len(g.Images))
			}
			if lost := b.standsOn(); lost != "" {
				t.Errorf("the container stands on %s, which leads nowhere", lost)
			}
			victim := b.in(b.layers[3], "diff", "d0-4", "file-1")
			b.must(os.WriteFile(victim, []byte("x"), 0o644))
			err := b.seeded.Repair(t.Context(), b.open(), []store.Damage{{Layer: b.layers[3]}})
			if way == "add" {
				b.must(err)
				b.whole()
			} else if p := problem.From(err); p.Code != "STR-REPR" || strings.Contains(p.Summary.String(), "/proc/") {
				t.Errorf("without the layer in the primary it is repaired with %v", err)
			}
		})
	}
}
