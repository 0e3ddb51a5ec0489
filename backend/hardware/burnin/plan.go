package burnin

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// What the burn-in takes of the machine. It must never have a pod evicted or an image removed: kubelet evicts pods when less than
// 100 MiB of memory, or 10 % of its disk or 15 % of the images' are available, and removes images when 85 % of that are used (kubernetes,
// pkg/kubelet/eviction/defaults_linux.go; KubeletConfiguration, imageGCHighThresholdPercent).
const (
	// memoryShare is the part of MemAvailable that is tested: half, as what the cluster then starts may take as much again.
	memoryShare = 2
	// memoryLeave is how much has to stay available, in bytes: ten times what kubelet evicts at. Below it the test gives all of its memory back.
	memoryLeave = 1 << 30
	// diskFile is the size of the file, in bytes, where the disk has room for it.
	diskFile = 1 << 30
	// diskLeast is the smallest file that is worth a test, in bytes.
	diskLeast = 64 << 20
	// diskWrites is what is written in all, in bytes, for the sake of the disk's life: an SSD for a server's system takes hundreds of times as
	// much each year (100 GB at one drive write a day, over 5 years, are 180 TB).
	diskWrites = 64 << 30
	// diskUsed is how much of the file system may be used with the file, in percent.
	diskUsed = 80
)

// plan says what is tested, and opens the file on the disk; nil where the disk is not tested, which NoDisk then explains.
func (r *Result) plan(m *host.Machine, d time.Duration) *os.File {
	r.Order = Order{Seconds: d.Seconds(), CPUs: online(word(m, "/sys/devices/system/cpu/online")), Leave: memoryLeave}
	if meminfo, err := m.ReadFile("/proc/meminfo"); err == nil {
		if free, err := parseAvailable(meminfo); err == nil {
			r.Order.Memory = memoryFor(free, len(r.Order.CPUs))
		}
	}
	file, size, err := room(m)
	if err != nil {
		r.NoDisk = message.Detail(err)
		return nil
	}
	r.Order.File, r.Order.Writes = size, diskWrites
	return file
}

// memoryFor is how much of the available memory is tested, in bytes: whole blocks for each CPU, or nothing.
func memoryFor(free int64, cpus int) int64 {
	memory := min(free/memoryShare, free-2*memoryLeave)
	if each := int64(cpus) * memoryBlock; each > 0 && memory >= each {
		return memory / each * each
	}
	return 0
}

// fileFor is how large the file may be on a file system, in bytes: whole blocks, or nothing.
func fileFor(free, total int64) int64 {
	size := min(diskFile, free-total*(100-diskUsed)/100)
	if size < diskLeast {
		return 0
	}
	return size / diskBlock * diskBlock
}

// room opens the file, whose space is its own from then on. It has no name: it is gone when it is closed, and after a power cut too.
func room(m *host.Machine) (*os.File, int64, error) {
	const folder = "/var/lib"
	free, total, err := m.Space(folder)
	if err != nil {
		return nil, 0, err
	}
	size := fileFor(free, total)
	if size == 0 {
		return nil, 0, message.Failed(message.F("%s has only %d MiB free, of %d", folder, free>>20, total>>20))
	}
	file, err := host.Scratch(m, folder)
	if err != nil {
		return nil, 0, err
	}
	if err := unix.Fallocate(int(file.Fd()), 0, 0, size); err != nil {
		file.Close()
		return nil, 0, fmt.Errorf("reserving %d MiB in %s: %w", size>>20, folder, err)
	}
	return file, size, nil
}
