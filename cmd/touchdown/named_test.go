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
	"touchdown/test/wait"
)

// TestWhatIsNoFileIsNotReplaced: under the name of a pipe, a folder or a device no command that writes a file puts one; root would lose
// /dev/null so. A file that is there stays too, and so does one behind a link: it may be a key. Only the list of revoked keys is one that grows.
func TestWhatIsNoFileIsNotReplaced(t *testing.T) {
	key, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(t.TempDir(), "report.signed.json")
	write(t, report, siteReport("SN-1", check.Pass), key)
	for what, line := range map[string]struct {
		words    []string
		says     string
		replaces bool
	}{
		"export":    {[]string{"report", "export", report, "--format", "csv", "--out"}, "leave --out away for standard output", false},
		"inventory": {[]string{"inventory", "--snapshot"}, "--snapshot", false},
		"login":     {[]string{"credentials", "--out"}, "leave --out away for this terminal", false},
		"revoked":   {[]string{"media", "revoke", "0123456789abcdef", "--list"}, "not a regular file", true},
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
				if name != "new" && !line.replaces {
					if text, err := os.ReadFile(in(name)); code != exitUsage || !strings.Contains(said, "is there already") || err != nil || len(text) > 0 {
						t.Errorf("%s: exit %d, %v, now %q: %s", name, code, err, text, said)
					}
					continue
				}
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

// TestAMediumIsNotWrittenOverItsOwnKey: --force is for what a stick holds, and a mistyped TARGET may be any file of the command line.
func TestAMediumIsNotWrittenOverItsOwnKey(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"key": "the key", "site.yaml": "the site", "list": ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("key", "link"); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"key", "./key", "link", "site.yaml", "list", "./new"} {
		code, said := served(t, &counter{}, &bytes.Buffer{}, "media", "write", "-f", "site.yaml", "--serial", "SN1", "--key", "key", "--revoked", "list",
			"--new-passphrase", "new", "--force", target)
		if code != exitUsage || !strings.Contains(said, "name another TARGET") {
			t.Errorf("%s: exit %d: %s", target, code, said)
		}
	}
	if text, err := os.ReadFile("key"); err != nil || string(text) != "the key" {
		t.Errorf("the key is %q, %v", text, err)
	}
}

// TestManifestsComeTogether: a disk that is full leaves no part of them.
func TestManifestsComeTogether(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=12k"); err != nil {
		wait.Unable(t, "no small disk can be mounted: %v", err)
	}
	defer func() { _ = unix.Unmount(dir, 0) }()
	code, said := served(t, &counter{}, &bytes.Buffer{}, "factory", "bake", "--out", dir)
	left, err := os.ReadDir(dir)
	if code != exitFailed || !strings.Contains(said, "no space left") || err != nil || len(left) > 0 {
		t.Errorf("exit %d, left %v, %v: %s", code, left, err, said)
	}
}
