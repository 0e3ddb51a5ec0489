package hardware_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jaypipes/ghw/pkg/snapshot"

	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
)

var now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// snapshots of real machines lie in ghw's module; they hold no type plate, no TPM and no clock.
func machine(t testing.TB, name string) *hosttest.Fake {
	t.Helper()
	m := hosttest.New(t)
	if err := snapshot.UnpackInto(filepath.Join(snapshots(t), "linux-"+name+".tar.gz"), m.Root()); err != nil {
		t.Fatal(err)
	}
	return m
}

// snapshots is the folder in ghw's module.
func snapshots(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/jaypipes/ghw").Output()
	if err != nil {
		t.Fatalf("finding ghw's module: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "testdata", "snapshots")
}

func inspect(t *testing.T, m *hosttest.Fake) map[string]check.Check {
	t.Helper()
	checks := map[string]check.Check{}
	i := hardware.Inspect(t.Context(), m.Machine, hardware.Options{Now: func() time.Time { return now }})
	for _, c := range hardware.Checks(i, hardware.For("4.21")) {
		if _, twice := checks[c.ID]; twice {
			t.Errorf("two checks are called %s", c.ID)
		}
		if c.Title.String() == "" || c.Source.String() == "" || c.Observed.String() == "" || c.Expected.String() == "" {
			t.Errorf("check %s is incomplete: %+v", c.ID, c)
		}
		if bad := c.Status == check.Warn || c.Status == check.Fail; bad != (c.Fix.String() != "") {
			t.Errorf("check %s is %s with the fix %q", c.ID, c.Status, c.Fix)
		}
		checks[c.ID] = c
	}
	return checks
}

func expect(t *testing.T, checks map[string]check.Check, want map[string]check.Status) {
	t.Helper()
	for id, status := range want {
		if got := checks[id]; got.Status != status {
			t.Errorf("%s is %q (%s), want %q", id, got.Status, got.Observed, status)
		}
	}
}

func TestRealMachines(t *testing.T) {
	for _, c := range []struct {
		name string
		want map[string]check.Status
		says map[string]string
	}{
		{
			name: "amd64-8581cf3a529e5d8b97ea876eade2f60d", // two Xeon L5640
			want: map[string]check.Status{
				"hw-cpu": check.Pass, "hw-cpu-flags": check.Warn, "hw-memory": check.Pass, "hw-tpm": check.Skip,
				"hw-nics": check.Skip, "hw-link": check.Skip, "hw-speed": check.Skip, "hw-boot-mode": check.Skip,
				"hw-rtc": check.Skip, "hw-clock": check.Pass, "hw-virtual": check.Skip,
			},
			says: map[string]string{"hw-cpu": "24 threads on 12 cores", "hw-cpu-flags": "avx2"},
		},
		{
			name: "amd64-61797caf7c0b6bca1725ad7975ed4773", // Ryzen 1600
			want: map[string]check.Status{
				"hw-cpu": check.Pass, "hw-cpu-flags": check.Pass, "hw-memory": check.Pass, "hw-nics": check.Pass,
			},
			says: map[string]string{"hw-nics": "4 enp3s0 enp6s0f0 enp6s0f1 enp8s0"},
		},
		{
			name: "amd64-offlineCPUs",
			want: map[string]check.Status{"hw-memory": check.Fail},
		},
		{
			name: "arm64-c288e0776090cd558ef793b2a4e61939",
			want: map[string]check.Status{"hw-cpu-flags": check.Skip},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			checks := inspect(t, machine(t, c.name))
			expect(t, checks, c.want)
			for id, text := range c.says {
				if !strings.Contains(checks[id].Observed.String(), text) {
					t.Errorf("%s says %q, want %q in it", id, checks[id].Observed, text)
				}
			}
		})
	}
}

// good puts what a well-made small server shows beside its snapshot.
func good(m *hosttest.Fake) {
	m.File("/sys/class/dmi/id/product_serial", "SN-4711\n")
	m.File("/sys/class/dmi/id/product_name", "Edge 100\n")
	m.File("/sys/class/dmi/id/sys_vendor", "Acme\n")
	m.File("/sys/class/tpm/tpm0/tpm_version_major", "2\n")
	m.File("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "\x06\x00\x00\x00\x01")
	m.File("/sys/class/rtc/rtc0/since_epoch", fmt.Sprintln(now.Unix()+1))
	m.File("/var/.keep", "")
	m.On("systemd-detect-virt", "none\n", errors.New("exit status 1"))
	port(m, "eno1", "1", "10000")
	port(m, "eno2", "0", "-1")
	disk(m, "nvme0n1", 960_000_000_000, "0", "0")
	m.File("/proc/self/mounts", "/dev/nvme0n1p4 /sysroot xfs ro 0 0\n")
}

func port(m *hosttest.Fake, name, carrier, speed string) {
	m.File("/sys/class/net/"+name+"/carrier", carrier+"\n")
	m.File("/sys/class/net/"+name+"/speed", speed+"\n")
	m.File("/sys/class/net/"+name+"/addr_assign_type", "0\n")
	m.File("/sys/class/net/"+name+"/address", "52:54:00:00:00:01\n")
}

func disk(m *hosttest.Fake, name string, bytes int64, rotational, removable string) {
	dir := "/sys/block/" + name
	m.File(dir+"/size", fmt.Sprintln(bytes/512))
	m.File(dir+"/queue/rotational", rotational+"\n")
	m.File(dir+"/removable", removable+"\n")
	part := name + "4"
	if strings.HasPrefix(name, "nvme") {
		part = name + "p4"
	}
	m.File(dir+"/"+part+"/size", "1000\n")
	m.File(dir+"/"+part+"/partition", "4\n")
}

func TestGoodServer(t *testing.T) {
	m := machine(t, "amd64-415ee03b8c4d1c4f07ae2e9d8b3d3d6d")
	good(m)
	expect(t, inspect(t, m), map[string]check.Status{
		"hw-cpu": check.Pass, "hw-cpu-flags": check.Pass, "hw-memory": check.Pass, "hw-disk": check.Pass,
		"hw-disk-type": check.Pass, "hw-nics": check.Pass, "hw-link": check.Pass, "hw-speed": check.Pass,
		"hw-tpm": check.Pass, "hw-secure-boot": check.Pass, "hw-boot-mode": check.Pass, "hw-clock": check.Pass,
		"hw-rtc": check.Pass, "hw-serial": check.Pass, "hw-virtual": check.Pass,
	})
}

func TestSmallMachineFails(t *testing.T) {
	m := hosttest.New(t)
	m.File("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Old\nphysical id\t: 0\ncore id\t: 0\nflags\t\t: fpu lm sse2 hypervisor\n\n")
	m.File("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n")
	m.File("/sys/devices/system/cpu/cpu0/topology/core_id", "0\n")
	m.File("/sys/devices/system/cpu/cpu0/online", "1\n")
	m.File("/proc/meminfo", "MemTotal:        8000000 kB\n")
	m.File("/sys/class/dmi/id/product_serial", "Default string\n")
	m.File("/sys/class/rtc/rtc0/since_epoch", "3600\n")
	m.File("/sys/firmware/acpi/x", "")
	disk(m, "sda", 60_000_000_000, "1", "1")
	m.File("/proc/self/mounts", "/dev/sda4 / xfs rw 0 0\n")
	port(m, "eno1", "0", "-1")
	checks := inspect(t, m)
	expect(t, checks, map[string]check.Status{
		"hw-cpu": check.Fail, "hw-cpu-flags": check.Fail, "hw-memory": check.Fail, "hw-disk": check.Fail,
		"hw-disk-type": check.Fail, "hw-nics": check.Pass, "hw-link": check.Fail, "hw-speed": check.Skip,
		"hw-tpm": check.Warn, "hw-secure-boot": check.Warn, "hw-boot-mode": check.Warn, "hw-rtc": check.Warn,
		"hw-serial": check.Warn, "hw-virtual": check.Warn, "hw-var": check.Skip,
	})
}

func TestNothingToSeeIsNeverAPass(t *testing.T) {
	for id, c := range inspect(t, hosttest.New(t)) {
		// The system clock is always there.
		if c.Status != check.Skip && id != "hw-clock" && id != "hw-serial" {
			t.Errorf("%s is %q (%s) on a machine that shows nothing", id, c.Status, c.Observed)
		}
	}
}

func TestSystemDiskThroughEncryption(t *testing.T) {
	m := machine(t, "amd64-415ee03b8c4d1c4f07ae2e9d8b3d3d6d")
	good(m)
	m.File("/proc/self/mounts", "/dev/mapper/root /sysroot xfs rw 0 0\n")
	m.File("/sys/block/dm-9/dm/name", "root\n")
	m.File("/sys/block/dm-9/slaves/nvme0n1p4/x", "")
	if got := inspect(t, m)["hw-disk"]; !strings.HasPrefix(got.Observed.String(), "nvme0n1, 960 GB") {
		t.Errorf("the system disk is %q, want nvme0n1", got.Observed)
	}
}

func TestWrongClockFails(t *testing.T) {
	for _, at := range []time.Time{time.Unix(3600, 0), now.AddDate(60, 0, 0)} {
		i := hardware.Inspect(t.Context(), hosttest.New(t).Machine, hardware.Options{Now: func() time.Time { return at }})
		for _, c := range hardware.Checks(i, hardware.For("")) {
			if c.ID == "hw-clock" && c.Status != check.Fail {
				t.Errorf("the clock at %v is %s", at, c.Status)
			}
		}
	}
}

func TestVersionDecidesTheProcessorLimit(t *testing.T) {
	for version, want := range map[string]int64{"": 8, "4.14.3": 8, "4.21": 8, "4.22.0": 4, "5.0": 4} {
		if got := hardware.For(version).Threads.Fail; got != want {
			t.Errorf("OpenShift %q needs %d threads, want %d", version, got, want)
		}
	}
}

func TestSecureBootStates(t *testing.T) {
	const variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	for content, want := range map[string]check.Status{
		"\x06\x00\x00\x00\x01": check.Pass, "\x06\x00\x00\x00\x00": check.Warn, "\x01": check.Skip,
	} {
		m := hosttest.New(t)
		m.File(variable, content)
		if got := inspect(t, m)["hw-secure-boot"].Status; got != want {
			t.Errorf("variable %q is %s, want %s", content, got, want)
		}
	}
}

func BenchmarkInspect(b *testing.B) {
	m := machine(b, "amd64-8581cf3a529e5d8b97ea876eade2f60d")
	for b.Loop() {
		hardware.Checks(hardware.Inspect(b.Context(), m.Machine, hardware.Options{}), hardware.For(""))
	}
}

// BenchmarkInventory is all of it, on the server with two sockets.
func BenchmarkInventory(b *testing.B) {
	m := whole(b)
	for b.Loop() {
		all(b, m)
	}
}

// The machine that runs the tests may be anything; looking at it must work, and every verdict be complete.
func TestThisMachine(t *testing.T) {
	m := host.Open(host.Options{NoPower: true, Log: slog.New(slog.DiscardHandler)})
	i := hardware.Inspect(t.Context(), m, hardware.Options{All: true})
	t.Log(i.Text())
	for _, line := range i.Summary() {
		t.Log(line)
	}
	for _, c := range hardware.Checks(i, hardware.For("")) {
		t.Logf("%-14s %-4s %s", c.ID, c.Status, c.Observed)
		if c.Status == "" || c.Observed.String() == "" {
			t.Errorf("%s has no verdict: %+v", c.ID, c)
		}
	}
}
