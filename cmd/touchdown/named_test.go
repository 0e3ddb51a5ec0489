package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/check"
	"touchdown/backend/envelope"
)

// TestWhatIsNoFileIsNotReplaced: under the name of a pipe, a folder or a device no command that writes a file puts one; root would lose
// /dev/null so. A file is replaced, and so is a link to one, along which nothing is written.
func TestWhatIsNoFileIsNotReplaced(t *testing.T) {
	key, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(t.TempDir(), "report.signed.json")
	write(t, report, siteReport("SN-1", check.Pass), key)
	for what, line := range map[string]struct {
		words []string
		says  string
	}{
		"export":    {[]string{"report", "export", report, "--format", "csv", "--out"}, "leave --out away for standard output"},
		"inventory": {[]string{"inventory", "--snapshot"}, "--snapshot"},
		"login":     {[]string{"credentials", "--out"}, "leave --out away for this terminal"},
		"revoked":   {[]string{"media", "revoke", "0123456789abcdef", "--list"}, "not a regular file"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			if err := errors.Join(
				unix.Mkfifo(in("pipe"), 0o600), os.Mkdir(in("folder"), 0o700), os.Symlink("pipe", in("link")), os.Symlink("/dev/null", in("null")),
				os.WriteFile(in("file"), nil, 0o644), os.Symlink("file", in("good")),
			); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"pipe", "folder", "link", "null"} {
				before, err := os.Lstat(in(name))
				if err != nil {
					t.Fatal(err)
				}
				var out bytes.Buffer
				code, said := served(t, &counter{}, &out, append(line.words, in(name))...)
				after, err := os.Lstat(in(name))
				if code != exitUsage || !strings.Contains(said, line.says) || !strings.Contains(said, "regular file") || err != nil || !os.SameFile(before, after) {
					t.Errorf("%s: exit %d, %v: %s", name, code, err, said)
				}
			}
			for _, name := range []string{"good", "file", "new"} {
				code, said := served(t, &counter{}, &bytes.Buffer{}, append(line.words, in(name))...)
				if info, err := os.Lstat(in(name)); code != exitOK || err != nil || !info.Mode().IsRegular() {
					t.Errorf("%s: exit %d, %v: %s", name, code, err, said)
				}
			}
		})
	}
}

// TestStandardOutputIsNoFile: /dev/stdout is a link in a folder of the kernel, which leads to a regular file where a shell put one there.
func TestStandardOutputIsNoFile(t *testing.T) {
	t.Chdir("/proc/self/fd")
	for _, name := range []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "1", "/dev/null"} {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s is not there", name)
		}
		if err := (named{flag: "out", file: name}).mayWrite(); err == nil {
			t.Errorf("%s can be written as a file", name)
		}
	}
	if err := (named{flag: "out", file: "/dev/shm/touchdown-none"}).mayWrite(); err != nil {
		t.Error(err)
	}
}
