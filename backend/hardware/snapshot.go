package hardware

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"touchdown/backend/host"
)

// A snapshot is a tar.gz of the files that the inventory is made from, at their paths, with links as links: the form that ghw's
// own snapshots have, which can be replayed too. One file more has what only the running machine could say.
const answersFile = "touchdown.json"

// kept are the files and folders of a snapshot. They are what the parts of the inventory read, and no more: no secret is in
// them, but serial numbers, addresses and the names of partitions are.
var kept = []string{
	"/proc/cpuinfo", "/proc/meminfo", "/proc/sys/kernel/hostname",
	"/sys/devices/system/cpu/cpu[0-9]*/online", "/sys/devices/system/cpu/cpu[0-9]*/topology/*", "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
	"/sys/devices/system/cpu/cpu[0-9]*/cache/index*/*", "/sys/devices/system/memory/block_size_bytes", "/sys/devices/system/memory/memory*/state",
	"/sys/devices/system/memory/memory*/online", "/sys/devices/system/node/node*/cpu[0-9]*", "/sys/devices/system/node/node*/distance",
	"/sys/devices/system/node/node*/meminfo", "/sys/devices/system/node/node*/memory[0-9]*", "/sys/devices/system/node/node*/hugepages/*/*",
	"/sys/kernel/mm/hugepages/*/*", "/sys/devices/system/edac/mc/mc*/mc_name", "/sys/devices/system/edac/mc/mc*/[cu]e_count",
	"/sys/block/*/size", "/sys/block/*/dev", "/sys/block/*/removable", "/sys/block/*/queue/rotational", "/sys/block/*/queue/physical_block_size",
	"/sys/block/*/device/vendor", "/sys/block/*/device/model", "/sys/block/*/device/rev", "/sys/block/*/device/firmware_rev", "/sys/block/*/dm/name", "/sys/block/*/slaves/*", "/sys/block/*/*/partition",
	"/sys/block/*/*/size", "/sys/block/*/*/dev", "/run/udev/data/b*",
	"/sys/class/net", "/sys/class/net/*/address", "/sys/class/net/*/addr_assign_type", "/sys/class/net/*/carrier", "/sys/class/net/*/operstate",
	"/sys/class/net/*/speed", "/sys/class/net/*/duplex", "/sys/class/net/*/mtu", "/sys/class/net/*/device/vendor", "/sys/class/net/*/device/device",
	"/sys/class/net/*/device/driver", "/sys/class/net/*/device/subsystem", "/sys/class/net/*/device/physfn",
	pciDevices, pciDevices + "/*/modalias", pciDevices + "/*/vendor", pciDevices + "/*/device", pciDevices + "/*/class", pciDevices + "/*/driver", pciDevices + "/*/physfn",
	"/sys/bus/usb/devices", "/sys/bus/usb/devices/*/idVendor", "/sys/bus/usb/devices/*/idProduct", "/sys/bus/usb/devices/*/manufacturer",
	"/sys/bus/usb/devices/*/product", "/sys/bus/usb/devices/*/serial", "/sys/bus/usb/devices/*/bDeviceClass",
	"/sys/class/dmi/id", "/sys/class/dmi/id/*", "/sys/firmware/devicetree/base/model", "/sys/firmware/devicetree/base/serial-number",
	dmiTables, "/sys/firmware", "/sys/firmware/efi", "/sys/firmware/efi/efivars", secureBootVariable, "/sys/class/tpm/tpm*/tpm_version_major", "/sys/class/tpm/tpm*/caps",
	"/sys/class/tpm/tpm*/device/vendor", "/sys/class/watchdog/*", "/sys/class/ipmi/*", "/sys/class/rtc/rtc0/since_epoch", "/sys/class/hwmon/hwmon*/name",
	"/sys/class/hwmon/hwmon*/temp*_input", "/sys/class/hwmon/hwmon*/temp*_label", "/sys/class/hwmon/hwmon*/temp*_max", "/sys/class/hwmon/hwmon*/temp*_crit",
}

const (
	mounts    = "/proc/self/mounts"
	dmiTables = "/sys/firmware/dmi/tables/DMI"
)

