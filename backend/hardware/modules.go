package hardware

import (
	"cmp"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jaypipes/ghw"

	"touchdown/backend/host"
)

// options keep ghw quiet and away from other programs: it would print on the console, and run the real machine's
// ethtool even for a test's root. Its option against warnings is not enough: where one of its parts asks another one, that
// one switches them on again, for the whole process.
func options(m *host.Machine) []any {
	o := []any{ghw.WithLogger(slog.New(slog.DiscardHandler)), ghw.WithDisableTools()}
	if m.Root() != "" {
		o = append(o, ghw.WithChroot(m.Root()))
	}
	return o
}

func (i *Inventory) readCPU(a *asker) error {
	m := a.m
	info, err := ghw.CPU(options(m)...)
	if err != nil {
		return fmt.Errorf("reading the CPU: %w", err)
	}
	if len(info.Processors) == 0 {
		return fmt.Errorf("reading the CPU: %w", errNothing)
	}
	p := info.Processors[0]
	i.CPU = CPU{
		Model: p.Model, Sockets: len(info.Processors), Cores: int(info.TotalCores),
		Threads: int(info.TotalHardwareThreads), Flags: p.Capabilities, Arch: a.arch(), MHz: megahertz(m),
	}
	return nil
}

// megahertz is how fast a processor may become; where the kernel does not steer that, how fast it says it is.
func megahertz(m *host.Machine) float64 {
	if kilo, err := number(m, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"); err == nil {
		return float64(kilo) / 1000
	}
	b, _, err := m.ReadHead("/proc/cpuinfo", 4096) // the first processor's paragraph
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "cpu MHz" {
			mhz, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return mhz
		}
	}
	return 0
}

func (i *Inventory) readMemory(m *host.Machine) error {
	info, err := ghw.Memory(options(m)...)
	if err != nil {
		return fmt.Errorf("reading the memory: %w", err)
	}
	i.Memory.Usable = info.TotalUsableBytes
	// Where ghw cannot see the physical size it repeats the usable one.
	if info.TotalPhysicalBytes > info.TotalUsableBytes {
		i.Memory.Physical = info.TotalPhysicalBytes
	}
	return nil
}

func (i *Inventory) readDisks(m *host.Machine) error {
	info, err := ghw.Block(options(m)...)
	if err != nil {
		return fmt.Errorf("reading the disks: %w", err)
	}
	system := systemDisk(m)
	for _, d := range info.Disks {
		disk := Disk{
			Name: d.Name, Bytes: int64(d.SizeBytes), Type: d.DriveType.String(), Removable: d.IsRemovable,
			Vendor: known(d.Vendor), Model: known(d.Model), Serial: known(d.SerialNumber), WWN: known(d.WWN),
			System: d.Name == system, Virtual: !realDisk(d.Name),
			Bus: known(d.StorageController.String()), Path: known(d.BusPath), HCTL: hctl(m, d.Name),
			Firmware: cmp.Or(oneLine(m, "/sys/block/"+d.Name+"/device/firmware_rev"), oneLine(m, "/sys/block/"+d.Name+"/device/rev")), // NVMe, SCSI
		}
		for _, p := range d.Partitions {
			disk.Partitions = append(disk.Partitions, Partition{
				Name: p.Name, Bytes: int64(p.SizeBytes), Label: known(p.Label), Type: known(p.Type), Mount: p.MountPoint,
			})
		}
		i.Disks = append(i.Disks, disk)
	}
	if len(i.Disks) == 0 {
		return fmt.Errorf("reading the disks: %w", errNothing)
	}
	return nil
}

// hctl is where a SCSI disk is plugged in: host, channel, target, unit.
func hctl(m *host.Machine, name string) string {
	target, err := os.Readlink(m.Path("/sys/block/" + name + "/device"))
	if address := filepath.Base(target); err == nil && strings.Count(address, ":") == 3 {
		return address
	}
	return ""
}

// realDisk tells disks from what the kernel makes of disks and memory.
func realDisk(name string) bool {
	for _, prefix := range []string{"dm-", "loop", "zram", "ram", "md", "sr", "nbd", "fd"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && strings.Trim(rest, "0123456789") == "" {
			return false
		}
	}
	return true
}

// systemDisk returns the name of the disk below the system's own file system, through encryption and multipath,
// or "".
func systemDisk(m *host.Machine) string {
	b, err := m.ReadFile("/proc/self/mounts")
	if err != nil {
		return ""
	}
	found := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[0], "/dev/") {
			found[f[1]] = f[0]
		}
	}
	// On CoreOS /sysroot is the real root; / may be put together out of it.
	for _, mount := range []string{"/sysroot", "/", "/var"} {
		if dev := found[mount]; dev != "" {
			return diskBelow(m, blockName(m, dev), 0)
		}
	}
	return ""
}

// blockName turns /dev/mapper/root into dm-0 and /dev/sda4 into sda4.
func blockName(m *host.Machine, dev string) string {
	mapped, ok := strings.CutPrefix(dev, "/dev/mapper/")
	if !ok {
		return filepath.Base(dev)
	}
	names, err := m.Glob("/sys/block/dm-*/dm/name")
	if err != nil {
		return ""
	}
	for _, n := range names {
		if b, err := m.ReadFile(n); err == nil && strings.TrimSpace(string(b)) == mapped {
			return strings.Split(n, "/")[3]
		}
	}
	return ""
}

func diskBelow(m *host.Machine, name string, depth int) string {
	if name == "" || depth > 5 {
		return ""
	}
	if slaves, err := m.Glob("/sys/block/" + name + "/slaves/*"); err == nil && len(slaves) > 0 {
		return diskBelow(m, filepath.Base(slaves[0]), depth+1)
	}
	if m.Exists("/sys/block/" + name) {
		return name
	}
	if disks, err := m.Glob("/sys/block/*/" + name); err == nil && len(disks) == 1 {
		return strings.Split(disks[0], "/")[3]
	}
	return ""
}

func (i *Inventory) readProduct(m *host.Machine) error {
	i.Product.Serial = m.Serial()
	product, err := ghw.Product(options(m)...)
	if err != nil {
		return fmt.Errorf("reading the type plate: %w", err)
	}
	i.Product.Vendor, i.Product.Name = known(product.Vendor), known(product.Name)
	i.Product.UUID, i.Product.Family = known(product.UUID), known(product.Family)
	i.Product.SKU, i.Product.Version = known(product.SKU), known(product.Version)
	bios, err := ghw.BIOS(options(m)...)
	if err != nil {
		return fmt.Errorf("reading the firmware's version: %w", err)
	}
	i.Product.BIOS = strings.TrimSpace(known(bios.Vendor) + " " + known(bios.Version) + " " + known(bios.Date))
	return nil
}

// known drops ghw's word for nothing.
func known(s string) string {
	if s = strings.TrimSpace(s); strings.EqualFold(s, "unknown") {
		return ""
	}
	return s
}

// oneLine reads a file that holds one line; "" where there is none.
func oneLine(m *host.Machine, path string) string {
	b, _, err := m.ReadHead(path, 4096) // a page, the most that a file of sysfs has
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// number reads a file that holds one number.
func number(m *host.Machine, path string) (int, error) {
	b, err := m.ReadFile(path)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", path, fs.ErrInvalid)
	}
	return n, nil
}
