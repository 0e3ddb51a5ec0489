package host_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
)

var hostileNames = []string{
	"", ".", "..", "../a", "a/b", "/a", "a\x00", "a\nb", "a\u2028b", "a\u202eb", " a", "a ", "\xff", "a\x1b[2J", strings.Repeat("a", 256),
}

func TestNamesOfFiles(t *testing.T) {
	for _, name := range []string{"a", "touchdown-enp1s0.100.nmconnection", ".hidden", "B\u00fcro 2", "reg.example:5000", strings.Repeat("a", 255)} {
		if err := host.FileName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range hostileNames {
		if host.FileName(name) == nil {
			t.Errorf("%q is taken for a file name", name)
		}
	}
}

// TestAFolderKeepsToItself: whatever a file is called, nothing outside of its folder is read, written or removed.
func TestAFolderKeepsToItself(t *testing.T) {
	m := hosttest.New(t)
	m.File("/etc/folder/own", "own")
	m.File("/etc/secret", "secret")
	for link, to := range map[string]string{"up": "../secret", "far": m.Path("/etc/secret")} {
		if err := os.Symlink(to, m.Path("/etc/folder/"+link)); err != nil {
			t.Fatal(err)
		}
	}
	f := m.Folder("/etc/folder")
	names, err := f.Names()
	if err != nil || !slices.Equal(names, []string{"own"}) {
		t.Errorf("its files are %q (%v)", names, err)
	}
	for _, name := range append([]string{"up", "far"}, hostileNames...) {
		if b, err := f.ReadFile(name); err == nil {
			t.Errorf("%q: read %q", name, b)
		}
		_ = f.WriteFiles(host.File{Path: name, Data: []byte("x"), Perm: 0o600})
		_ = f.Remove(name)
		if _, err := f.Below(name); err == nil && name != "up" && name != "far" {
			t.Errorf("%q: is taken for a folder below", name)
		}
	}
	var left []string
	_ = filepath.WalkDir(m.Path("/etc"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			left = append(left, strings.TrimPrefix(path, m.Path("/etc")))
		}
		return err
	})
	if want := []string{"/folder/own", "/secret"}; !slices.Equal(left, want) || m.Content("/etc/secret") != "secret" {
		t.Errorf("left are %q, want %q; the file outside holds %q", left, want, m.Content("/etc/secret"))
	}
}

func TestPathsLeadDownOnly(t *testing.T) {
	m := hosttest.New(t)
	m.File("/etc/other", "other")
	for _, path := range []string{"/etc/folder/../other", "etc/other", "/etc//other", "/etc/other/", ""} {
		if m.WriteFile(path, nil, 0o600) == nil || m.Remove(path) == nil || m.WriteFiles(host.File{Path: path}) == nil {
			t.Errorf("%q is opened", path)
		}
	}
	if m.Content("/etc/other") != "other" {
		t.Error("a file elsewhere was changed")
	}
}

// TestAFolderThatIsNone: without the folder there are no files, and a file in its place is an error that names the path on the machine.
func TestAFolderThatIsNone(t *testing.T) {
	m := hosttest.New(t)
	m.File("/etc/file", "x")
	if names, err := m.Folder("/etc/none").Names(); len(names) != 0 || err != nil {
		t.Errorf("without the folder: %q, %v", names, err)
	}
	if _, err := m.Folder("/etc/none").ReadFile("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the folder: %v", err)
	}
	if err := m.Folder("/etc/none").Remove("a"); err != nil {
		t.Errorf("without the folder: %v", err)
	}
	f := m.Folder("/etc/file")
	_, listed := f.Names()
	_, read := f.ReadFile("a")
	for what, err := range map[string]error{"listed": listed, "read": read, "written": f.WriteFiles(host.File{Path: "a"}), "removed": f.Remove("a")} {
		if err == nil || strings.Contains(err.Error(), m.Root()) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
