package order

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const head = "apiVersion: touchdown.dev/v1alpha1\nkind: OrderSheet\nname: A-17\n"

// sheet is an order of a small server.
const sheet = head + `profile: vdu
serials: [SN-1, SN-2]
model: Edge 100
bios: "1.4"
modules: [{count: 2, model: Samsung, size: 32}]
disks: [{count: 1, size: 400}, {count: 1, model: PM883, size: 900, firmware: HXT7}]
nics: [{count: 2, model: ice, firmware: "4.00"}]
`

// ordered is the machine of that order.
func ordered() *hardware.Inventory {
	nic := hardware.NIC{Driver: "ice", Firmware: "4.00", Bus: "pci"}
	i := &hardware.Inventory{
		CPU: hardware.CPU{Threads: 16, Cores: 8}, Memory: hardware.Memory{Physical: 64 << 30},
		Product: hardware.Product{Vendor: "Acme", Name: "Edge 100", Serial: "sn-2", BIOS: "Acme 1.4 03/02/2026"}, Firmware: hardware.Firmware{Boot: "UEFI"},
		Disks: []hardware.Disk{
			{Name: "sda", Bytes: 960e9, Model: "PM883", Firmware: "HXT7", System: true}, {Name: "sdb", Bytes: 480e9, Model: "PM881"}, {Name: "sdc", Bytes: 960e9, Removable: true},
		},
		NICs: []hardware.NIC{nic, nic, {Driver: "ice", Firmware: "4.00", Function: true}, {Driver: "cdc_ether", Bus: "usb"}},
	}
	i.Modules = []hardware.Module{{Bytes: 32 << 30, Vendor: "Samsung"}, {}, {Bytes: 32 << 30, Vendor: "Samsung"}}
	return i
}

