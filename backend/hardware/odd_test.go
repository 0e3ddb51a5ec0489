package hardware_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/message"
)

// TestOddFirmwareTables: tables that make no sense or have no end are told, a module whose size the firmware does not know is an unknown
// one, and a machine without a service processor says that it has none.
func TestOddFirmwareTables(t *testing.T) {
	for content, want := range map[string]string{
		"\x11":             "none of the 1 bytes",
		"\x11\xff\x00\x00": "none of the 4 bytes",
		strings.Repeat(table(17, 0x28, map[int]any{0x0c: uint16(4)}), 1<<20/40): "larger than 1024 KiB",
	} {
		m := hosttest.New(t)
		m.File(tables, content)
		i := all(t, m)
		for _, section := range []string{"modules", "bmc"} {
			if got := i.Errors[section].String(); !strings.Contains(got, want) {
				t.Errorf("%d bytes, %s: %q", len(content), section, got)
			}
		}
	}
	m := hosttest.New(t)
	m.File(tables, table(17, 0x28, map[int]any{0x10: 1, 0x0c: uint16(0xffff), 0x17: 2}, "DIMM_A1", "Samsung")+table(127, 4, nil))
	i := all(t, m)
	if len(i.Modules) != 1 || i.Modules[0].Bytes != 0 || i.Modules[0].Slot != "DIMM_A1" {
		t.Errorf("modules are %+v, %v", i.Modules, i.Errors["modules"])
	}
	if text := strings.Join(strings.Fields(i.Text()), " "); i.BMC != nil || !strings.Contains(text, "BMC none found") {
		t.Errorf("%+v: %s", i.BMC, text)
	}
}

// TestOddSensors: a counter or a sensor that cannot be read hides no other one, and where none answers that is said.
func TestOddSensors(t *testing.T) {
	m := hosttest.New(t)
	m.File("/sys/devices/system/edac/mc/mc0/ce_count", "\n")
	m.File("/sys/devices/system/edac/mc/mc0/ue_count", "0\n")
	m.File("/sys/devices/system/edac/mc/mc1/ce_count", "7\n")
	m.File("/sys/devices/system/edac/mc/mc1/ue_count", "1\n")
	m.File("/sys/class/hwmon/hwmon0/name", "coretemp\n")
	m.File("/sys/class/hwmon/hwmon0/temp1_input", "\n") // switched off
	i := all(t, m)
	if len(i.MemoryErrors) != 1 || i.MemoryErrors[0] != (hardware.Controller{Name: "mc1", Corrected: 7, Uncorrected: 1}) || i.Errors["edac"].String() == "" {
		t.Errorf("%+v, %s", i.MemoryErrors, i.Errors["edac"])
	}
	if got := i.Errors["temperatures"].String(); len(i.Temperatures) > 0 || got != "none of 1 sensors answers" {
		t.Errorf("%+v, %s", i.Temperatures, got)
	}
	m.File("/sys/class/hwmon/hwmon0/temp2_input", "41500\n")
	m.File("/sys/class/hwmon/hwmon0/temp2_max", "80000\n")
	i = all(t, m)
	if want := (hardware.Temperature{Chip: "coretemp", Celsius: 41.5, High: 80}); len(i.Temperatures) != 1 || i.Temperatures[0] != want || i.Errors["temperatures"].String() != "" {
		t.Errorf("%+v, %s", i.Temperatures, i.Errors["temperatures"])
	}
	if text := i.Text(); !strings.Contains(text, "high from 80 C") {
		t.Error(text)
	}
}

// TestWhatDisksSayOfThemselves: sectors that an old disk replaced and lost are counted, its own error is told, and of very many disks only
// the first are asked, since a dying one keeps the kernel for half a minute.
func TestWhatDisksSayOfThemselves(t *testing.T) {
	m := hosttest.New(t)
	disk(m, "sda", 960e9, "1", "0")
	for answer, want := range map[string]string{
		`{"ata_smart_attributes":{"table":[{"id":5,"raw":{"value":8}},{"id":187,"raw":{"value":2}},{"id":197,"raw":{"value":3}}]}}`:                     "",
		`{"smartctl":{"messages":[{"string":"bridge","severity":"information"},{"string":"Read Device Identity failed\u001b[2J","severity":"error"}]}}`: "smartctl: Read Device Identity failed",
		`{"smartctl":{"messages":[]}}`: "the disk reports nothing",
		`Permission denied`:            "invalid character",
	} {
		m.On("smartctl", answer, nil)
		i := all(t, m)
		if len(i.Disks) != 1 {
			t.Fatalf("disks are %+v, %v", i.Disks, i.Errors["disks"])
		}
		got, h := i.Errors["health"].String(), i.Disks[0].Health
		if want == "" && (h == nil || *h != (hardware.Health{MediaErrors: 5, Reallocated: 8}) || got != "") {
			t.Errorf("%s: %+v, %s", answer, h, got)
		}
		if want != "" && (h != nil || !strings.Contains(got, want) || strings.Contains(got, "\x1b")) {
			t.Errorf("%s: %+v, %q", answer, h, got)
		}
	}
	for n := range 70 {
		disk(m, fmt.Sprintf("sd%c%c", 'b'+n/26, 'a'+n%26), 960e9, "1", "0")
	}
	m.On("smartctl", `{"power_on_time":{"hours":1}}`, nil)
	m.Forget()
	i, asked := all(t, m), 0
	for _, call := range m.Calls() {
		if strings.HasPrefix(call, "smartctl") {
			asked++
		}
	}
	if asked != 64 || i.Errors["health"].String() != "only the first 64 disks were asked for their health" {
		t.Errorf("%d of %d disks were asked: %s", asked, len(i.Disks), i.Errors["health"])
	}
}

