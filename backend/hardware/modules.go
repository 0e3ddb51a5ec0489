package hardware

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jaypipes/ghw"

	"touchdown/backend/host"
)

// options keep ghw quiet and away from other programs: it would print on the console, and run the real machine's
// ethtool even for a test's root.
func options(m *host.Machine) []any {
	o := []any{ghw.WithDisableWarnings(), ghw.WithDisableTools()}
	if m.Root() != "" {
		o = append(o, ghw.WithChroot(m.Root()))
	}
	return o
}

func (i *Inventory) readCPU(m *host.Machine) error {
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
		Threads: int(info.TotalHardwareThreads), Flags: p.Capabilities,
	}
	return nil
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
		}
		i.Disks = append(i.Disks, disk)
	}
	if len(i.Disks) == 0 {
		return fmt.Errorf("reading the disks: %w", errNothing)
	}
	return nil
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
	i.Product.UUID = known(product.UUID)
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
