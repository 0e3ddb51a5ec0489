package images

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"touchdown/backend/host"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/backend/images/wanted"
	"touchdown/backend/message"
	"touchdown/test/imagestore"
	"touchdown/test/wait"
)

func nothing(context.Context, host.Command) (stdout, both []byte, err error) { return nil, nil, nil }

// storeOf has images by name in CRI-O's own store below a root, each with its own layer on a base that all share.
func storeOf(t *testing.T, root string, names ...string) map[string]string {
	t.Helper()
	wait.Root(t) // it unpacks files of other users
	s := imagestore.New(filepath.Join(root, Primary))
	base := s.Layer("", imagestore.Tree(1, 20, 1<<16)...)
	ids := map[string]string{}
	for n, name := range names {
		ids[name] = s.Image(s.Layer(base, imagestore.Tree(uint64(n+2), 3, int64(n+1)<<14)...), "r.invalid/"+name+":1", "r.invalid/"+name+"@")
	}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	return ids
}

// seed puts all of it into the image store.
func seed(t *testing.T, root string) *layerstore.Store {
	t.Helper()
	p, err := layerstore.Init(filepath.Join(root, StoreDir))
	if err != nil {
		t.Fatal(err)
	}
	primary, err := store.Open(t.Context(), filepath.Join(root, Primary))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Add(t.Context(), primary, layerstore.Selection{}, nil)
	if err == nil {
		err = p.Switch(t.Context(), g.N)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pruned is a seeded node of which the images "old" and "ended" have no needer; of the others each has another one.
func pruned(t *testing.T) (*critest.Server, pruning, *layerstore.Store, map[string]string) {
	t.Helper()
	s := critest.Start(t)
	ids := storeOf(t, s.Root, "run", "idle", "box", "pinned", "glob", "unresolved", "digest", "old", "ended")
	p := seed(t, s.Root)
	write(t, s.Root, "/proc/sys/kernel/random/boot_id", "one\n")
	write(t, s.Root, "/etc/crio/crio.conf.d/50-others.conf", "[crio.image]\npinned_images = [\"r.invalid/pinned:1\", \"r.invalid/gl*\"]\n")
	write(t, s.Root, pinsFile, "[crio.image]\npinned_images = [\"r.invalid/old:1\", \"r.invalid/old@sha256:list\", \"r.invalid/run:1\"]\n")
	s.Containers = []*runtime.Container{{Id: "c", ImageId: ids["box"], Image: &runtime.ImageSpec{Image: "r.invalid/box:1"}}}
	g, err := p.Current()
	if err != nil {
		t.Fatal(err)
	}
	digest := g.Images[slices.IndexFunc(g.Images, func(i layerstore.Image) bool { return i.ID == ids["digest"] })].Digest
	w := &wanted.Result{StoreRead: true, Images: []wanted.Image{
		{ID: ids["run"], Need: wanted.Run, Present: true, Names: []string{"r.invalid/run:1"}},
		{ID: ids["idle"], Need: wanted.Spare, Names: []string{"r.invalid/idle:1"}, Needers: []wanted.Needer{{Who: "Deployment a/idle", Need: wanted.Spare, Source: "deployments"}}},
		{ID: ids["old"], Need: wanted.Spare, Names: []string{"r.invalid/old:1", "r.invalid/old@sha256:list"}},
		{ID: ids["ended"], Need: wanted.Spare, Names: []string{"r.invalid/ended:1"}, Needers: []wanted.Needer{{Who: "Job a/ended", Need: wanted.Spare, Source: "jobs"}}},
		{Need: wanted.Boot, Names: []string{"r.invalid/unresolved:1"}, Missing: []string{"r.invalid/unresolved:1"}},
		{Need: wanted.Run, Names: []string{"mirror.invalid/x@" + digest}, Missing: []string{"mirror.invalid/x@" + digest}},
	}}
	m := host.Open(host.Options{Root: s.Root, Exec: nothing})
	return s, pruning{&Node{host: m, cri: s.Client(t)}, w}, p, ids
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	name = filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPruneFindsWhatNobodyNeeds(t *testing.T) {
	_, p, _, ids := pruned(t)
	l, err := p.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{ids["ended"], ids["old"]}; !slices.Equal(l.IDs(), want) || l.Kept != 7 {
		t.Errorf("%d stay, and these go: %v, want %v", l.Kept, l.Images, want)
	}
	if n := l.Images[0].Named; len(n) != 1 || n[0] != "Job a/ended" {
		t.Errorf("named by %q", n)
	}
	// The base stays; of each of the two its own layer goes.
	if base := l.Images[0].Size + l.Images[1].Size - l.Bytes; l.Layers != 2 || l.Bytes <= 0 || base <= 0 || base%2 != 0 {
		t.Errorf("%d bytes in %d layers of images with %d and %d", l.Bytes, l.Layers, l.Images[0].Size, l.Images[1].Size)
	}
	p.wanted.Unread = []wanted.Unread{{Source: "pods", Reason: message.T("The API does not answer.")}}
	if _, err := p.look(t.Context()); code(err) != "CTR-UNRD" || !strings.Contains(err.Error(), "pods: The API does not answer.") {
		t.Errorf("with a source unread: %v", err)
	}
}

func TestPruneRemoves(t *testing.T) {
	s, p, pl, ids := pruned(t)
	l, err := p.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// critest answers yes, and leaves the record where it is: as with a CRI-O that does not let an image go.
	if err := p.run(t.Context(), "test", l); code(err) != "CTR-USED" {
		t.Fatalf("with a record that stays: %v", err)
	}
	if now, err := pl.Current(); err != nil || len(now.Images) != 9 {
		t.Errorf("%v: the store was changed all the same: %d images", err, len(now.Images))
	}
	primary := filepath.Join(s.Root, Primary)
	if err := store.Locked(t.Context(), primary, func(s *store.Store) error { return s.Remove(nil, l.IDs()) }); err != nil {
		t.Fatal(err)
	}
	if err := p.run(t.Context(), "test", l); err != nil {
		t.Fatal(err)
	}
	now, err := pl.Current()
	if err != nil || len(now.Images) != 7 || slices.ContainsFunc(now.Images, func(i layerstore.Image) bool { return i.ID == ids["old"] || i.ID == ids["ended"] }) {
		t.Errorf("%v: %d images are left", err, len(now.Images))
	}
	lock := func(n int) string {
		data, err := os.ReadFile(filepath.Join(pl.Root(n), "overlay-images", "images.lock"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if a, b := lock(l.Generation), lock(now.N); len(a) != 64 || len(b) != 64 || a == b {
		t.Error("a CRI-O that runs does not notice the other generation by its lock")
	}
	if before, ok, err := pl.Previous(); err != nil || !ok || len(before.Images) != 9 {
		t.Errorf("the images of before cannot come back: %v %v", ok, err)
	}
	got, err := p.host.ReadFile(pinsFile)
	if err != nil || !strings.Contains(string(got), "pinned_images = ['r.invalid/gl*', 'r.invalid/pinned:1', 'r.invalid/run:1']") {
		t.Errorf("%v: pinned are %s", err, got)
	}
	if err := p.run(t.Context(), "test", l); code(err) != "CTR-CHNG" {
		t.Errorf("with the list of a generation before: %v", err)
	}
	// The layers go with the first good boot.
	layers := func() int {
		all, err := filepath.Glob(filepath.Join(pl.Dir, "overlay", strings.Repeat("?", 64)))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	good := Status{Generation: now.N, Mounted: true, Named: true, Boot: "one"}
	if done, err := retire(t.Context(), p.host, good); err != nil || done || layers() != 10 {
		t.Errorf("in the same boot: %v %v, %d layers", done, err, layers())
	}
	good.Boot = "two"
	if done, err := retire(t.Context(), p.host, good); err != nil || !done || layers() != 8 {
		t.Errorf("after a good boot: %v %v, %d layers", done, err, layers())
	}
}