// The bounds of a snapshot, for whoever writes it and whoever reads it. A server with two sockets and 82 PCI devices has 3600
// entries and 0.3 MB.
const (
	maxEntries = 100_000
	maxContent = 1 << 20  // of one file: the firmware's tables
	maxAll     = 64 << 20 // of all files, unpacked
	maxPacked  = 16 << 20 // of the snapshot
	maxLinks   = 16       // one after the other, to the file that is meant
)

// Snapshot looks at the whole machine and packs what it looked at, so that Replay shows the same elsewhere.
func Snapshot(ctx context.Context, m *host.Machine, o Options, w io.Writer) (*Inventory, error) {
	o.All = true
	a := &asker{m: m}
	i := inspect(ctx, a, o)
	a.got.Format, a.got.Taken = answersFormat, i.Clock.System
	zip := gzip.NewWriter(w)
	p := &packer{m: m, files: tar.NewWriter(zip), at: a.got.Taken, seen: map[string]bool{}}
	if err := p.pack(a.got); err != nil {
		return nil, fmt.Errorf("packing the snapshot: %w", err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("packing the snapshot: %w", err)
	}
	return i, nil
}

// packer puts files into a snapshot, each once.
type packer struct {
	m     *host.Machine
	files *tar.Writer
	at    time.Time
	seen  map[string]bool
	bytes int
}

func (p *packer) pack(a answers) error {
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err //nolint:wrapcheck // it says what could not be encoded
	}
	if err := p.content("/"+answersFile, data); err != nil {
		return err
	}
	if data, err := p.m.ReadFile(mounts); err == nil {
		if err := p.content(mounts, disksOf(data)); err != nil {
			return err
		}
	}
	for _, pattern := range kept {
		found, err := p.m.Glob(pattern)
		if err != nil {
			return err
		}
		slices.Sort(found)
		for _, file := range found {
			if err := p.add(file, 0); err != nil {
				return err
			}
		}
	}
	return p.files.Close() //nolint:wrapcheck // of an archive in the caller's hands
}

// add puts a file into the snapshot, with every link on the way to it. What cannot be read, as a port's speed without a cable,
// is left out: its absence says the same.
func (p *packer) add(file string, links int) error {
	if links > maxLinks {
		return nil
	}
	at := "/"
	for part := range strings.SplitSeq(strings.Trim(file, "/"), "/") {
		at = path.Join(at, part)
		info, err := os.Lstat(p.m.Path(at))
		if err != nil {
			return nil
		}
		if info.Mode()&os.ModeSymlink != 0 {
			to, err := os.Readlink(p.m.Path(at))
			if err != nil || path.IsAbs(to) {
				return nil
			}
			if err := p.entry(&tar.Header{Typeflag: tar.TypeSymlink, Name: at, Linkname: to}, nil); err != nil {
				return err
			}
			rest := strings.TrimPrefix(file, at)
			return p.add(path.Join(path.Dir(at), to)+rest, links+1)
		}
		if at == file && info.IsDir() {
			return p.entry(&tar.Header{Typeflag: tar.TypeDir, Name: at + "/"}, nil)
		}
	}
	data, whole, err := p.m.ReadHead(at, maxContent)
	if err != nil || !whole {
		return nil
	}
	return p.content(at, data)
}

// disksOf leaves of the mounts those of disks: the others name pods, and on some nodes servers and users.
func disksOf(mounts []byte) []byte {
	var all bytes.Buffer
	for line := range bytes.Lines(mounts) {
		if bytes.HasPrefix(line, []byte("/dev/")) {
			all.Write(line)
		}
	}
	return all.Bytes()
}

func (p *packer) content(name string, data []byte) error {
	return p.entry(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data))}, data)
}

func (p *packer) entry(h *tar.Header, data []byte) error {
	h.Name = strings.TrimPrefix(h.Name, "/")
	if p.seen[h.Name] {
		return nil
	}
	if len(p.seen) == maxEntries || p.bytes+len(data) > maxAll {
		return fmt.Errorf("the machine has more than %d files or %d MiB to keep", maxEntries, maxAll>>20)
	}
	p.seen[h.Name] = true
	p.bytes += len(data)
	h.Mode, h.ModTime = 0o644, p.at
	if h.Typeflag == tar.TypeDir {
		h.Mode = 0o755
	}
	if err := p.files.WriteHeader(h); err != nil {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	if _, err := p.files.Write(data); err != nil {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	return nil
}