// TestOddFirmwareSettings: UEFI without Secure Boot is not an error, and neither a variable nor a clock that cannot be read is a verdict.
func TestOddFirmwareSettings(t *testing.T) {
	m := hosttest.New(t)
	m.File("/sys/firmware/efi/efivars/Boot0000", "")
	m.File("/sys/class/rtc/rtc0/since_epoch", "battery low\n")
	i := all(t, m)
	if i.Firmware.Boot != "UEFI" || i.Firmware.SecureBoot != "not supported" || i.Errors["boot"].String() != "" {
		t.Errorf("%+v, %s", i.Firmware, i.Errors["boot"])
	}
	if !i.Clock.RTC.IsZero() || i.Errors["clock"].String() == "" {
		t.Errorf("%+v, %s", i.Clock, i.Errors["clock"])
	}
	m.File(secureBoot+"/in its place", "")
	if i := all(t, m); i.Firmware.SecureBoot != "" || i.Errors["boot"].String() == "" {
		t.Errorf("%+v, %s", i.Firmware, i.Errors["boot"])
	}
}

// TestNoPorts: a machine without a network port does not ship; in a container the virtual ones stand for them, and that is told.
func TestNoPorts(t *testing.T) {
	m := hosttest.New(t)
	good(m)
	for _, name := range []string{"eno1", "eno2"} {
		if err := os.RemoveAll(m.Path("/sys/class/net/" + name)); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, inspect(t, m), map[string]check.Status{"hw-nics": check.Fail, "hw-link": check.Skip})
	m.On("systemd-detect-virt", "podman\n", nil)
	port(m, "eth0", "1", "10000")
	if err := os.MkdirAll(m.Path("/sys/devices/virtual/net"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(m.Path("/sys/class/net/eth0"), m.Path("/sys/devices/virtual/net/eth0")),
		os.Symlink(filepath.Join("../../devices/virtual/net/eth0"), m.Path("/sys/class/net/eth0"))); err != nil {
		t.Fatal(err)
	}
	expect(t, inspect(t, m), map[string]check.Status{"hw-nics": check.Warn, "hw-link": check.Pass})
}

// TestPartsThatCameOrChangedPlaces: a disk and a port that the factory had not, and another card in the place of one.
func TestPartsThatCameOrChangedPlaces(t *testing.T) {
	then, now := edge(), edge()
	now.Disks = append(now.Disks, hardware.Disk{Name: "sdx", Bytes: 960e9, Type: "SSD", Model: "PM883", Serial: "S4X9", Path: "pci-0000:00:17.0-ata-9"})
	now.NICs = append(now.NICs, hardware.NIC{Name: "ens9", MAC: "52:54:00:00:00:99", PCI: "0000:99:00.0", Bus: "pci", Driver: "ice"})
	now.PCI[firstCard].ProductID = "26b5"
	said := ""
	for _, c := range compared(t, then)(now) {
		said += c.Observed.String() + "\n"
	}
	for _, want := range []string{
		"The disk with serial number S4X9 in bay pci-0000:00:17.0-ata-9 is new (PM883 960 GB)", "The network port with MAC 52:54:00:00:00:99 at 0000:99:00.0 is new",
		"The card at 0000:80:00 was exchanged: GPU Part 2236 10de:2236 was shipped, GPU Part 2236 10de:26b5 is there now",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not told:\n%s", want, said)
		}
	}
}

// TestMemoryThatIsNotKnown: a size that one side could not read is not a difference, least of all a loss.
func TestMemoryThatIsNotKnown(t *testing.T) {
	for side, says := range []string{"not known now", "not known at the factory"} {
		then, now := edge(), edge()
		hurt := []*hardware.Inventory{now, then}[side]
		hurt.Memory, hurt.Errors["memory"] = hardware.Memory{}, message.Data("no meminfo")
		got := compared(t, then)(now)
		if len(got) != 2 || got[0].Status != check.Pass || got[1].Status != check.Skip || !strings.Contains(got[1].Observed.String(), "The memory that the system sees: "+says) {
			t.Errorf("%s: %+v", says, got)
		}
	}
}

