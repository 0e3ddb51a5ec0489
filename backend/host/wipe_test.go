package host

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestWipeOverwrites: what another name of the same blocks shows is zeros, also of a file that is larger than what is written at once. A link
// goes, and what it leads to stays.
func TestWipeOverwrites(t *testing.T) {
	in := filepath.Join(t.TempDir(), "f")
	for _, size := range []int{0, 5, 1 << 20, 3<<20 + 5} {
		if err := errors.Join(os.WriteFile(in, bytes.Repeat([]byte{7}, size), 0o600), os.Link(in, in+"2"), Wipe(in)); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadFile(in + "2")
		if err != nil || len(left) != size || bytes.Count(left, []byte{0}) != size {
			t.Errorf("%d bytes: %d are left, %v", size, len(left)-bytes.Count(left, []byte{0}), err)
		}
		if err := errors.Join(os.Remove(in+"2"), Wipe(in)); err != nil { // which is not there any more
			t.Error(err)
		}
	}
	if err := errors.Join(os.WriteFile(in, []byte("kept"), 0o600), os.Symlink(in, in+"3"), Wipe(in+"3")); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadFile(in); err != nil || string(left) != "kept" {
		t.Errorf("%q, %v", left, err)
	}
}
