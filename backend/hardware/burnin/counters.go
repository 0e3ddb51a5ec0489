package burnin

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"touchdown/backend/hardware"
	"touchdown/backend/host"
)

// counters are counts of faults by what counts them: "eno1 rx_crc_errors".
type counters map[string]int64

// The groups of counters, which are judged each on its own.
const (
	groupECC      = "ecc"
	groupPorts    = "ports"
	groupSMART    = "smart"
	groupThrottle = "throttle"
)

// counted are all counters at one moment, by group.
type counted map[string]counters

// count reads what the machine counts. What is not there is not in it, nor with linked a port without a link.
func count(ctx context.Context, m *host.Machine, linked bool) counted {
	return counted{groupECC: memoryErrors(m), groupPorts: portErrors(m, linked), groupSMART: diskErrors(ctx, m), groupThrottle: throttles(m)}
}

// read adds the number of a file, under a name.
func (c counters) read(m *host.Machine, name, file string) {
	if n, err := number(m, file); err == nil {
		c[name] = n
	}
}

// memoryErrors are those of each memory module where the driver knows modules, and of each memory controller (the kernel's
// Documentation/admin-guide/RAS and ABI/testing/sysfs-devices-edac).
func memoryErrors(m *host.Machine) counters {
	c := counters{}
	for _, dir := range glob(m, "/sys/devices/system/edac/mc/mc[0-9]*") {
		c.read(m, path.Base(dir)+" corrected", dir+"/ce_count")
		c.read(m, path.Base(dir)+" uncorrected", dir+"/ue_count")
		for _, module := range slices.Concat(glob(m, dir+"/dimm[0-9]*"), glob(m, dir+"/rank[0-9]*")) {
			name := path.Base(dir) + " " + path.Base(module)
			if label := word(m, module+"/dimm_label"); label != "" {
				name += " (" + label + ")"
			}
			c.read(m, name+" corrected", module+"/dimm_ce_count")
			c.read(m, name+" uncorrected", module+"/dimm_ue_count")
		}
	}
	return c
}

// portCounts are what a port of a network card counts of broken frames (the kernel's ABI/testing/sysfs-class-net-statistics). Frames
// that are only dropped are not a fault of the hardware.
var portCounts = []string{"rx_errors", "tx_errors", "rx_crc_errors", "rx_frame_errors", "tx_carrier_errors"}

// portErrors are those of each physical port, or with linked of each one that has a link: a cable that is plugged in later is not a fault.
func portErrors(m *host.Machine, linked bool) counters {
	c := counters{}
	for _, dir := range glob(m, "/sys/class/net/*") {
		name := path.Base(dir)
		if !m.Exists(dir+"/device") || linked && word(m, dir+"/carrier") != "1" {
			continue
		}
		c.read(m, name+" carrier_changes", dir+"/carrier_changes")
		for _, what := range portCounts {
			c.read(m, name+" "+what, dir+"/statistics/"+what)
		}
	}
	return c
}

// diskErrors are those that disks tell of themselves (SMART), where smartctl is installed.
func diskErrors(ctx context.Context, m *host.Machine) counters {
	c := counters{}
	for _, d := range hardware.Inspect(ctx, m, hardware.Options{All: true}).Disks {
		if d.Health == nil {
			continue
		}
		c[d.Name+" unreadable data"] = d.Health.MediaErrors
		c[d.Name+" reallocated sectors"] = d.Health.Reallocated
	}
	return c
}

// throttles are how often a core or a processor slowed down because it was too hot (the kernel's
// ABI/testing/sysfs-devices-system-cpu, thermal_throttle).
func throttles(m *host.Machine) counters {
	c := counters{}
	for _, dir := range glob(m, "/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle") {
		cpu := path.Base(path.Dir(dir))
		c.read(m, cpu+" core_throttle_count", dir+"/core_throttle_count")
		c.read(m, cpu+" package_throttle_count", dir+"/package_throttle_count")
	}
	return c
}

// rises are the counters that are higher than before, one a line, and with "-" those that are gone: their hardware is.
func (c counters) rises(after counters) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		now, there := after[name]
		switch {
		case !there:
			lines = append(lines, name+": -")
		case now > c[name]:
			lines = append(lines, fmt.Sprintf("%s +%d", name, now-c[name]))
		}
	}
	return lines
}

// heat is the highest temperature of each sensor, in degrees Celsius.
type heat map[string]sensor

type sensor struct {
	Celsius  float64 `json:"celsius"`
	High     float64 `json:"high,omitempty"`     // what its maker calls high; 0: not known
	Critical float64 `json:"critical,omitempty"` // 0: not known
}

// feel keeps what is hotter than before.
func (h heat) feel(m *host.Machine) {
	for _, input := range glob(m, "/sys/class/hwmon/hwmon*/temp*_input") {
		at := strings.TrimSuffix(input, "_input")
		celsius, err := degrees(m, input)
		if err != nil { // a sensor that is switched off says so by an error
			continue
		}
		name := strings.TrimSpace(word(m, path.Dir(input)+"/name") + " " + word(m, at+"_label"))
		name += " (" + path.Base(path.Dir(input)) + "/" + path.Base(at) + ")"
		if before, there := h[name]; there && before.Celsius >= celsius {
			continue
		}
		s := sensor{Celsius: celsius}
		s.High, _ = degrees(m, at+"_max")
		s.Critical, _ = degrees(m, at+"_crit")
		h[name] = s
	}
}

func degrees(m *host.Machine, file string) (float64, error) {
	milli, err := number(m, file)
	return float64(milli) / 1000, err
}

// glob are the files of a pattern.
func glob(m *host.Machine, pattern string) []string {
	all, err := m.Glob(pattern)
	if err != nil {
		return nil
	}
	return all
}

// word is what a small file holds, "" where there is none.
func word(m *host.Machine, file string) string {
	data, _, _ := m.ReadHead(file, 4096) // a page, the most that a file of sysfs has
	return strings.TrimSpace(string(data))
}

// number is what a file that holds one number says.
func number(m *host.Machine, file string) (n int64, err error) {
	if _, err = fmt.Sscanf(word(m, file), "%d", &n); err != nil {
		return 0, fmt.Errorf("reading the number in %s: %w", file, err)
	}
	return n, nil
}
