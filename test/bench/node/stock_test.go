package node_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/test/bench/images"
	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// TestStockedDisk makes the disk of a node whose store is full, and looks whether what is rare in images arrived there.
func TestStockedDisk(t *testing.T) {
	begun := time.Now()
	image, err := node.Stocked(wait.Within(t, 10*time.Minute), images.Small)
	node.Require(t, err)
	t.Logf("disk %s after %.1f s", image, time.Since(begun).Seconds())
	m := node.Start(t, node.Options{Image: image})
	store, err := m.Path(node.Graphroot + "/overlay")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	err = filepath.WalkDir(store, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.Contains(path, "/diff") {
			rarities(path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the store holds %v", found)
	for what, least := range map[string]int{
		"inodes": images.Small.Inodes, "whiteouts": 100, "opaque folders": 60, "capabilities": 6, "attributes": 300, "more names": 200,
		"setuid": 100, "odd names": 3, "nanoseconds": images.Small.Inodes / 2, "pipes": 3,
	} {
		if found[what] < least {
			t.Errorf("%s: %d, want %d", what, found[what], least)
		}
	}
}

// rarities counts what one inode of a layer is an example of.
func rarities(path string, found map[string]int) {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return
	}
	has := func(attribute string) bool {
		n, err := unix.Lgetxattr(path, attribute, make([]byte, 64))
		return err == nil && n > 0
	}
	kind := st.Mode & syscall.S_IFMT
	for what, is := range map[string]bool{
		"inodes":         true,
		"whiteouts":      kind == syscall.S_IFCHR && st.Rdev == 0,
		"opaque folders": kind == syscall.S_IFDIR && has("trusted.overlay.opaque"),
		"capabilities":   kind == syscall.S_IFREG && has("security.capability"),
		"attributes":     kind == syscall.S_IFREG && has("user.bench.origin") || kind == syscall.S_IFDIR && has("user.bench.folder"),
		"more names":     kind == syscall.S_IFREG && st.Nlink > 1,
		"setuid":         kind == syscall.S_IFREG && st.Mode&syscall.S_ISUID != 0,
		"odd names":      strings.HasPrefix(filepath.Base(path), "ünïcödé-"),
		"nanoseconds":    st.Mtim.Nsec != 0,
		"pipes":          kind == syscall.S_IFIFO,
	} {
		if is {
			found[what]++
		}
	}
}
