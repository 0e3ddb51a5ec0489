package envelope

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
)

// TestASecretIsOfItsOwner: whoever else may do anything with the file, it is refused; through a link the file behind it counts.
func TestASecretIsOfItsOwner(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "key"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("secret"), 0o600), os.Symlink("key", link)); err != nil {
		t.Fatal(err)
	}
	for mode, ours := range map[fs.FileMode]bool{0o600: true, 0o400: true, 0o700: true, 0o640: false, 0o604: false, 0o610: false, 0o602: false} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{file, link} {
			if text, err := ReadSecret(path, 6); errors.Is(err, ErrOthersMayRead) == ours || (err == nil) != ours || ours && string(text) != "secret" {
				t.Errorf("%o: %q, %v", mode, text, err)
			}
		}
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadSecret(file, 5); err == nil || text != nil {
		t.Errorf("a file that is too large: %q, %v", text, err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir, "/dev/zero"} { // a pipe that nobody writes to keeps nobody waiting
		if _, err := ReadSecret(path, 5); !errors.Is(err, host.ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
