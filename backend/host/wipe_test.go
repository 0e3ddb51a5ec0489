package host_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"touchdown/backend/host"
)

// TestWipe: what another name of the same blocks shows is zeros, also of a file that is larger than what is written at once.
func TestWipe(t *testing.T) {
	in := filepath.Join(t.TempDir(), "key")
	for _, size := range []int{0, 5, 1 << 20, 3<<20 + 5} {
		if err := errors.Join(os.WriteFile(in, bytes.Repeat([]byte{7}, size), 0o600), os.Link(in, in+"2"), host.Wipe(t.Context(), in)); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadFile(in + "2")
		if err != nil || len(left) != size || bytes.Count(left, []byte{0}) != size {
			t.Errorf("%d bytes: %d are left, %v", size, len(left)-bytes.Count(left, []byte{0}), err)
		}
		if _, err := os.Lstat(in); err == nil {
			t.Error("the file is still there")
		}
		if err := errors.Join(os.Remove(in+"2"), host.Wipe(t.Context(), in)); err != nil { // which is not there any more
			t.Error(err)
		}
	}
}

// TestWipeOfOthers: a link is removed, and what it leads to stays; a folder with files in it does not count as wiped.
func TestWipeOfOthers(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("mine"), []byte("mine"), 0o600), os.Symlink("mine", at("link")), os.Mkdir(at("folder"), 0o700),
		os.WriteFile(at("folder/file"), nil, 0o600), host.Wipe(t.Context(), at("link"))); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(at("link")); err == nil {
		t.Error("the link is still there")
	}
	if left, err := os.ReadFile(at("mine")); err != nil || string(left) != "mine" {
		t.Errorf("a link was followed: %q, %v", left, err)
	}
	if err := host.Wipe(t.Context(), at("folder")); err == nil {
		t.Error("a folder with files in it counts as wiped")
	}
}

// short is a context that ends when it has been asked so many times.
type short struct {
	context.Context //nolint:containedctx // it is a context
	left            int
}

func (s *short) Err() error {
	if s.left--; s.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestAHugeFileIsWipedInParts: an engine that has to stop leaves it in the middle, shorter each time, until it is gone.
func TestAHugeFileIsWipedInParts(t *testing.T) {
	in := filepath.Join(t.TempDir(), "backup")
	const size = 80 << 20
	if err := errors.Join(os.WriteFile(in, []byte("a secret"), 0o600), os.Truncate(in, size)); err != nil {
		t.Fatal(err)
	}
	before := int64(size)
	for range 2 {
		err := host.Wipe(&short{t.Context(), 1}, in)
		info, gone := os.Stat(in)
		if !errors.Is(err, context.Canceled) || gone != nil || info.Size() >= before {
			t.Fatalf("%v: %v, %d bytes are left of %d", err, gone, info.Size(), before)
		}
		before = info.Size()
	}
	if start, err := os.ReadFile(in); err != nil || !bytes.HasPrefix(start, []byte("a secret")) {
		t.Errorf("what was not wiped yet begins with %.8q, %v", start, err)
	}
	if err := host.Wipe(t.Context(), in); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(in); err == nil {
		t.Error("the file is still there")
	}
}
