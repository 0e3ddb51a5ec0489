package line

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/images"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/backend/layout"
	bench "touchdown/test/bench/images"
	"touchdown/test/bench/site"
)

// What the bench's node needs of the generated images: its static pods (0, 1, 60) and their init container (2), its
// Deployments (3, 27, 31, 47, 58), and what its release lists (5) and nothing runs.
const ofRelease = 5

var used = []int{0, 1, 2, 3, ofRelease, 27, 31, 47, 58, 60}

// comesLater is one that the node does not have when it is seeded first. Two of its layers are its own.
const comesLater = 33

// TestImageStoreIsKept is the life of a store: an image comes, what nobody needs goes, and at last CRI-O's own copies are
// moved away.
func TestImageStoreIsKept(t *testing.T) {
	k := newKeeper(t)
	k.run("images", "seed")
	first := k.current()
	k.grow(first)
	k.prune()
	k.reboot("systemctl", "reboot")
	k.looked()
	k.layersAre(k.current())
	k.move()
}

// keeper is a node at a bench line that has a registry.
type keeper struct {
	*line
	site   *site.Site
	folder *bench.Folder
}

func newKeeper(t *testing.T) *keeper {
	t.Helper()
	k := &keeper{}
	k.line, k.folder, k.site = lineWithRegistry(t, 8*time.Minute)
	k.release()
	k.shell("crictl rmi " + k.folder.Images[comesLater].ID.Encoded())
	return k
}

// release lays the list of a release into its image, which on the bench is a program alone.
func (k *keeper) release() {
	k.t.Helper()
	primary, err := store.Open(k.ctx, k.path(images.Primary))
	k.must(err)
	at := slices.IndexFunc(primary.Images, func(i store.Image) bool { return strings.Contains(strings.Join(i.Names, " "), "/ocp-release") })
	if at < 0 {
		k.t.Fatal("the node has no release image")
	}
	file := filepath.Join(primary.LayerFolder(primary.Images[at].TopLayer), "diff", "release-manifests", "image-references")
	k.must(os.MkdirAll(filepath.Dir(file), 0o755))
	list := fmt.Sprintf(`{"spec":{"tags":[{"name":"art","from":{"kind":"DockerImage","name":%q}}]}}`, k.folder.Images[ofRelease].ByDigest())
	k.must(os.WriteFile(file, []byte(list), 0o644))
}

func (k *line) path(name string) string {
	k.t.Helper()
	path, err := k.Path(name)
	k.must(err)
	return path
}

func (k *line) current() layerstore.Generation {
	k.t.Helper()
	data, err := os.ReadFile(k.path(images.StoreDir + "/current/manifest.json"))
	k.must(err)
	var g layerstore.Generation
	k.must(json.Unmarshal(data, &g))
	return g
}

// folders are the layers on the pool's disk, and what else lies there, without the short names.
func (k *line) folders() []string {
	k.t.Helper()
	entries, err := os.ReadDir(k.path(images.StoreDir + "/overlay"))
	k.must(err)
	var all []string
	for _, e := range entries {
		if e.Name() != "l" {
			all = append(all, e.Name())
		}
	}
	return all
}

func layers(g layerstore.Generation) []string {
	var all []string
	for _, l := range g.Layers {
		all = append(all, l.ID)
	}
	slices.Sort(all)
	return all
}

// grow pulls an image as anybody may do it, and seeds again: only what is new of it is copied.
func (k *keeper) grow(first layerstore.Generation) {
	k.t.Helper()
	before, served := k.folders(), k.site.Registry.Served()
	later := k.folder.Images[comesLater]
	k.shell("crictl pull " + later.Names[0])
	if got := k.site.Registry.Served().Blobs - served.Blobs; got != 3 {
		k.t.Errorf("%d blobs were fetched for two layers and a configuration", got)
	}
	k.run("images", "seed")
	now := k.current()
	if now.N != first.N+1 || len(now.Images) != len(first.Images)+1 {
		k.t.Errorf("generation %d with %d images, before %d with %d", now.N, len(now.Images), first.N, len(first.Images))
	}
	var fresh []bench.Digest
	for _, name := range k.folders() {
		if at := slices.IndexFunc(now.Layers, func(l layerstore.Layer) bool { return l.ID == name }); !slices.Contains(before, name) && at >= 0 {
			fresh = append(fresh, bench.Digest(now.Layers[at].DiffDigest))
		}
	}
	if len(fresh) != 2 || len(k.folders()) != len(before)+2 {
		k.t.Errorf("%d layers are new, the pool had %d and has %d", len(fresh), len(before), len(k.folders()))
	}
	for _, l := range later.Layers[len(later.Layers)-2:] {
		if !slices.Contains(fresh, l.DiffID) {
			k.t.Errorf("layer %s is not new: %v", l.DiffID, fresh)
		}
	}
	if served := k.site.Registry.Served().Blobs - served.Blobs; served != 3 {
		k.t.Errorf("seeding fetched %d blobs more", served-3)
	}
}

