package layerstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/test/imagestore"
)

func TestMain(m *testing.M) {
	if os.Getenv(childOp) != "" {
		os.Exit(child())
	}
	os.Exit(imagestore.Main(m))
}

// bench is a primary store, with a container, and an empty image store on one disk.
type bench struct {
	*testing.T
	disk    *imagestore.Disk
	primary string
	made    *imagestore.Store
	seeded  *layerstore.Store
	images  []string
	layers  []string
	box     string // the layer of the container
}

func newBench(t *testing.T, kind string) *bench {
	t.Helper()
	b := &bench{T: t, disk: imagestore.NewDisk(t, kind, 2<<30)}
	b.primary = filepath.Join(b.disk.Dir, "containers", "storage")
	b.made = imagestore.New(b.primary)
	base := b.made.Layer("", append(imagestore.Odd(), imagestore.Tree(1, 200, 3<<20)...)...)
	second := b.made.Layer(base, imagestore.Tree(2, 100, 2<<20)...)
	third := b.made.Layer(base, imagestore.Tree(3, 50, 1<<20)...)
	alone := b.made.Layer("", imagestore.Tree(4, 50, 1<<20)...)
	b.layers = []string{base, second, third, alone}
	b.images = []string{
		b.made.Image(base, "registry.example/base:v1", "registry.example/base@"), b.made.Image(second, "registry.example/second:v1"),
		b.made.Image(third, "registry.example/third:v1"), b.made.Image(alone, "registry.example/alone@"),
	}
	b.box = b.made.Container(second)
	b.must(b.made.Save())
	var err error
	b.seeded, err = layerstore.Init(filepath.Join(b.disk.Dir, "shared", ".touchdown"))
	b.must(err)
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) open() *store.Store {
	b.Helper()
	s, err := store.Open(b.Context(), b.primary)
	b.must(err)
	return s
}

func (b *bench) add(want layerstore.Selection) layerstore.Generation {
	b.Helper()
	g, err := b.seeded.Add(b.Context(), b.open(), want, nil)
	b.must(err)
	return g
}

// whole verifies the current generation in every way, and gives it.
func (b *bench) whole() layerstore.Generation {
	b.Helper()
	g, err := b.seeded.Current()
	b.must(err)
	s, err := b.seeded.Store(b.Context(), g.N)
	b.must(err)
	quick, err := s.Quick(b.Context(), store.VerifyOptions{})
	b.must(err)
	full, err := s.Full(b.Context(), store.VerifyOptions{})
	b.must(err)
	for _, d := range append(quick, full...) {
		b.Errorf("generation %d: %s", g.N, d)
	}
	if len(s.Images) != len(g.Images) || len(s.Layers) != len(g.Layers) {
		b.Errorf("generation %d has %d images and %d layers, its manifest %d and %d", g.N, len(s.Images), len(s.Layers), len(g.Images), len(g.Layers))
	}
	return g
}

func TestAddSwitchAndGoBack(t *testing.T) {
	for _, kind := range []string{"xfs", "ext4"} {
		t.Run(kind, func(t *testing.T) {
			b := newBench(t, kind)
			if g := b.whole(); g.N != 0 || len(g.Images) != 0 {
				t.Errorf("an empty image store has %+v", g)
			}
			first := b.add(layerstore.Selection{Images: b.images[:2]})
			if b.whole().N != 0 {
				t.Error("a generation is current before it was switched to")
			}
			b.must(b.seeded.Switch(t.Context(), first.N))
			if g := b.whole(); g.N != first.N || len(g.Images) != 2 || len(g.Layers) != 2 {
				t.Errorf("the first generation is %+v", g)
			}
			second := b.add(layerstore.Selection{})
			b.must(b.seeded.Switch(t.Context(), second.N))
			if g := b.whole(); len(g.Images) != 4 || len(g.Layers) != 4 {
				t.Errorf("the second generation is %+v", g)
			}
			if again := b.add(layerstore.Selection{}); again.N != second.N {
				t.Errorf("with nothing changed there is a generation %d", again.N)
			}
			back, ok, err := b.seeded.Previous()
			if err != nil || !ok || back.N != first.N {
				t.Errorf("the previous one is %d, %v, %v", back.N, ok, err)
			}
			b.must(b.seeded.Switch(t.Context(), back.N))
			b.whole()
		})
	}
}

func TestMoveLeavesContainersTheirLayers(t *testing.T) {
	b := newBench(t, "xfs")
	g, err := b.seeded.Move(t.Context(), b.primary, layerstore.Selection{})
	b.must(err)
	if now := b.whole(); now.N != g.N || len(now.Images) != 4 || len(now.Layers) != 4 {
		t.Errorf("after the move %+v is current", now)
	}
	s := b.open()
	if len(s.Images) != 0 || len(s.Layers) != 1 {
		t.Errorf("the primary has %d images and %d layers", len(s.Images), len(s.Layers))
	}
	names, err := os.ReadDir(b.made.Path("overlay"))
	b.must(err)
	if len(names) != 2 { // the container's layer, and l
		t.Errorf("the primary's overlay folder has %v", names)
	}
}
