package line

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/images"
	bench "touchdown/test/bench/images"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
)

// TestDamagedStoreIsRepaired damages the seeded store of a node whose own store is empty: without a registry the damage is named
// and nothing is lost, with one it is repaired, and the layers are again what CRI-O's library had unpacked. Then an image gets a
// record in CRI-O's own store that hides its names.
func TestDamagedStoreIsRepaired(t *testing.T) {
	l, _, lan := lineWithRegistry(t, 8*time.Minute)
	registry := lan.Registry
	l.run("images", "seed")
	registry.Set(site.NeedsLogin) // the cluster lays its own credentials while it is told of the store
	l.must(l.UseRegistry(site.RegistryName, registry.CA(), site.RegistryUser, site.RegistryPassword))
	l.emptyPrimary()
	listed := l.shell("crictl images | sort")
	layers := l.damage()

	registry.Set(site.NotARegistry)
	for _, layer := range layers {
		layer.spoil()
	}
	out, err := l.Run(l.ctx, "touchdown", "images", "verify")
	t.Logf("without a registry:\n%s", out)
	if err == nil {
		t.Error("a damaged store that nothing can repair is found well")
	}
	for _, layer := range layers {
		if !strings.Contains(string(out), "overlay/"+layer.id+"/diff/"+layer.file) || !strings.Contains(string(out), bench.Host) {
			t.Errorf("the damage of %s in layer %s, with an image, is not named", layer.file, layer.id)
		}
	}
	if now := l.shell("crictl images | sort"); now != listed {
		t.Errorf("listed before and with the damage:\n%s\n%s", listed, now)
	}

	registry.Set(site.NeedsLogin)
	before := registry.Served().Blobs
	l.run("images", "verify")
	if s := l.status(); !s.Well() || len(s.Repaired) < len(layers) || registry.Served().Blobs != before+len(layers) {
		t.Errorf("%d blobs were fetched for %d layers: %+v", registry.Served().Blobs-before, len(layers), s)
	}
	for _, layer := range layers {
		if now := describe(t, layer.diff); !slices.Equal(now, layer.was) {
			t.Errorf("layer %s is not what it was:\n%s\n%s", layer.id, strings.Join(layer.was, "\n"), strings.Join(now, "\n"))
		}
	}
	l.run("images", "verify")
	if s := l.status(); !s.Well() || len(s.Repaired) != 0 {
		t.Errorf("the second time: %+v", s)
	}
	l.shadowed()
}

// emptyPrimary takes everything out of CRI-O's own store.
func (l *line) emptyPrimary() {
	l.t.Helper()
	l.shell("systemctl stop kubelet; crictl rmp $(crictl pods | cut -d' ' -f1); systemctl stop crio; rm -rf " + node.Graphroot + "; systemctl start crio")
	if n := l.shell("ls " + node.Graphroot + "/overlay-images 2>/dev/null | grep -c '^[0-9a-f]' || true"); n != "0" {
		l.t.Fatalf("%s images are left in the primary store", n)
	}
}

// spoiled is a layer that is to be damaged.
type spoiled struct {
	id, file, diff string
	was            []string
	spoil          func()
}

// damage chooses two layers, of which one loses a bit and one a file; one is a base of many images.
func (l *line) damage() []*spoiled {
	l.t.Helper()
	folder, err := bench.Find(bench.Small)
	l.must(err)
	var g struct {
		Layers []struct{ ID, DiffDigest string }
	}
	data, err := l.ReadFile(images.StoreDir + "/current/manifest.json")
	l.must(err)
	l.must(json.Unmarshal(data, &g))
	var all []*spoiled
	for n, do := range []func(string) error{flipBit, os.Remove} {
		s := &spoiled{}
		for _, layer := range g.Layers {
			if layer.DiffDigest == string(folder.Images[10].Layers[2*n].DiffID) {
				s.id = layer.ID
			}
		}
		s.diff, err = l.Path(images.StoreDir + "/overlay/" + s.id + "/diff")
		l.must(err)
		s.was = describe(l.t, s.diff)
		file := largest(l.t, s.diff)
		s.file, _ = filepath.Rel(s.diff, file)
		s.spoil = func() { l.must(do(file)) }
		all = append(all, s)
	}
	return all
}

