package hardware_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"touchdown/backend/hardware"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/message"
)

var update = flag.Bool("update", false, "write the expected texts again")

// table is one of the firmware's tables: what stands at its offsets, and its texts.
func table(kind byte, length int, at map[int]any, texts ...string) string {
	body := make([]byte, length)
	body[0], body[1] = kind, byte(length)
	for offset, value := range at {
		switch value := value.(type) {
		case int:
			body[offset] = byte(value)
		case uint16:
			binary.LittleEndian.PutUint16(body[offset:], value)
		case uint32:
			binary.LittleEndian.PutUint32(body[offset:], value)
		}
	}
	return string(body) + strings.Join(texts, "\x00") + "\x00\x00"
}

const tables = "/sys/firmware/dmi/tables/DMI"

// dimms are tables as a server has them: a module of each form that sizes have had, an empty slot, a BMC, an end.
func dimms() string {
	texts := []string{"DIMM_A1", "Bank 0", "Samsung", "37A1B2C3", "M393A2K40CB2-CTD"}
	point := map[int]any{0x10: 1, 0x11: 2, 0x12: 0x1a, 0x15: uint16(2666), 0x17: 3, 0x18: 4, 0x1a: 5, 0x0c: uint16(16384), 0x20: uint16(2400)}
	return table(17, 0x28, point, texts...) +
		table(17, 0x28, map[int]any{0x10: 1, 0x0c: uint16(0x7fff), 0x1c: uint32(65536), 0x12: 0x22, 0x15: uint16(4800)}, "DIMM_A2") +
		table(17, 0x15, map[int]any{0x10: 1, 0x0c: uint16(0x8200), 0x12: 0x12}, "DIMM_OLD") +
		table(17, 0x28, map[int]any{0x10: 1, 0x17: 2}, "DIMM_B1", "NO DIMM") +
		table(38, 0x12, map[int]any{0x04: 1, 0x05: 0x20}) + table(127, 4, nil)
}

// whole is a real server's snapshot with everything beside it that a snapshot of ghw's has not.
func whole(t testing.TB) *hosttest.Fake {
	t.Helper()
	fewNames(t)
	m := machine(t, "amd64-8581cf3a529e5d8b97ea876eade2f60d")
	good(m)
	m.File(tables, dimms())
	m.File("/proc/sys/kernel/hostname", "edge-17\n")
	for name, text := range map[string]string{
		"board_name": "X11SDV", "board_vendor": "Acme", "board_serial": "B-1", "chassis_type": "23", "chassis_vendor": "Acme",
		"chassis_serial": "C-1", "chassis_asset_tag": "A-77", "bios_vendor": "Acme", "bios_version": "1.4", "bios_date": "03/02/2026", "product_family": "Edge",
	} {
		m.File("/sys/class/dmi/id/"+name, text+"\n")
	}
	m.File("/sys/class/ipmi/ipmi0/dev", "240:0\n")
	m.File("/sys/class/watchdog/watchdog0/identity", "iTCO\n")
	m.File("/sys/devices/system/edac/mc/mc0/mc_name", "skx_edac\n")
	m.File("/sys/devices/system/edac/mc/mc0/ce_count", "3\n")
	m.File("/sys/devices/system/edac/mc/mc0/ue_count", "0\n")
	m.File("/sys/class/hwmon/hwmon0/name", "coretemp\n")
	m.File("/sys/class/hwmon/hwmon0/temp1_input", "41000\n")
	m.File("/sys/class/hwmon/hwmon0/temp1_label", "Package id 0\n")
	m.File("/sys/class/hwmon/hwmon0/temp1_crit", "100000\n")
	m.File("/sys/bus/usb/devices/1-1/idVendor", "0951\n")
	m.File("/sys/bus/usb/devices/1-1/idProduct", "1666\n")
	m.File("/sys/bus/usb/devices/1-1/product", "DataTraveler 3.0\n")
	healthy(t, m)
	return m
}

// fewNames has ghw take the names of PCI devices from a short list, which is the same on every machine that tests.
func fewNames(t testing.TB) {
	t.Helper()
	names, err := filepath.Abs("testdata/pci.ids")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PCIDB_PATH", names)
}

