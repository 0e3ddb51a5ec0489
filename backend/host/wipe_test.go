package host_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"touchdown/backend/host"
)

// TestWipe: what a secret's file held is overwritten, which a second name of it shows; a link is removed, and what it leads to stays.
func TestWipe(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("key"), []byte("hunter2"), 0o600), os.Link(at("key"), at("other")), os.WriteFile(at("mine"), []byte("mine"), 0o600),
		os.Symlink("mine", at("link")), os.Mkdir(at("folder"), 0o700), os.WriteFile(at("folder/file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"key", "key", "link", "never there"} { // safe to repeat
		if err := host.Wipe(at(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(at(name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if left, err := os.ReadFile(at("other")); err != nil || !bytes.Equal(left, make([]byte, len("hunter2"))) {
		t.Errorf("the content is left: %q, %v", left, err)
	}
	if left, err := os.ReadFile(at("mine")); err != nil || string(left) != "mine" {
		t.Errorf("a link was followed: %q, %v", left, err)
	}
	if err := host.Wipe(at("folder")); err == nil {
		t.Error("a folder with files in it counts as wiped")
	}
}
