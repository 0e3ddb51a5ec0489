package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestStreams: a regular file is read wherever it lies, and what a process has open is not taken for one, wherever it leads.
func TestStreams(t *testing.T) {
	dir := t.TempDir()
	inMemory, err := os.CreateTemp("/dev/shm", "touchdown-*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(inMemory.Name()) })
	t.Cleanup(func() { inMemory.Close() })
	open := fmt.Sprintf("/dev/fd/%d", inMemory.Fd()) // leads to a regular file
	link := filepath.Join(dir, "site.yaml")
	if err := os.Symlink(inMemory.Name(), link); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{
		inMemory.Name(): false, link: false, dir: false, filepath.Join(dir, "none"): false,
		"/dev/null": true, "/dev/stdin": true, "/dev/fd/0": true, open: true, "/dev/../dev//stdin": true,
	} {
		if stream(file) != want {
			t.Errorf("%s: %t, want %t", file, !want, want)
		}
	}
}
