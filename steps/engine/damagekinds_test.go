package engine

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/test/rounds"
)

// worked is how much time of a processor this process has used.
func worked() time.Duration {
	var use unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// room mounts a small disk for some rounds, where the process has a private mount namespace. The disk is full or read-only when
// the engine starts; free makes room again.
func (d *damaged) room(base string) (free func()) {
	free = func() {}
	if os.Getenv(rounds.OwnMounts) == "" || !d.r.Chance(5) {
		return free
	}
	must(d.t, unix.Mount("tmpfs", base, "tmpfs", 0, "size=512k"))
	mounted := true
	d.t.Cleanup(func() { _ = unix.Unmount(base, unix.MNT_DETACH) })
	readOnly, left := d.r.Chance(3), d.r.IntN(12)*4096
	d.how = fmt.Sprintf("full with %d bytes left; ", left)
	if readOnly {
		d.how = "read-only; "
	}
	d.tight = func() {
		if readOnly {
			must(d.t, unix.Mount("", base, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
			return
		}
		ballast(d, filepath.Join(base, "ballast"), left)
	}
	return func() {
		if mounted {
			mounted = false
			must(d.t, unix.Mount("", base, "", unix.MS_REMOUNT, ""))
			_ = os.Remove(filepath.Join(base, "ballast"))
		}
	}
}

// ballast fills the disk but for some bytes.
func ballast(d *damaged, path string, left int) {
	f, err := os.Create(path)
	must(d.t, err)
	defer f.Close()
	size := int64(0)
	for page := make([]byte, 4096); ; size += 4096 {
		if _, err := f.Write(page); err != nil {
			break
		}
	}
	must(d.t, f.Truncate(max(0, size-int64(left))))
}

// damage hurts one file, or a folder, or two files by swapping them.
func (d *damaged) damage() {
	names := append(slices.Sorted(maps.Keys(d.files)), "secrets", "saved", "journal.jsonl", "journal.jsonl")
	name := rounds.One(d.r, names...)
	d.hurt = []string{name}
	path := filepath.Join(d.rig.dir, name)
	what := rounds.One(d.r, "cut", "flipped", "emptied", "swapped", "garbage", "longer", "older", "removed", "fifo", "link", "folder", "device", "unhurt")
	if _, folder := d.files[name]; !folder && what != "fifo" && what != "link" {
		what = "removed"
	}
	d.how += what + " " + name
	if content, ok := d.content(what, name); ok {
		must(d.t, os.WriteFile(path, content, 0o600))
	} else if what != "unhurt" && what != "swapped" {
		must(d.t, os.RemoveAll(path))
		d.inPlace(what, path)
	}
	d.hurt = slices.DeleteFunc(d.hurt, d.same)
	if d.tight != nil {
		d.tight()
	}
}

// content is what a damaged file holds, or false where it is none any more.
func (d *damaged) content(what, name string) ([]byte, bool) {
	data := bytes.Clone(d.files[name])
	switch what {
	case "cut":
		return data[:d.r.IntN(len(data)+1)], true
	case "flipped":
		for range min(len(data), 1+d.r.IntN(3)) {
			data[d.r.IntN(len(data))] ^= 1 << d.r.IntN(8)
		}
		return data, true
	case "emptied":
		return nil, true
	case "garbage":
		for i := range data {
			data[i] = byte(d.r.IntN(256))
		}
		return data, true
	case "longer":
		return append(data, strings.Repeat("\x00{}\n", 1+d.r.IntN(9000))...), true
	case "swapped":
		other := rounds.One(d.r, slices.Sorted(maps.Keys(d.files))...)
		d.hurt, d.how = append(d.hurt, other), d.how+" with "+other
		must(d.t, os.WriteFile(filepath.Join(d.rig.dir, other), data, 0o600))
		return d.files[other], true
	case "older":
		return data[:bytes.LastIndexByte(data[:max(0, len(data)-1)], '\n')+1], true
	}
	return nil, false
}

// inPlace puts something that is not a file in the place of one.
func (d *damaged) inPlace(what, path string) {
	switch what {
	case "fifo":
		must(d.t, syscall.Mkfifo(path, 0o600))
	case "link":
		must(d.t, os.Symlink(rounds.One(d.r, "/dev/zero", "nowhere", filepath.Base(path), "/etc/hostname", "journal.jsonl"), path))
	case "folder":
		must(d.t, os.MkdirAll(filepath.Join(path, rounds.One(d.r, "", "in", "in/it")), 0o700))
	case "device":
		if unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, uint32(rounds.One(d.r, 3, 5, 7))))) != nil { // null, zero, full; not allowed to all
			must(d.t, syscall.Mkfifo(path, 0o600))
		}
	}
}

// same tells whether a file is what it was.
func (d *damaged) same(name string) bool {
	was, file := d.files[name]
	if !file {
		info, err := os.Lstat(filepath.Join(d.rig.dir, name))
		return err == nil && info.IsDir()
	}
	info, err := os.Lstat(filepath.Join(d.rig.dir, name))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	now, err := os.ReadFile(filepath.Join(d.rig.dir, name))
	return err == nil && bytes.Equal(now, was)
}
