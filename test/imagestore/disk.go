package imagestore

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/test/wait"
)

// apart is set in the process that runs the tests in its own mount namespace.
const apart = "TOUCHDOWN_TEST_APART"

// Main runs a package's tests in their own mount namespace, so that no disk of theirs is left behind, whatever
// happens. It stands in for TestMain's m.Run.
func Main(m *testing.M) int {
	if code, done := Apart(); done {
		return code
	}
	return m.Run()
}

// Apart runs this program once more, in its own mount namespace, to its end. There, and without root, done is false.
func Apart() (code int, done bool) {
	if os.Geteuid() != 0 || os.Getenv(apart) != "" {
		return 0, false
	}
	runtime.LockOSThread() // the child dies with the thread that started it
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), apart+"=yes")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "in its own mount namespace:", err)
		return 1, true
	}
	return 0, true
}

// T is what a disk needs of a test, or of a measurement.
type T interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	TempDir() string
	Cleanup(f func())
}

// Disk is a separate file system on a file.
type Disk struct {
	Dir string // where it is mounted

	t      T
	file   string
	device string
}

// NewDisk makes and mounts a disk: "xfs" shares blocks, "ext4" does not. The file is sparse. Without root or tools the
// test ends as with wait.Unable.
func NewDisk(t T, kind string, size int64) *Disk {
	t.Helper()
	missing := ""
	if os.Getenv(apart) == "" {
		missing = "not root"
	}
	mkfs, err := exec.LookPath("mkfs." + kind)
	if err != nil {
		missing = err.Error()
	}
	if missing != "" {
		wait.Unable(t, "a separate disk cannot be made: %s", missing)
	}
	d := &Disk{t: t, Dir: filepath.Join(t.TempDir(), kind), file: filepath.Join(t.TempDir(), "disk")}
	f, err := os.Create(d.file)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.Truncate(d.file, size); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"-q", d.file}
	if kind == "xfs" {
		args = []string{"-q", "-m", "reflink=1", d.file}
	}
	d.do(mkfs, args...)
	d.do("mount", "--make-rprivate", "/")
	d.Mount()
	t.Cleanup(func() { _ = exec.Command("umount", "-l", d.Dir).Run() })
	return d
}

// Mount mounts the disk. Its file is read around the memory's cache where that can be had, so that what is cold is cold.
// The loop device goes with the mount.
func (d *Disk) Mount() {
	d.t.Helper()
	out, err := exec.Command("losetup", "-f", "--show", "--direct-io=on", d.file).Output()
	if err != nil {
		if out, err = exec.Command("losetup", "-f", "--show", d.file).Output(); err != nil {
			d.t.Fatalf("losetup: %v", err)
		}
	}
	d.device = strings.TrimSpace(string(out))
	defer d.do("losetup", "-d", d.device)
	d.do("mount", d.device, d.Dir)
}

// Written is how many bytes were written to the disk since it was mounted, at least.
func (d *Disk) Written() int64 {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(d.device), "stat"))
	fields := strings.Fields(string(data))
	if err != nil || len(fields) < 7 {
		d.t.Fatalf("reading what was written: %v, %q", err, data)
	}
	sectors, err := strconv.ParseInt(fields[6], 10, 64)
	if err != nil {
		d.t.Fatalf("reading what was written: %v", err)
	}
	return sectors * 512
}

// Unmount unmounts it.
func (d *Disk) Unmount() { d.t.Helper(); d.do("umount", d.Dir) }

// Cold makes what is on the disk forgotten by the memory.
func (d *Disk) Cold() { d.t.Helper(); d.Unmount(); d.Mount() }

// Cut takes the power away from a disk of XFS: what was not synced is lost. With the log flushed, names may outlive their
// data. The disk is mounted again.
func (d *Disk) Cut(flush bool) {
	d.t.Helper()
	command := "shutdown"
	if flush {
		command = "shutdown -f"
	}
	d.do("xfs_io", "-x", "-c", command, d.Dir)
	d.Cold()
}

// Trim gives back to the file's own file system what was removed from the disk.
func (d *Disk) Trim() { d.t.Helper(); d.do("fstrim", d.Dir) }

// WaitIdle waits, 20 seconds at most, until the machine's disks do nothing any more: what a file system frees, it goes on freeing after sync.
func (d *Disk) WaitIdle() {
	d.t.Helper()
	unix.Sync()
	last, quiet := []byte(nil), 0
	// No event says that nothing follows: two seconds of quiet do. On a machine that others use it is never quiet.
	for end := time.Now().Add(20 * time.Second); quiet < 4 && time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		now, err := os.ReadFile("/proc/diskstats")
		if err != nil {
			d.t.Fatalf("reading what the disks do: %v", err)
		}
		if quiet++; !bytes.Equal(now, last) {
			quiet = 0
		}
		last = now
	}
}

// Save keeps the disk as it is now.
func (d *Disk) Save() {
	d.t.Helper()
	d.Unmount()
	d.do("cp", "--sparse=always", d.file, d.file+".saved")
	d.Mount()
}

// Restore puts back what Save kept.
func (d *Disk) Restore() {
	d.t.Helper()
	d.Unmount()
	d.do("cp", "--sparse=always", d.file+".saved", d.file)
	d.Mount()
}

func (d *Disk) do(name string, args ...string) {
	d.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		d.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// NeedRoot ends a test that makes devices, or mounts, where wait.Unable does: without root, and outside Apart.
func NeedRoot(t testing.TB) {
	t.Helper()
	if os.Getenv(apart) == "" {
		wait.Unable(t, "not root")
	}
}
