package seeded

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	seed "touchdown/backend/images"
	"touchdown/test/bench/node"
)

// faithful compares every layer that both stores have, inode by inode, then starts a container from the seeded one and looks
// at what it sees.
func (n *seeded) faithful() {
	n.Helper()
	layers, err := os.ReadDir(n.path(seed.StoreDir, "overlay"))
	n.must(err)
	compared, inodes, seen := 0, 0, map[string]int{}
	for _, l := range layers {
		from := n.path(node.Graphroot, "overlay", l.Name(), "diff")
		if _, err := os.Lstat(from); err != nil || l.Name() == "l" {
			continue
		}
		want, got := n.tree(from, seen), n.tree(n.path(seed.StoreDir, "overlay", l.Name(), "diff"), nil)
		if !slices.Equal(want, got) {
			n.Errorf("layer %s is another one in the store:\n%s\nwant\n%s", l.Name(), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		compared++
		inodes += len(want)
	}
	n.Logf("%d layers with %d inodes are the same: %v", compared, inodes, seen)
	if compared < 100 || seen["whiteout"] < 100 || seen["security.capability"] < 5 || seen["trusted.overlay.opaque"] < 50 {
		n.Errorf("too little was compared: %d layers, %v", compared, seen)
	}
	n.inContainer()
}

// tree describes all inodes below a folder: type, mode, owner, size, links, time, device, target and attributes.
func (n *seeded) tree(root string, seen map[string]int) []string {
	n.Helper()
	var all []string
	n.must(filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		size, target := st.Size, ""
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			size, st.Nlink = 0, 0 // each file system counts its folders in its own way
		}
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			target, _ = os.Readlink(path)
		}
		if seen != nil && isWhiteout(&st) {
			seen["whiteout"]++
		}
		all = append(all, fmt.Sprintf("%s %o %d:%d %d %d %d.%d %d %s %v", strings.TrimPrefix(path, root), st.Mode, st.Uid, st.Gid, size, st.Nlink,
			st.Mtim.Sec, st.Mtim.Nsec, st.Rdev, target, attributes(path, seen)))
		return nil
	}))
	return all
}

func isWhiteout(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0 }

// attributes are the extended ones of an inode, sorted.
func attributes(path string, seen map[string]int) []string {
	list := make([]byte, 4096)
	size, err := unix.Llistxattr(path, list)
	if err != nil {
		return []string{err.Error()}
	}
	var all []string
	for name := range strings.SplitSeq(strings.Trim(string(list[:size]), "\x00"), "\x00") {
		if name == "" {
			continue
		}
		value := make([]byte, 4096)
		length, err := unix.Lgetxattr(path, name, value)
		if err != nil {
			length = 0
		}
		if seen != nil {
			seen[name]++
		}
		all = append(all, name+"="+hex.EncodeToString(value[:length]))
	}
	slices.Sort(all)
	return all
}

// onlyInStore is the number of an image with files taken away and attributes. A container is started from it after CRI-O's
// own store has lost it.
const onlyInStore = 35

// inContainer starts a container whose image only the store has: files that its layers took away are away, and attributes
// are there.
func (n *seeded) inContainer() {
	n.Helper()
	image := n.folder.Images[onlyInStore]
	if n.primary()[image.ID.Encoded()] != nil {
		n.sh("crictl rmi " + image.ID.Encoded())
	}
	// Now and then the bench's systemd drops a container's scope before it runs; a kubelet tries again too.
	pod := n.sh("for i in 1 2 3; do crictl run " + image.Names[0] + " && exit; done; exit 1")
	mount := strings.Fields(n.sh(`tac /proc/mounts | grep -m1 '^overlay /var/lib/containers/storage/overlay/'`))
	if !strings.Contains(mount[3], seed.Store+"/overlay/l/") {
		n.Errorf("the container does not run from the store: %s", mount[3])
	}
	merged := n.path(mount[1])
	gone := 0
	chain := n.chain(image.ID.Encoded())
	for at, layer := range chain { // the lowest first
		diff := n.path(seed.StoreDir, "overlay", layer, "diff")
		n.must(filepath.WalkDir(diff, func(path string, _ fs.DirEntry, err error) error {
			var st unix.Stat_t
			if err != nil || unix.Lstat(path, &st) != nil || !isWhiteout(&st) {
				return err
			}
			name := strings.TrimPrefix(path, diff)
			for _, above := range chain[at+1:] {
				if _, err := os.Lstat(n.path(seed.StoreDir, "overlay", above, "diff", name)); err == nil {
					return nil
				}
			}
			gone++
			if _, err := os.Lstat(merged + name); err == nil {
				n.Errorf("the container sees %s, which layer %s took away", name, layer)
			}
			return nil
		}))
	}
	capability := attributes(filepath.Join(merged, "bin/ping"), nil)
	if gone == 0 || !slices.ContainsFunc(capability, func(a string) bool { return strings.HasPrefix(a, "security.capability=") }) {
		n.Errorf("in the container %d files are taken away, and bin/ping has %v", gone, capability)
	}
	n.sh("crictl rmp " + pod)
}

// chain gives an image's layers, the lowest first.
func (n *seeded) chain(image string) []string {
	n.Helper()
	var images, layers []struct{ ID, Layer, Parent string }
	for list, into := range map[string]any{"overlay-images/images.json": &images, "overlay-layers/layers.json": &layers} {
		data, err := os.ReadFile(n.path(seed.Store, list))
		n.must(err)
		n.must(json.Unmarshal(data, into))
	}
	parent := map[string]string{}
	for _, l := range layers {
		parent[l.ID] = l.Parent
	}
	var all []string
	for _, i := range images {
		for id := i.Layer; i.ID == image && id != ""; id = parent[id] {
			all = append(all, id)
		}
	}
	slices.Reverse(all)
	return all
}