// prune asks, lists, and removes.
func (k *keeper) prune() {
	k.t.Helper()
	if out, err := k.Run(k.ctx, "touchdown", "images", "prune"); err == nil || !strings.Contains(string(out)+err.Error(), "CTR-ASK") {
		k.t.Errorf("with nobody to ask: %v\n%s", err, out)
	}
	before := k.current()
	var l images.Leftovers
	k.must(json.Unmarshal([]byte(k.run("images", "prune", "--dry-run", "-o", "json")), &l))
	var want []string
	for n, i := range k.folder.Images {
		if !slices.Contains(used, n) {
			want = append(want, i.ID.Encoded())
		}
	}
	got := slices.Sorted(slices.Values(l.IDs()))
	slices.Sort(want)
	// The release, whose image is also that of the node's other pods, makes one more that stays.
	if !slices.Equal(got, want) || l.Kept != len(used)+1 || k.current().N != before.N {
		k.t.Fatalf("%d leftovers, want %d; %d stay", len(got), len(want), l.Kept)
	}
	k.run("images", "prune", "--yes")
	after := k.current()
	if after.N != before.N+1 || len(after.Images) != l.Kept || len(before.Layers)-len(after.Layers) != l.Layers {
		k.t.Errorf("%d images on %d layers stay, of %d", len(after.Images), len(after.Layers), len(before.Layers))
	}
	k.listed(after)
	var names []string
	for n, i := range k.folder.Images {
		if !slices.Contains(used, n) {
			names = append(names, i.Names[0])
		}
	}
	if found := k.shell("for i in " + strings.Join(names, " ") + "; do crictl inspecti $i > /dev/null 2>&1 && echo $i; done; true"); found != "" {
		k.t.Errorf("still there: %s", found)
	}
	if !slices.Equal(k.folders(), layers(before)) {
		k.t.Error("layers were removed before a boot went well")
	}
	// What CRI-O had of them in its own store is gone too, or this would take them back.
	if out := k.run("images", "seed"); !strings.Contains(out, "Nothing had to be changed") {
		k.t.Error("seeding took images back")
	}
}

// listed compares what CRI-O lists with a generation: each image once, and every name resolves.
func (k *line) listed(g layerstore.Generation) {
	k.t.Helper()
	var want []string
	for _, i := range g.Images {
		want = append(want, i.ID[:12])
	}
	slices.Sort(want)
	if got := strings.Fields(k.shell("crictl images | cut -d ' ' -f 1 | sort -u")); !slices.Equal(got, want) {
		k.t.Errorf("CRI-O lists %d images, the store has %d", len(got), len(want))
	}
	k.run("images", "verify", "--quick")
	if s := k.status(); !s.Well() || s.Outside != 0 || s.Listed != len(g.Images) {
		k.t.Errorf("the store is not well: %+v", s)
	}
}

// reboot runs a command that reboots the node, and waits for its pods.
func (k *line) reboot(argv ...string) {
	k.t.Helper()
	before, begun := k.Boots(), time.Now()
	out, err := k.Run(k.ctx, argv...)
	k.t.Logf("%v: %v\n%s", argv, err, out)
	k.must(k.Booted(k.ctx, before))
	k.must(k.PodsReady(k.ctx))
	k.t.Logf("all pods ready %.1f s after %v", time.Since(begun).Seconds(), argv)
}

// looked waits for the look that follows a boot, to its end.
func (k *line) looked() {
	k.t.Helper()
	k.must(k.Wait(k.ctx, `[ -n "$(systemctl show -P ExecMainExitTimestampMonotonic touchdown-images-check | grep -v '^0$')" ] && grep -q $(cat /proc/sys/kernel/random/boot_id) `+layout.ImagesState+`/status.json`))
	if s := k.status(); !s.Well() {
		k.t.Errorf("after the boot: %+v", s)
	}
}

// layersAre compares the pool's disk with a generation's list.
func (k *line) layersAre(g layerstore.Generation) {
	k.t.Helper()
	if got := k.folders(); !slices.Equal(got, layers(g)) {
		k.t.Errorf("the pool has %d layers on its disk, generation %d lists %d", len(got), g.N, len(g.Layers))
	}
}

// move lets the next boot take CRI-O's own copies away.
func (k *line) move() {
	k.t.Helper()
	before := k.current()
	k.reboot("touchdown", "images", "seed", "--move")
	k.looked()
	now := k.current()
	if len(now.Images) != len(before.Images) || !slices.Equal(layers(now), layers(before)) {
		k.t.Errorf("%d images on %d layers after the move, before %d on %d", len(now.Images), len(now.Layers), len(before.Images), len(before.Layers))
	}
	primary, err := store.Open(k.ctx, k.path(images.Primary))
	k.must(err)
	if len(primary.Images) != 0 {
		k.t.Errorf("CRI-O's own store has %d images", len(primary.Images))
	}
	for _, l := range primary.Layers {
		if l.DiffDigest != "" {
			k.t.Errorf("CRI-O's own store has layer %s of an image", l.ID)
		}
	}
	if got := strings.Fields(k.shell("crictl images | cut -d ' ' -f 1")); len(got) != len(now.Images) {
		k.t.Errorf("%d images are listed, the store has %d", len(got), len(now.Images))
	}
	k.listed(now)
	k.layersAre(now)
	if out := k.run("images", "status"); !strings.Contains(out, "Images moved into the store") || k.shell("ls "+layout.ImagesState) == "move" {
		k.t.Error("what came of the move is not told")
	}
	if out := k.run("images", "seed", "--move"); !strings.Contains(out, "Nothing had to be changed") {
		k.t.Error("with nothing to move it changed something")
	}
}
