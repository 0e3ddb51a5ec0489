package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/test/wait"
)

// TestAMovedFileIsToldAndHealed: a file with the label of another place is noticed, and a replaced one has the folder's again:
// without SELinux that means that the old label is not carried over.
func TestAMovedFileIsToldAndHealed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "program")
	if err := os.WriteFile(file, []byte("one"), 0o755); err != nil {
		t.Fatal(err)
	}
	label := func(path, name string) {
		t.Helper()
		if err := unix.Setxattr(path, "security.selinux", []byte("system_u:object_r:"+name+":s0\x00"), 0); err != nil {
			wait.Unable(t, "no labels here: %v", err)
		}
	}
	m := host.Open(host.Options{Root: dir})
	if !host.Inherits(m, "/program") {
		t.Error("without labels")
	}
	label(dir, "bin_t")
	label(file, "user_home_t")
	if host.Inherits(m, "/program") {
		t.Error("a moved file is not noticed")
	}
	if err := m.WriteFile("/program", []byte("one"), 0o755); err != nil {
		t.Fatal(err)
	}
	if !host.Inherits(m, "/program") {
		t.Error("the replaced file has the old label")
	}
	if err := unix.Setxattr(file, "security.selinux", []byte("no label"), 0); err != nil {
		t.Fatal(err)
	}
	if !host.Inherits(m, "/program") {
		t.Error("what is not a label differs from another")
	}
	label(file, "bin_t")
	if !host.Inherits(m, "/program") {
		t.Error("the folder's own type")
	}
}
