package transcript_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/layout"
	"touchdown/steps/transcript"
	"touchdown/test/wait"
)

var at = func() time.Time { return time.Date(2026, 11, 26, 16, 0, 0, 0, time.UTC) }

// TestItOutlivesTheEngine: what was told stands in a file that only root reads, and another engine goes on behind it.
func TestItOutlivesTheEngine(t *testing.T) {
	dir := t.TempDir()
	transcript.Open(dir, at).Add("tty1", "page form\n  | a line\n")
	again := transcript.Open(dir, at)
	again.Add("ssh pts/3", "key Enter")
	want := "== 2026-11-26T16:00:00Z tty1\npage form\n  | a line\n== 2026-11-26T16:00:00Z ssh-pts/3\nkey Enter\n"
	if got := string(again.Read(1 << 20)); got != want {
		t.Errorf("%q", got)
	}
	if got := string(again.Read(20)); got != "key Enter\n" {
		t.Errorf("the end: %q", got)
	}
	info, err := os.Stat(filepath.Join(dir, layout.Transcript))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestItIsBounded: on the disk, in a record and in an hour, and it says what it leaves out.
func TestItIsBounded(t *testing.T) {
	dir := t.TempDir()
	log := transcript.Open(dir, at)
	log.Add("tty1", strings.Repeat("x", 100<<10))
	if got := string(log.Read(1 << 20)); len(got) > transcript.MostRecord+200 || !strings.Contains(got, "the rest is left out") {
		t.Errorf("%d bytes of one record", len(got))
	}
	for n := range 400 {
		log.Add("tty1", fmt.Sprintf("record %d %s", n, strings.Repeat("x", 10<<10)))
	}
	size := 0
	for _, name := range []string{layout.Transcript, layout.EarlierTranscript} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		size += int(info.Size())
	}
	got := string(log.Read(4 << 20))
	if size > 1<<20 || !strings.HasSuffix(got, "too much in one hour; the rest of it is left out\n") || strings.Contains(got, "record 399 ") {
		t.Errorf("%d bytes, the end %q", size, got[len(got)-100:])
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("%d files", len(entries))
	}
}

// TestADiskThatTakesNothing: keeps the end in memory, and the disk gets it when it takes it again.
func TestADiskThatTakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	log := transcript.Open(dir, at) // the folder is not there: root writes wherever there is one
	for n := range 100 {
		log.Add("tty1", fmt.Sprintf("record %d %s", n, strings.Repeat("x", 5<<10)))
	}
	if got := string(log.Read(1 << 20)); len(got) > 128<<10 || !strings.Contains(got, "record 99 ") {
		t.Errorf("%d bytes in memory", len(got))
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log.Add("tty1", "there is room")
	got := string(transcript.Files(dir))
	if !strings.Contains(got, "record 99 ") || !strings.HasSuffix(got, "there is room\n") || got != string(log.Read(1<<20)) {
		t.Errorf("%d bytes on the disk", len(got))
	}
}

// TestAFullDisk: keeps it in memory, and no half record is left behind.
func TestAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		wait.Unable(t, "a small disk needs root: %v", err)
	}
	defer func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }()
	log := transcript.Open(dir, at)
	log.Add("tty1", "before")
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	for n := range 20 {
		log.Add("tty1", fmt.Sprintf("record %d %s", n, strings.Repeat("x", 3<<10)))
	}
	if got := string(log.Read(1 << 20)); !strings.Contains(got, "before") || !strings.Contains(got, "record 19 ") || strings.Count(got, "record 0 ") != 1 {
		t.Errorf("%d bytes with a full disk", len(got))
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	log.Add("tty1", "after")
	got := string(transcript.Files(dir))
	for n := range 20 {
		if strings.Count(got, fmt.Sprintf("record %d ", n)) != 1 {
			t.Errorf("record %d is there %d times", n, strings.Count(got, fmt.Sprintf("record %d ", n)))
		}
	}
}

// TestInItsPlaceIsNoFile: a link, a pipe or a folder is neither followed nor waited for.
func TestInItsPlaceIsNoFile(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Symlink(other, filepath.Join(dir, layout.Transcript)); err != nil {
		t.Fatal(err)
	}
	log := transcript.Open(dir, at)
	log.Add("tty1", "a line")
	if _, err := os.Stat(other); err == nil {
		t.Error("a link was followed")
	}
	if got := string(log.Read(1 << 20)); !strings.Contains(got, "a line") {
		t.Errorf("%q", got)
	}
}
