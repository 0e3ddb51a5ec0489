package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestReadGiven: a path that is typed at a console leads to files that people put there, and never to what only root may read.
func TestReadGiven(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "given")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file, long := filepath.Join(dir, "api.pem"), filepath.Join(dir, "long")
	must(t, os.WriteFile(file, []byte("content"), 0o600))
	must(t, os.WriteFile(long, make([]byte, longestGiven+1), 0o600))
	must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	must(t, os.Symlink("api.pem", filepath.Join(dir, "near")))
	for path, ok := range map[string]bool{
		file: true, filepath.Join(dir, "near"): true, filepath.Join(dir, ".", "x", "..", "api.pem"): true,
		"/etc/passwd": false, "/var/lib/touchdown/secrets/spec.pullSecret": false, "/tmp/../etc/passwd": false, filepath.Join(dir, "link"): false,
		long: false, dir: false, "/tmp": false, "/tmp/": false, "/tmpx": false, "/proc/self/environ": false, "/mnt/none": false, "api.pem": false,
	} {
		data, err := ReadGiven(path)
		if ok && (err != nil || string(data) != "content") || !ok && (!errors.Is(err, ErrInvalid) || len(data) > 0) {
			t.Errorf("%s: %q, %v", path, data, err)
		}
		if err != nil && strings.Contains(path, "/") && !strings.Contains(err.Error(), path) {
			t.Errorf("%s is not named: %v", path, err)
		}
	}
}
