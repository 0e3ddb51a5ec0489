package layerstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/backend/problem"
	"touchdown/test/imagestore"
)

// TestDamagedSourceIsNotSeeded: what the quick verification sees never becomes a generation.
func TestDamagedSourceIsNotSeeded(t *testing.T) {
	b := newBench(t, "xfs")
	b.must(os.Truncate(b.made.Path("overlay", b.layers[0], "diff", "etc/passwd"), 10))
	_, err := b.seeded.Add(t.Context(), b.open(), layerstore.Selection{}, nil)
	if p := problem.From(err); p.Code != "STR-DMG" || !strings.Contains(p.Summary.String(), "etc/passwd") {
		t.Errorf("added with %v", err)
	}
	if all, err := b.seeded.Generations(); err != nil || len(all) != 1 {
		t.Errorf("there are %d generations, %v", len(all), err)
	}
}

func TestVanishedImageIsTakenFromANewSnapshot(t *testing.T) {
	b := newBench(t, "xfs")
	stale := b.open()
	b.must(store.Locked(t.Context(), b.primary, func(s *store.Store) error { return s.Remove(b.layers[3:], b.images[3:]) }))
	b.must(os.RemoveAll(b.made.Path("overlay", b.layers[3])))
	g, err := b.seeded.Add(t.Context(), stale, layerstore.Selection{}, nil)
	b.must(err)
	if len(g.Images) != 3 {
		t.Errorf("there are %d images", len(g.Images))
	}
	b.must(os.RemoveAll(b.made.Path("overlay", b.layers[2])))
	again, err := layerstore.Init(filepath.Join(b.disk.Dir, "second"))
	b.must(err)
	if _, err := again.Add(t.Context(), b.open(), layerstore.Selection{}, nil); problem.From(err).Code != "STR-GNE" {
		t.Errorf("files that are lost are told as %v", err)
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(t, "xfs")
	if _, err := layerstore.Open(filepath.Join(b.disk.Dir, "nowhere")); problem.From(err).Code != "STR-NSED" {
		t.Errorf("an image store that is not there opens with %v", err)
	}
	if _, err := b.seeded.Add(t.Context(), b.open(), layerstore.Selection{Images: []string{strings.Repeat("a", 64)}}, nil); problem.From(err).Code != "STR-LACK" {
		t.Errorf("an image that is not there is added with %v", err)
	}
	if err := b.seeded.Switch(t.Context(), 7); err == nil {
		t.Error("a generation that is not there is current")
	}
	busy := &layerstore.Store{Dir: b.seeded.Dir}
	b.seeded.Step = func(string) {
		busy.Wait = time.Millisecond
		if err := busy.Switch(t.Context(), 0); problem.From(err).Code != "STR-BUSY" {
			t.Errorf("two at once: %v", err)
		}
	}
	b.add(layerstore.Selection{})
	b.seeded.Step = nil
	far, err := layerstore.Init(filepath.Join(imagestore.NewDisk(t, "ext4", 200<<20).Dir, "store"))
	b.must(err)
	if _, err := far.Move(t.Context(), b.primary, layerstore.Selection{}); problem.From(err).Code != "STR-DEV" {
		t.Errorf("a move to another disk: %v", err)
	}
	if len(b.open().Images) != 4 {
		t.Error("a refused move took images away")
	}
}

// TestMoveOfSome: images that stay find the layers that went.
func TestMoveOfSome(t *testing.T) {
	b := newBench(t, "xfs")
	g, err := b.seeded.Move(t.Context(), b.primary, layerstore.Selection{Images: b.images[:1]})
	b.must(err)
	seeded, err := b.seeded.Store(t.Context(), g.N)
	b.must(err)
	s := b.open()
	found, err := s.Quick(t.Context(), store.VerifyOptions{Beside: seeded})
	b.must(err)
	if len(found) > 0 || len(s.Images) != 3 || len(s.Layers) != 4 {
		t.Errorf("the primary keeps %d images on %d layers; %v", len(s.Images), len(s.Layers), found)
	}
	b.whole()
	if again, err := b.seeded.Move(t.Context(), b.primary, layerstore.Selection{Images: []string{}}); err != nil || again.N != g.N {
		t.Errorf("moving nothing makes generation %d, %v", again.N, err)
	}
}

func TestEmptyStoreIsValid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "current")
	if err := layerstore.Empty(dir); err != nil {
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

// TestJournal: a torn last line is not a record, and nothing is glued to it.
func TestJournal(t *testing.T) {
	b := newBench(t, "xfs")
	b.must(b.seeded.Switch(t.Context(), b.add(layerstore.Selection{}).N))
	name := filepath.Join(b.seeded.Dir, "journal.jsonl")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	b.must(err)
	_, err = f.WriteString(`{"op":"move","phase":"sure","gener`)
	b.must(errors.Join(err, f.Close()))
	b.must(b.seeded.Recover(t.Context()))
	b.must(b.seeded.Switch(t.Context(), 0))
	data, err := os.ReadFile(name)
	if err != nil || strings.Contains(string(data), "gener`") || strings.Contains(string(data), `"sure"`) {
		t.Errorf("the journal is %s, %v", data, err)
	}
	if g := b.whole(); g.N != 0 {
		t.Errorf("generation %d is current", g.N)
	}
}

// TestFullDisk: what does not fit is taken back, and the current generation stays unchanged.
func TestFullDisk(t *testing.T) {
	b := newBench(t, "xfs")
	b.must(b.seeded.Switch(t.Context(), b.add(layerstore.Selection{Images: b.images[3:]}).N))
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
	_, err = b.seeded.Add(t.Context(), b.open(), layerstore.Selection{}, nil)
	if problem.From(err).Code != "DSK-FULL" {
		t.Errorf("on a full disk it ends with %v", err)
	}
	b.must(os.Remove(full))
	b.must(b.seeded.Recover(t.Context()))
	if g := b.whole(); len(g.Images) != 1 {
		t.Errorf("afterwards there are %d images", len(g.Images))
	}
	if g := b.add(layerstore.Selection{}); len(g.Images) != 4 {
		t.Errorf("with room again there are %d images", len(g.Images))
	}
}
