package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/test/wait"
)

// TestAReplacedFileKeepsItsOwner: a service that runs as its own user can read its file after the replacement, too.
func TestAReplacedFileKeepsItsOwner(t *testing.T) {
	wait.Root(t)
	path := filepath.Join(t.TempDir(), "file")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 1234, 1235)); err != nil {
		t.Fatal(err)
	}
	if err := host.WriteFileAtomic(path, []byte("new"), 0o640); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil || st.Uid != 1234 || st.Gid != 1235 || st.Mode&0o777 != 0o640 {
		t.Errorf("user %d, group %d, mode %o, %v", st.Uid, st.Gid, st.Mode, err)
	}
}

// TestALinkIsReplaced: what a link leads to may be anything, so that nothing is written along it.
func TestALinkIsReplaced(t *testing.T) {
	dir := t.TempDir()
	other, link := filepath.Join(dir, "other"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(other, []byte("other"), 0o600), os.Symlink("other", link)); err != nil {
		t.Fatal(err)
	}
	if err := host.WriteFilesAtomic(host.File{Path: link, Data: []byte("new"), Perm: 0o600}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(other); err != nil || string(b) != "other" {
		t.Errorf("the link was followed: %q, %v", b, err)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link is still there: %v, %v", info, err)
	}
}

// TestWhatCannotBeReplaced: a folder in the place of a file, and a file in the place of its folder, are errors that leave nothing behind and
// do not name the root of a test.
func TestWhatCannotBeReplaced(t *testing.T) {
	m := hosttest.New(t)
	m.File("/etc/folder/file", "old")
	m.File("/etc/file", "old")
	for _, path := range []string{"/etc/folder", "/etc/file/below", "/etc/file/far/below"} {
		for what, err := range map[string]error{
			"WriteFile":  m.WriteFile(path, []byte("new"), 0o600),
			"WriteFiles": m.WriteFiles(host.File{Path: path, Data: []byte("new"), Perm: 0o600}),
		} {
			if err == nil || strings.Contains(err.Error(), m.Root()) {
				t.Errorf("%s of %s: %v", what, path, err)
			}
		}
		if m.Remove(path) == nil && path == "/etc/folder" {
			t.Error("a folder with files in it counts as removed")
		}
	}
	if left, _ := m.Glob("/etc/.*"); len(left) > 0 || m.Content("/etc/folder/file") != "old" || m.Content("/etc/file") != "old" {
		t.Errorf("left behind: %v; the files hold %q and %q", left, m.Content("/etc/folder/file"), m.Content("/etc/file"))
	}
	if err := host.WriteFileAtomic(filepath.Join(m.Root(), "none", "file"), nil, 0o600); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	// Not even root can make a file here, as on a disk that has become read-only.
	if err := host.WriteFileAtomic("/proc/touchdown", nil, 0o600); err == nil {
		t.Error("a file was made in /proc")
	}
	if err := host.Open(host.Options{}).WriteFile("/proc/touchdown/file", nil, 0o600); err == nil {
		t.Error("a folder was made in /proc")
	}
	if err := host.SyncDir(m.Path("/none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("syncing a folder that is not there: %v", err)
	}
}