func smart(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func all(t testing.TB, m *hosttest.Fake) *hardware.Inventory {
	t.Helper()
	return hardware.Inspect(t.Context(), m.Machine, hardware.Options{All: true, Now: func() time.Time { return now }})
}

// without the sizes of this machine's own disk.
func without(i *hardware.Inventory) *hardware.Inventory {
	i.Var = hardware.Space{}
	return i
}

// TestWholeInventory compares text and document of a server with what they should be.
func TestWholeInventory(t *testing.T) {
	i := without(all(t, whole(t)))
	document, err := json.MarshalIndent(i.Document(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if len(i.Errors) != 2 { // the snapshot has no USB hub, and the folder that is the machine has no routes
		t.Logf("not checked: %v", i.Errors)
	}
	page, err := i.Page().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"server.page.json": string(page), "server.txt": i.Text(), "server.json": string(document) + "\n"} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is not what it was; look at the difference after: go test ./backend/hardware -update\n%s", name, got)
		}
	}
	for line := range strings.SplitSeq(i.Text(), "\n") {
		if ansi.StringWidth(line) > 80 {
			t.Errorf("%d columns: %s", ansi.StringWidth(line), line)
		}
	}
}

// TestEachSectionFailsAlone breaks one thing after the other: its section says why, and every other one is as before. On the
// broken meminfo ghw panics.
func TestEachSectionFailsAlone(t *testing.T) {
	m := whole(t)
	before := without(all(t, m))
	type inventory = hardware.Inventory
	gone := func(path string) func() { return func() { move(t, m.Path(path), m.Path(path)+".gone") } }
	instead := func(path, content string) func() { return func() { gone(path)(); m.File(path, content) } }
	says := func(command string) func() { return func() { m.On(command, "", exec.ErrNotFound) } }
	bmc := table(38, 0x12, map[int]any{0x04: 1, 0x05: 0x20})
	for section, c := range map[string]struct {
		path string // what is put back; "" for a command
		hurt func()
		lost func(*inventory) // what goes with it
	}{
		"cpu":          {"/proc/cpuinfo", gone("/proc/cpuinfo"), func(i *inventory) { i.CPU = hardware.CPU{} }},
		"memory":       {"/proc/meminfo", instead("/proc/meminfo", "Hugepagesize: 2048 kB\nHugetlb: 0 kB\nMemTotal\n"), func(i *inventory) { i.Memory = hardware.Memory{} }},
		"disks":        {"/sys/block", gone("/sys/block"), func(i *inventory) { i.Disks = nil }},
		"nics":         {"/sys/class/net", gone("/sys/class/net"), func(i *inventory) { i.NICs = nil }},
		"boot":         {secureBoot, instead(secureBoot, "x"), func(i *inventory) { i.Firmware.SecureBoot = "" }},
		"clock":        {"/sys/class/rtc", gone("/sys/class/rtc"), func(i *inventory) { i.Clock.RTC = time.Time{} }},
		"var":          {"/var", gone("/var"), func(*inventory) {}},
		"hostname":     {"/proc/sys/kernel/hostname", gone("/proc/sys/kernel/hostname"), func(i *inventory) { i.Hostname = "" }},
		"modules":      {tables, instead(tables, bmc), func(i *inventory) { i.Modules = nil }},
		"topology":     {nodes, gone(nodes), func(i *inventory) { i.Nodes = nil }},
		"pci":          {"/sys/bus/pci/devices", gone("/sys/bus/pci/devices"), func(i *inventory) { i.PCI = nil }},
		"usb":          {"/sys/bus/usb", gone("/sys/bus/usb"), func(i *inventory) { i.USB = nil }},
		"edac":         {"/sys/devices/system/edac", gone("/sys/devices/system/edac"), func(i *inventory) { i.MemoryErrors = nil }},
		"temperatures": {"/sys/class/hwmon", gone("/sys/class/hwmon"), func(i *inventory) { i.Temperatures = nil }},
		"virtual":      {"", says("systemd-detect-virt"), func(i *inventory) { i.Virtual = "" }},
		"health":       {"", says("smartctl"), noHealth},
	} {
		t.Run(section, func(t *testing.T) {
			c.hurt()
			got, want := without(all(t, m)), *before
			want.Disks = slices.Clone(before.Disks)
			c.lost(&want)
			if got.Errors[section].String() == "" {
				t.Errorf("nothing is said about it: %v", got.Errors)
			}
			for name, why := range got.Errors {
				if name != section && before.Errors[name].String() == "" {
					t.Errorf("%s failed too: %s", name, why)
				}
			}
			got.Errors, want.Errors = nil, nil
			if !reflect.DeepEqual(got, &want) {
				t.Errorf("more is lost:\n%+v\nwant\n%+v", got, &want)
			}
			if c.path != "" {
				if err := os.RemoveAll(m.Path(c.path)); err != nil {
					t.Fatal(err)
				}
				move(t, m.Path(c.path)+".gone", m.Path(c.path))
				return
			}
			m.On("systemd-detect-virt", "none\n", errors.New("exit status 1"))
			healthy(t, m)
		})
	}
}

