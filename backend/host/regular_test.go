package host_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/test/wait"
)

// TestOnlyRegularFilesAreRead: a pipe without a writer keeps nobody waiting, and neither it nor a device is a file.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe, link, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "socket")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.Symlink("pipe", link)); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		t.Fatal(err)
	}
	m := host.Open(host.Options{})
	for _, path := range []string{pipe, link, socket, dir, "/dev/zero", "/dev/tty"} {
		for name, read := range map[string]func() error{
			"ReadFile":    func() error { _, err := m.ReadFile(path); return err },
			"ReadHead":    func() error { _, _, err := m.ReadHead(path, 10); return err },
			"ReadRegular": func() error { _, _, err := host.ReadRegular(path, 10); return err },
			"ReadBeneath": func() error { _, _, err := host.ReadBeneath(filepath.Dir(path), filepath.Base(path), 10); return err },
		} {
			done := make(chan error, 1)
			go func() { done <- read() }()
			select {
			case err := <-done:
				if err == nil || path != socket && path != "/dev/tty" && !errors.Is(err, host.ErrNotRegular) {
					t.Errorf("%s of %s: %v", name, path, err)
				}
			case <-time.After(wait.Timeout(5 * time.Second)):
				t.Fatalf("%s of %s waits", name, path)
			}
		}
	}
}

// TestReadsAreBounded: a file larger than any of ours is refused before it fills the memory. Those of the kernel say that they have
// 0 bytes, and are read.
func TestReadsAreBounded(t *testing.T) {
	m, large := host.Open(host.Options{}), filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for size, fits := range map[int64]bool{host.MaxFile: true, host.MaxFile + 1: false, 1 << 40: false} {
		if err := os.Truncate(large, size); err != nil {
			t.Fatal(err)
		}
		if _, err := m.ReadFile(large); (err == nil) != fits {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if head, whole, err := m.ReadHead(large, 5); len(head) != 5 || whole || err != nil {
		t.Errorf("the head is %q, all of it: %v, %v", head, whole, err)
	}
	for _, path := range []string{"/proc/self/status", "/proc/self/mountinfo", "/proc/sys/kernel/hostname", "/sys/class/net/lo/mtu"} {
		if data, err := m.ReadFile(path); err != nil || len(data) == 0 {
			t.Errorf("%s: %d bytes, %v", path, len(data), err)
		}
	}
	if _, err := m.ReadFile(large + "r"); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), large) != 1 {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestReadBeneathStaysThere: no link and no dots lead out of the folder.
func TestReadBeneathStaysThere(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := errors.Join(os.Mkdir(in, 0o700), os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600), os.WriteFile(filepath.Join(in, "file"), []byte("y"), 0o600),
		os.Symlink("../secret", filepath.Join(in, "out")), os.Symlink("file", filepath.Join(in, "stay")), os.Symlink(dir, filepath.Join(in, "up"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"file": "y", "stay": "y", "out": "", "up/secret": "", "../secret": "", "/etc/passwd": ""} {
		if data, _, err := host.ReadBeneath(in, name, 10); string(data) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]error{"pipe": unix.ENOTDIR, "secret": unix.ENOTDIR, "none": fs.ErrNotExist} {
		if _, _, err := host.ReadBeneath(filepath.Join(dir, folder), "file", 10); !errors.Is(err, want) {
			t.Errorf("in %s: %v", folder, err)
		}
	}
}

// TestTheEndOfALog: of a log that never ends its last bytes are read; a pipe in its place keeps nobody waiting, and an error does not name
// the root of a test.
func TestTheEndOfALog(t *testing.T) {
	m := hosttest.New(t)
	m.File("/var/log/pods/one.log", "first\nsecond\nlast\n")
	for limit, want := range map[int64]string{5: "last\n", 18: "first\nsecond\nlast\n", 1 << 20: "first\nsecond\nlast\n"} {
		if tail, err := host.ReadTail(m.Machine, "/var/log/pods/one.log", limit); err != nil || string(tail) != want {
			t.Errorf("the last %d bytes are %q, %v", limit, tail, err)
		}
	}
	if err := os.Symlink("/var/log/pods/one.log", m.Path("/var/log/newest")); err != nil {
		t.Fatal(err)
	}
	if tail, err := host.ReadTail(m.Machine, "/var/log/newest", 5); err != nil || string(tail) != "last\n" {
		t.Errorf("along a link: %q, %v", tail, err)
	}
	if err := unix.Mkfifo(m.Path("/var/log/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{"/var/log/pipe": host.ErrNotRegular, "/var/log": host.ErrNotRegular, "/var/log/none": fs.ErrNotExist} {
		if _, err := host.ReadTail(m.Machine, path, 5); !errors.Is(err, want) || strings.Contains(err.Error(), m.Root()) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
