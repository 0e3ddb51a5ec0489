package media

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Limits bound what one look reads, so that no stick, however it was made, keeps the others from being read.
type Limits struct {
	Disks   int
	Volumes int           // of one disk: the disk itself, and its partitions
	Time    time.Duration // for all volumes of one disk
	Bytes   int64         // of one disk: when they are read, no further volume of the disk is begun
}

// looks are the limits of a node. Chosen: a machine has a handful of sockets, with a disk of a few partitions in each; a medium with the
// largest site config is read in 2 MiB and less than a second.
var looks = Limits{Disks: 16, Volumes: 8, Time: readerTime, Bytes: unknownBytes}

// unknownBytes counts for a reader that did not tell how much it read: all that one disk may cost.
const unknownBytes = 64 << 20

// device is a block device on which a medium may be: a disk that can be pulled out, as a stick or what a service processor shows as
// a CD, or a partition of one. The disks of the machine itself are never read.
type device struct {
	name string // "sdb1"
	path string // where its file lies for this process
	is   string // another text for another disk, or another medium in the drive
	disk string // the disk that it is, or is a part of: "sdb"
}

// devices lists them, sorted by name.
func devices(m *host.Machine) ([]device, error) {
	sys := m.Path("/sys")
	entries, err := os.ReadDir(filepath.Join(sys, "class/block"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the disks: %w", err)
	}
	var all []device
	for _, e := range entries {
		d, found := deviceOf(m, sys, e.Name())
		if found {
			all = append(all, d)
		}
	}
	return all, nil
}

// byDisk are the devices of each disk, sorted by the names of the disks.
func byDisk(all []device) [][]device {
	of := map[string][]device{}
	for _, d := range all {
		of[d.disk] = append(of[d.disk], d)
	}
	var disks [][]device
	for _, disk := range slices.Sorted(maps.Keys(of)) {
		disks = append(disks, of[disk])
	}
	return disks
}

// deviceOf reads what sysfs tells of a device, and whether a medium may be in it.
func deviceOf(m *host.Machine, sys, name string) (device, bool) {
	dir := filepath.Join(sys, "class/block", name)
	numbers := attribute(dir, "dev")
	major, minor, _ := strings.Cut(numbers, ":")
	high, badHigh := strconv.ParseUint(major, 10, 32)
	low, badLow := strconv.ParseUint(minor, 10, 32)
	size, badSize := strconv.ParseUint(attribute(dir, "size"), 10, 54)
	if badHigh != nil || badLow != nil || badSize != nil || size == 0 { // a drive without a medium has no size
		return device{}, false
	}
	if !diskOf(sys, unix.Mkdev(uint32(high), uint32(low))).loose {
		return device{}, false
	}
	disk := name
	if real, err := filepath.EvalSymlinks(dir); err == nil && attribute(dir, "partition") != "" {
		disk = filepath.Base(filepath.Dir(real))
	}
	return device{
		name: name, disk: disk, path: m.Path("/dev/" + strings.ReplaceAll(name, "!", "/")), // the kernel's way to write a slash in a name
		is: fmt.Sprint(name, " ", numbers, " ", size, " ", attribute(dir, "diskseq")),
	}, true
}

// each has the devices read, those of each disk within what one disk may cost: read returns how many bytes it read. It tells of how many
// volumes of a disk were left out.
func (w *Watcher) each(all []device, read func(d device, within time.Duration) int64, leftOut func(disk string, volumes int)) {
	for n, disk := range byDisk(all) {
		until, left := time.Now().Add(w.Limits.Time), w.Limits.Bytes
		for i, d := range disk {
			within := time.Until(until)
			if n >= w.Limits.Disks || i >= w.Limits.Volumes || left <= 0 || within <= 0 {
				leftOut(d.disk, len(disk)-i)
				break
			}
			left -= read(d, within)
		}
	}
}

// unreadOf tells of a disk that it has more than is read of one.
func unreadOf(disk string, volumes int) *Medium {
	return &Medium{Device: disk, Refused: &problem.Problem{
		Code: "MED-UNRD", Summary: message.F("%d volumes of the disk %s were not read: there are too many, or reading the others took too long.", volumes, disk),
		Fix: message.T("Use a stick with one volume, as touchdown media write makes it."),
	}}
}

// Unreadable are the drives for media that cannot be read, with the reason: what is on them is not known, and counts nothing for a node.
func Unreadable(ctx context.Context, m *host.Machine) ([]*Medium, error) {
	all, err := devices(m)
	if err != nil {
		return nil, err
	}
	w := NewWatcher(m)
	var found []*Medium
	w.each(all, func(d device, within time.Duration) int64 {
		_, bytes, err := inspectAt(ctx, d.path, within, wants{})
		if f := (&Medium{Device: d.name}); err != nil {
			f.Refused = problem.From(err)
			if f.Unread() || slices.Contains(silentDrive, f.Refused.Code) {
				found = append(found, f)
			}
		}
		return bytes
	}, func(string, int) {})
	return found, context.Cause(ctx)
}

// silentDrive are the problems of a drive that has a size and gives nothing.
var silentDrive = []string{"MED-BLNK", "MED-DEAD"}