const (
	secureBoot = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	nodes      = "/sys/devices/system/node"
)

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// healthy lets the disks answer.
func healthy(t testing.TB, m *hosttest.Fake) {
	m.On("smartctl", smart(t, "nvme.json"), nil)
	m.On("smartctl --json=c --nocheck=standby --info --health --attributes /dev/sda", smart(t, "ata.json"), errors.New("exit status 64"))
}

func noHealth(i *hardware.Inventory) {
	for k := range i.Disks {
		i.Disks[k].Health, i.Disks[k].Firmware = nil, ""
	}
}

// TestAbsurdTexts: what firmware writes comes out as one short line that no terminal obeys.
func TestAbsurdTexts(t *testing.T) {
	absurd := []string{
		"\x1b[2J\x1b]0;title\a red \x1b[31m", strings.Repeat("A", 4096), "caf\xe9 \xff\xfe", "two\nlines\r\n\tthree", "\u202eltr\u2066", "\x00\x01\x7f\u0085\u009b",
	}
	m := whole(t)
	for _, s := range absurd {
		for _, name := range []string{"product_name", "sys_vendor", "product_serial", "board_serial", "chassis_asset_tag", "bios_version"} {
			m.File("/sys/class/dmi/id/"+name, s)
		}
		m.File("/sys/bus/usb/devices/1-1/product", s)
		m.File("/sys/class/hwmon/hwmon0/temp1_label", s)
		m.File(tables, table(17, 0x28, map[int]any{0x10: 1, 0x0c: uint16(4), 0x17: 1, 0x18: 1}, strings.ReplaceAll(s, "\x00", "")))
		m.On("smartctl", `{"firmware_version": `+string(quoted(s))+`, "power_on_time": {"hours": 1}}`, nil)
		i := all(t, m)
		document, err := json.Marshal(i.Document())
		if err != nil {
			t.Fatal(err)
		}
		var decoded any
		if err := json.Unmarshal(document, &decoded); err != nil {
			t.Fatal(err)
		}
		every(decoded, func(text string) {
			if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || utf8.RuneCountInString(text) > 200 {
				t.Errorf("%.60q became %q", s, text)
			}
		})
		for line := range strings.SplitSeq(i.Text(), "\n") {
			if ansi.StringWidth(line) > 80 || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%.60q became the line %q", s, line)
			}
		}
	}
}

// TestGapsSayWhyAlone: the row says what is missing, so why it is does not say once more what was being done; the file stays.
func TestGapsSayWhyAlone(t *testing.T) {
	m := hosttest.New(t)
	if err := m.Remove("/proc/sys/kernel/hostname"); err != nil {
		t.Fatal(err)
	}
	i := hardware.Inspect(t.Context(), m.Machine, hardware.Options{All: true})
	for section, want := range map[string]string{
		"modules":  "reading /sys/firmware/dmi/tables/DMI: no such file or directory",
		"bmc":      "reading /sys/firmware/dmi/tables/DMI: no such file or directory",
		"hostname": "reading /proc/sys/kernel/hostname: no such file or directory",
		"var":      "no such file or directory",
	} {
		if got := i.Errors[section]; got != message.Verbatim(want) {
			t.Errorf("%s: %+v, want %q", section, got, want)
		}
	}
	if text := strings.Join(strings.Fields(i.Text()), " "); strings.Contains(text, "SMBIOS") || !strings.Contains(text, "BMC not known: reading /sys/firmware/dmi") {
		t.Error(text)
	}
}

func quoted(s string) []byte {
	data, _ := json.Marshal(s)
	return data
}

// every calls do with each text of a decoded document.
func every(v any, do func(string)) {
	switch v := v.(type) {
	case string:
		do(v)
	case []any:
		for _, one := range v {
			every(one, do)
		}
	case map[string]any:
		for key, one := range v {
			do(key)
			every(one, do)
		}
	}
}