// TestManyGaps: where one side knows next to nothing, the page of the check has six gaps and how many there are more, the evidence has all.
// A list that was cut for its length is a gap too.
func TestManyGaps(t *testing.T) {
	then, now := edge(), edge()
	now.CPU, now.Product.BIOS, now.Product.Serial, now.Board.Serial, now.Firmware = hardware.CPU{}, "", "", "", hardware.Firmware{}
	for n := range 1024 {
		now.PCI = append(now.PCI, hardware.Device{Address: fmt.Sprintf("%04x:00:00.0", n), ClassID: "0880"})
	}
	got := compared(t, then)(now)
	if len(got) != 2 || got[0].Status != check.Pass || got[1].Status != check.Skip {
		t.Fatalf("%+v", got)
	}
	said := got[1].Observed.String()
	if more := len(got[1].Evidence) - 6; more < 1 || strings.Count(said, ";") != 6 || !strings.Contains(said, fmt.Sprintf("; %d more", more)) {
		t.Errorf("%d gaps: %s", len(got[1].Evidence), said)
	}
	if all := fmt.Sprint(got[1].Evidence); !strings.Contains(all, "Cards: too many to read") {
		t.Error(all)
	}
}

// TestDocumentOfAddressesAndNames: names and numbers are those that the assisted installer's agent gives.
func TestDocumentOfAddressesAndNames(t *testing.T) {
	i := hardware.Inventory{
		Disks: []hardware.Disk{{Name: "nvme0n1", WWN: "eui.01"}, {Name: "sda", WWN: "0x5", Path: "pci-0"}, {Name: "sdb", Path: "pci-1"}, {Name: "sdc"}},
		NICs:  []hardware.NIC{{Name: "br-ex", Virtual: true, Addresses: []string{"192.0.2.7/24", "2001:db8::7/64"}}},
	}
	i.Routes = []hardware.Route{{Interface: "br-ex", Destination: "0.0.0.0/0", Gateway: "192.0.2.1"}, {Interface: "br-ex", Destination: "2001:db8::/64", Metric: 5}, {Destination: "default", Gateway: "fe80::1"}}
	d := i.Document()
	for n, want := range []string{"/dev/disk/by-id/nvme-eui.01 ", "/dev/disk/by-id/wwn-0x5 /dev/disk/by-path/pci-0", " /dev/disk/by-path/pci-1", " "} {
		if got := d.Disks[n].ByID + " " + d.Disks[n].ByPath; got != want {
			t.Errorf("disk %d is %q, want %q", n, got, want)
		}
	}
	if d.Disks[2].ID != d.Disks[2].ByPath {
		t.Errorf("a disk without its own name: %+v", d.Disks[2])
	}
	if p := d.Interfaces[0]; p.Type != "virtual" || fmt.Sprint(p.IPv4, p.IPv6) != "[192.0.2.7/24] [2001:db8::7/64]" {
		t.Errorf("%+v", p)
	}
	for n, want := range []string{"0.0.0.0 2 192.0.2.1 0.0.0.0/0", "2001:db8:: 10  2001:db8::/64", "default 10 fe80::1 default"} {
		r := d.Routes[n]
		if got := fmt.Sprint(r.Destination, " ", r.Family, " ", r.Gateway, " ", r.Prefix); got != want {
			t.Errorf("route %d is %q, want %q", n, got, want)
		}
	}
}

// TestAVirtioPortHasAPlace: a port of virtio is at the PCI device that carries it, in the inventory and in what became of it since the factory.
// One on no PCI bus, and an adapter at USB, have none.
func TestAVirtioPortHasAPlace(t *testing.T) {
	m := hosttest.New(t)
	good(m)
	const card = "/sys/devices/pci0000:00/0000:00:03.0"
	for name, at := range map[string]struct{ device, bus string }{
		"eth0": {card + "/virtio0", "virtio"}, "eth1": {"/sys/devices/platform/a000000.virtio_mmio/virtio1", "virtio"}, "eth2": {card + "/usb1", "usb"},
	} {
		port(m, name, "1", "10000")
		m.File(at.device+"/vendor", "0x1af4\n")
		m.File("/sys/bus/"+at.bus+"/drivers_probe", "")
		if err := errors.Join(os.Symlink(m.Path(at.device), m.Path("/sys/class/net/"+name+"/device")),
			os.Symlink(m.Path("/sys/bus/"+at.bus), m.Path(at.device+"/subsystem"))); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"eth0": "0000:00:03.0", "eth1": "", "eth2": ""}
	i := all(t, m)
	for _, n := range i.NICs {
		if place, asked := want[n.Name]; asked && n.PCI != place {
			t.Errorf("%s is at %q, not %q", n.Name, n.PCI, place)
		}
		delete(want, n.Name)
	}
	if len(want) > 0 || !strings.Contains(strings.Join(strings.Fields(i.Text()), " "), "PCI 0000:00:03.0") {
		t.Errorf("not listed: %v\n%s", want, i.Text())
	}
}