func largest(t *testing.T, dir string) (best string) {
	t.Helper()
	var most int64 = -1
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err == nil && info.Size() > most {
			best, most = path, info.Size()
		}
		return nil
	})
	if err != nil || best == "" {
		t.Fatalf("no file in %s: %v", dir, err)
	}
	return best
}

// flipBit changes one bit of a file behind the back of its times.
func flipBit(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	data[len(data)/2] ^= 1
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt(data[len(data)/2:len(data)/2+1], int64(len(data)/2)); err != nil {
		return err
	}
	return os.Chtimes(name, time.Time{}, info.ModTime())
}

// describe lists what a layer's files have beside their content. The times of the top folder, of whiteouts and of folders that
// the tar does not name are when they were unpacked; those of the bench's images end in 2025.
func describe(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil {
			err = unix.Lstat(path, &st)
		}
		if err != nil {
			return err
		}
		kind := st.Mode & unix.S_IFMT
		if kind == unix.S_IFDIR {
			st.Size, st.Nlink = 0, 0
		}
		unpacked := kind == unix.S_IFDIR && time.Unix(st.Mtim.Unix()).Year() > 2025
		if path == dir || kind == unix.S_IFCHR && st.Rdev == 0 || unpacked {
			st.Mtim = unix.Timespec{}
		}
		name, _ := filepath.Rel(dir, path)
		target, _ := os.Readlink(path)
		all = append(all, fmt.Sprintf("%q %o %d:%d %d bytes, %d names, device %d, %d.%09d, to %q, %q",
			name, st.Mode, st.Uid, st.Gid, st.Size, st.Nlink, st.Rdev, st.Mtim.Sec, st.Mtim.Nsec, target, attributes(path)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func attributes(path string) []string {
	list := make([]byte, 4096)
	n, _ := unix.Llistxattr(path, list)
	var all []string
	for name := range strings.SplitSeq(strings.Trim(string(list[:max(n, 0)]), "\x00"), "\x00") {
		value := make([]byte, 4096)
		n, _ := unix.Lgetxattr(path, name, value)
		all = append(all, name+"="+string(value[:max(n, 0)]))
	}
	slices.Sort(all)
	return all
}

// shadowed gives an image a record in CRI-O's own store under another name alone: CRI-O does not find it by the names that the
// seeded store has, until it is looked after.
func (l *line) shadowed() {
	l.t.Helper()
	folder, err := bench.Find(bench.Small)
	l.must(err)
	name := folder.Images[40].Names[0]
	l.shell("crictl pull " + name)
	list := node.Graphroot + "/overlay-images/images.json"
	var records []map[string]any
	data, err := l.ReadFile(list)
	l.must(err)
	l.must(json.Unmarshal(data, &records))
	if len(records) != 1 {
		l.t.Fatalf("%d images in the primary store after one pull", len(records))
	}
	records[0]["names"] = []string{"localhost/other/name:1"}
	data, err = json.Marshal(records)
	l.must(err)
	l.must(l.WriteFile(list, data, 0o600))
	token := make([]byte, 64) // the library's last-writer token: others read the list again
	rand.Read(token)
	l.must(l.WriteFile(node.Graphroot+"/overlay-images/images.lock", token, 0o600))
	if out, err := l.Shell(l.ctx, "crictl inspecti "+name); err == nil {
		l.t.Fatalf("%s is found all the same: %.300s", name, out)
	}
	out := l.run("images", "verify", "--quick")
	if !strings.Contains(out, name+": CRI-O did not find the image by this name") {
		l.t.Errorf("the name that was not found is not told:\n%s", out)
	}
	l.shell("crictl inspecti " + name + " && crictl inspecti localhost/other/name:1")
	if s := l.status(); !s.Well() {
		l.t.Errorf("with the name given back: %+v", s)
	}
}
