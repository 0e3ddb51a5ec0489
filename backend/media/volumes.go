package media

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
)

// maxVolumes is how many volumes are looked at. Chosen: a machine has a handful of sockets, and a disk of several partitions in each.
const maxVolumes = 32

// device is a block device on which a medium may be: a disk that can be pulled out, as a stick or what a service processor shows as
// a CD, or a partition of one. The disks of the machine itself are never read.
type device struct {
	name string // "sdb1"
	path string // where its file lies for this process
	is   string // another text for another disk, or another medium in the drive
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
		if found && len(all) < maxVolumes {
			all = append(all, d)
		}
	}
	return all, nil
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
	return device{
		name: name, path: m.Path("/dev/" + strings.ReplaceAll(name, "!", "/")), // the kernel's way to write a slash in a name
		is: fmt.Sprint(name, " ", numbers, " ", size, " ", attribute(dir, "diskseq")),
	}, true
}