func parse(t testing.TB, text string) *Sheet {
	t.Helper()
	s, err := Parse([]byte(text), "order.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// judged are the verdicts on a machine that are not a pass.
func judged(t testing.TB, s *Sheet, i *hardware.Inventory) map[string]check.Check {
	t.Helper()
	all := map[string]check.Check{}
	for _, c := range slices.Concat(s.Checks(i), hardware.Checks(i, s.Limits(hardware.For("4.21")))) {
		if strings.HasPrefix(c.ID, "order-") && (c.Title.String() == "" || c.Observed.String() == "" || c.Expected.String() == "" || c.Status == check.Fail && c.Fix.String() == "") {
			t.Errorf("incomplete: %+v", c)
		}
		if c.Status == check.Fail || strings.HasPrefix(c.ID, "order-") && c.Status != check.Pass {
			all[c.ID] = c
		}
	}
	return all
}

// TestWhatWasOrdered: the machine of the order passes, and each part that is missing or another one is named.
func TestWhatWasOrdered(t *testing.T) {
	s := parse(t, sheet)
	always := []string{"hw-clock", "hw-nics", "hw-cpu-flags"} // what this inventory leaves out
	if got := judged(t, s, ordered()); slices.ContainsFunc(slices.Collect(keys(got)), func(id string) bool { return !slices.Contains(always, id) }) {
		t.Errorf("as ordered: %+v", got)
	}
	for id, c := range map[string]struct {
		hurt   func(*hardware.Inventory)
		status check.Status
		says   string
	}{
		"order-serial":  {func(i *hardware.Inventory) { i.Product.Serial = "SN-3" }, check.Fail, "SN-3"},
		"order-model":   {func(i *hardware.Inventory) { i.Product.Name = "Edge 90" }, check.Fail, "Edge 90"},
		"order-bios":    {func(i *hardware.Inventory) { i.Product.BIOS = "" }, check.Skip, "does not say"},
		"order-modules": {func(i *hardware.Inventory) { i.Modules[0].Bytes = 0 }, check.Fail, "missing: 1 x Samsung 32"},
		"order-disks":   {func(i *hardware.Inventory) { i.Disks[0].Firmware = "HXT8" }, check.Fail, "missing: 1 x PM883 900 HXT7"},
		"order-nics":    {func(i *hardware.Inventory) { i.NICs = i.NICs[1:] }, check.Fail, "missing: 1 x ice 4.00"},
		"hw-memory":     {func(i *hardware.Inventory) { i.Memory.Physical = 16 << 30 }, check.Fail, "16.0 GiB"},
		"hw-boot-mode":  {func(i *hardware.Inventory) { i.Firmware.Boot = "BIOS" }, check.Fail, "BIOS"},
	} {
		i := ordered()
		c.hurt(i)
		got := judged(t, s, i)
		if got[id].Status != c.status || !strings.Contains(got[id].Observed.String(), c.says) {
			t.Errorf("%s: %+v", id, got[id])
		}
		delete(got, id)
		for other := range got {
			if !slices.Contains(always, other) {
				t.Errorf("%s: %s is told too: %+v", id, other, got[other])
			}
		}
	}
	i := ordered()
	i.Modules, i.Errors = nil, map[string]message.Text{"modules": message.Data("no tables")}
	if got := judged(t, s, i)["order-modules"]; got.Status != check.Skip || !strings.Contains(got.Observed.String(), "no tables") {
		t.Errorf("modules that cannot be read: %+v", got)
	}
	i.Modules = ordered().Modules[1:]
	if got := judged(t, s, i)["order-modules"]; got.Status != check.Fail {
		t.Errorf("modules with an error beside them: %+v", got)
	}
}

func keys(m map[string]check.Check) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestProfiles: each can be read, names a source, asks for no less than OpenShift, and for more where it says so.
func TestProfiles(t *testing.T) {
	base := hardware.For("4.21")
	for _, name := range Profiles() {
		s, err := Load(name)
		if err != nil || s.Name != name || s.Source == "" {
			t.Fatalf("%s: %+v, %v", name, s, err)
		}
		l := s.Limits(base)
		if l.Threads.Fail < base.Threads.Fail || l.MemoryMiB.Fail < base.MemoryMiB.Fail || l.DiskGB.Fail < base.DiskGB.Fail {
			t.Errorf("%s asks for less than OpenShift: %+v", name, l)
		}
		if name == "sno" && l != base {
			t.Errorf("sno is not what OpenShift asks for: %+v", l)
		}
		if name != "sno" && !strings.Contains(l.DiskGB.Source.String(), s.Source) {
			t.Errorf("%s: the limit does not say where it comes from: %+v", name, l.DiskGB)
		}
	}
	if own := parse(t, head+"profile: vdu\nminimum: {memoryGiB: 64}\n"); own.Minimum.MemoryGiB != 64 || own.Minimum.DiskGB != 120 || !own.Minimum.UEFI {
		t.Errorf("a sheet with a profile: %+v", own.Minimum)
	}
	if s := parse(t, head+"bios: 1.4\ndisks: [{count: 1, model: 3.84, size: 0x10}]\n"); s.BIOS != "1.4" || s.Disks[0].Model != "3.84" || s.Disks[0].Size != 16 {
		t.Errorf("texts that look like numbers: %+v", s)
	}
	if (*Sheet)(nil).Limits(base) != base || (*Sheet)(nil).Checks(ordered()) != nil {
		t.Error("no sheet judges")
	}
}

// hostile are sheets that are refused, with a part of the reason.
var hostile = map[string]string{
	head + "ports: [{nic: ../eno1, switch: s}]": "kernel", head + "ports: [{nic: enp1234567890123, switch: s}]": "kernel", head + "ports: [{nic: \"52:54:00\", switch: s}]": "kernel",
	"": "EOF", "[": "YAML", "a: b": "not found", head + "color: red": "color", head + "---\n" + head: "more than one document", "apiVersion: v1\nkind: Pod\n": "OrderSheet",
	head + "profile: ../../etc/shadow": "profile", head + "minimum: {threads: -1}": "negative", head + "minimum: {memoryGiB: 99999999999}": "too large",
	head + "minimum: {threads: many}": "cannot unmarshal", head + `model: "\x1b[2J"`: "model", head + "bios: " + strings.Repeat("A", 200): "160 bytes",
	head + "serials: [SN, \"a\\nb\"]": "serials[1]", head + "disks: [{count: 0}]": "disks[0]", head + "nics: [{count: 1, size: 5}]": "no size",
	head + "modules: [{count: 1, model: \"\\e\"}]": "modules[0]", head + "ports: [{nic: eno1}]": "ports[0]", head + "ports: [{nic: eno1, vlan: 4095}]": "4094",
	head + "ports: [{nic: 52-54-00-00-00-0a, port: a}, {nic: 5254.0000.000A, port: b}]": "twice", head + "ports: [{nic: eno1, port: a}, {nic: ENO1, port: b}]": "twice", head + "ports: [{nic: eno1, switch: s, port: a}, {nic: eno2, switch: s, port: a}]": "twice",
	head + "serials: [" + strings.Repeat("A,", 1100) + "]": "more than", strings.Repeat("#", maxBytes+1): "larger",
	"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n": "YAML",
	"\"\\e[31mred\": 1\n":                                            "red",
	head + "disks: [{count: 1, size: 3.84}]":                         "line 4: disks[0].size is 3.84 where a whole number is expected",
	head + "modules:\n- count: 1\n- count: 2.5\n":                    "line 6: modules[1].count is 2.5 where",
	head + "ports: [{nic: eno1, vlan: 20.9}]":                        "line 4: ports[0].vlan is 20.9 where",
	head + "minimum: {memoryGiB: 0.5}":                               "line 4: minimum.memoryGiB is 0.5 where",
	head + "nics: [&a {count: 1.5}]\ndisks: [*a, {<<: *a, size: 3}]": "line 4: nics[0].count is 1.5 where",
	head + "disks: [{<<: {size: 0.1}, count: 1}]":                    "line 4: disks[0].size is 0.1 where",
	head + "disks: [{<<: [{count: 1}, {size: 0.5}], count: 1}]":      "disks[0].size is 0.5 where",
	head + "minimum: {threads: .nan}":                                "cannot unmarshal",
}

// TestHostileSheets: each is refused with where and what, and no word of it reaches a terminal as a command.
func TestHostileSheets(t *testing.T) {
	for text, why := range hostile {
		_, err := Parse([]byte(text), "order.yaml")
		if err == nil || !strings.Contains(err.Error(), why) || strings.ContainsAny(err.Error(), "\x1b\r\n") || len(err.Error()) > 1000 {
			t.Errorf("%.60q: %q, want %q in it", text, err, why)
		}
		if cause := message.Detail(problem.From(err).Err); message.Of(&cause)[""].ID == message.Technical {
			t.Errorf("%.60q: %q is in English for everyone", text, cause)
		}
	}
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{dir, filepath.Join(dir, "pipe"), filepath.Join(dir, "none.yaml"), "/dev/zero"} {
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), "SHT-FLE") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestAKeptSheet is the same as the one that was read from a file, and can be taken away.
func TestAKeptSheet(t *testing.T) {
	m := hosttest.New(t)
	if s, err := Kept(m.Machine); s != nil || err != nil {
		t.Errorf("none was kept: %+v, %v", s, err)
	}
	file := filepath.Join(t.TempDir(), "order.yaml")
	if err := os.WriteFile(file, []byte(sheet), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Keep(m.Machine); err != nil {
		t.Fatal(err)
	}
	kept, err := Kept(m.Machine)
	if err != nil || kept.Source != s.Source || kept.Minimum != s.Minimum || len(kept.Disks) != 2 {
		t.Errorf("%+v, %v", kept, err)
	}
	if err := Forget(m.Machine); err != nil {
		t.Fatal(err)
	}
	if s, err := Kept(m.Machine); s != nil || err != nil {
		t.Errorf("taken away: %+v, %v", s, err)
	}
}

// FuzzSheet: whatever is written, it is refused or keeps its bounds.
func FuzzSheet(f *testing.F) {
	f.Add([]byte(sheet))
	for text := range hostile {
		if len(text) < 4096 {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data, "order.yaml")
		if err != nil {
			return
		}
		for _, i := range slices.Concat(s.Modules, s.Disks, s.NICs) {
			if i.Count < 1 || i.Count > maxItems {
				t.Errorf("%+v", i)
			}
		}
		s.Checks(ordered())
	})
}
