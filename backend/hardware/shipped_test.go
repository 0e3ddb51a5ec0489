package hardware_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/message"
)

// edge is a server as factories ship them, with parts that are equal to each other and parts that come and go.
func edge() *hardware.Inventory {
	i := &hardware.Inventory{
		CPU:      hardware.CPU{Model: "Xeon D-2796NT", Sockets: 1, Cores: 20, Threads: 40},
		Memory:   hardware.Memory{Physical: 256 << 30, Usable: 250 << 30},
		Product:  hardware.Product{Vendor: "Acme", Name: "Edge 100", Serial: "SN-1", BIOS: "Acme 1.4 03/02/2026"},
		Firmware: hardware.Firmware{Boot: "UEFI", SecureBoot: "on", TPM: "2.0"},
		Errors:   map[string]message.Text{"edac": message.Data("the kernel counts none here")},
	}
	i.Board.Serial, i.Chassis.Serial = "B-1", "C-1"
	for n := range 8 {
		i.Modules = append(i.Modules, hardware.Module{Slot: fmt.Sprint("DIMM_A", n), Bytes: 32 << 30, Vendor: "Samsung", Part: "M393", Serial: fmt.Sprint("37A1B2C", n)}, hardware.Module{Slot: fmt.Sprint("DIMM_B", n)})
	}
	for n := range 4 {
		i.Disks = append(i.Disks, hardware.Disk{Name: fmt.Sprint("sd", string(rune('a'+n))), Bytes: 960e9, Type: "SSD", Model: "PM883", Serial: fmt.Sprint("S4X", n), Path: fmt.Sprint("pci-0000:00:17.0-ata-", n+1), Firmware: "HXT7"})
	}
	i.Disks = append(i.Disks, hardware.Disk{Name: "loop0", Bytes: 1e9, Virtual: true})
	for n := range 4 {
		i.NICs = append(i.NICs, hardware.NIC{Name: fmt.Sprint("eno", n+1), MAC: fmt.Sprintf("52:54:00:00:00:0%d", n), PCI: fmt.Sprintf("0000:%d:00.0", 60+n), Bus: "pci", Driver: "ice", Firmware: "4.00 0x800139d4", Vendor: "0x8086", Product: "0x1592", Link: "up"})
		i.PCI = append(i.PCI, hardware.Device{Address: fmt.Sprintf("0000:%d:00.0", 60+n), ClassID: "0200", VendorID: "8086", ProductID: "1592", Driver: "ice"})
	}
	for n, c := range []struct{ class, id string }{{"0302", "2236"}, {"0302", "2236"}, {"0107", "00e6"}, {"1200", "0d5c"}, {"0604", "347a"}, {"0880", "09a2"}, {"0c03", "a1af"}} {
		i.PCI = append(i.PCI, hardware.Device{Address: fmt.Sprintf("0000:%d:00.0", 80+n), ClassID: c.class, VendorID: "10de", ProductID: c.id, Name: "Part " + c.id})
	}
	return i
}

// planted is a difference: what was hurt, so that two of a pair never hurt the same, and what the check has to say.
type planted struct {
	where string
	check string // the beginning of its ID
	words []string
}

// cards are the positions of the cards in edge's PCI list: two of them are equal.
const firstCard = 4

// plants are the ways to change a machine on the road.
var plants = []func(*rand.Rand, *hardware.Inventory) planted{
	func(r *rand.Rand, i *hardware.Inventory) planted {
		at := r.IntN(len(i.Disks) - 1)
		d := i.Disks[at]
		i.Disks = slices.Delete(i.Disks, at, at+1)
		return planted{"disks", "shipped-disk-", []string{"serial number " + d.Serial, d.Path, "is gone"}}
	},
	func(r *rand.Rand, i *hardware.Inventory) planted {
		d := &i.Disks[r.IntN(len(i.Disks)-1)]
		was := d.Serial
		d.Serial = fmt.Sprint("NEW", r.IntN(1000))
		return planted{"disks", "shipped-disk-", []string{d.Path, "exchanged", was, d.Serial}}
	},
	func(r *rand.Rand, i *hardware.Inventory) planted {
		d := &i.Disks[r.IntN(len(i.Disks)-1)]
		d.Firmware = fmt.Sprint("HXT", 8+r.IntN(90))
		return planted{"disks", "shipped-disk-firmware-", []string{d.Serial, "HXT7", d.Firmware}}
	},
	func(r *rand.Rand, i *hardware.Inventory) planted {
		at := 2 * r.IntN(8)
		m := i.Modules[at]
		i.Modules[at] = hardware.Module{Slot: m.Slot}
		i.Memory.Physical -= m.Bytes
		return planted{"memory", "shipped-memory-module-", []string{m.Serial, m.Slot, "is gone"}}
	},
	func(r *rand.Rand, i *hardware.Inventory) planted {
		m := &i.Modules[2*r.IntN(8)+1]
		m.Bytes, m.Vendor, m.Part, m.Serial = 32<<30, "Samsung", "M393", fmt.Sprint("ADD", r.IntN(1000))
		return planted{"memory", "shipped-memory-module-", []string{m.Serial, m.Slot, "is new"}}
	},
	func(_ *rand.Rand, i *hardware.Inventory) planted { // plugged in, and broken
		i.Memory.Physical -= 32 << 30
		return planted{"memory", "shipped-memory-", []string{"256.0 GiB", "224.0 GiB"}}
	},
	func(r *rand.Rand, i *hardware.Inventory) planted {
		at := r.IntN(len(i.NICs))
		n := i.NICs[at]
		i.NICs = slices.Delete(i.NICs, at, at+1)
		i.PCI = slices.DeleteFunc(i.PCI, func(d hardware.Device) bool { return d.Address == n.PCI })
		return planted{"nics", "shipped-nic-", []string{n.MAC, "is gone"}}
	},
	func(r *rand.Rand, i *hardware.Inventory) planted {
		n := &i.NICs[r.IntN(len(i.NICs))]
		n.Firmware = fmt.Sprint("4.", 10+r.IntN(50))
		return planted{"nics", "shipped-nic-firmware-", []string{n.MAC, "4.00 0x800139d4", n.Firmware}}
	},
	func(r *rand.Rand, i *hardware.Inventory) planted {
		at := firstCard + r.IntN(4)
		d := i.PCI[at]
		i.PCI = slices.Delete(i.PCI, at, at+1)
		return planted{"cards", "shipped-card-", []string{d.VendorID + ":" + d.ProductID, "is gone"}}
	},
	func(r *rand.Rand, i *hardware.Inventory) planted {
		d := hardware.Device{Address: "0000:99:00.0", ClassID: "0302", VendorID: "10de", ProductID: fmt.Sprint(3000 + r.IntN(100))}
		i.PCI = append(i.PCI, d)
		return planted{"cards", "shipped-card-", []string{"GPU 10de:" + d.ProductID, "is new"}}
	},
	setting("bios", func(i *hardware.Inventory) *string { return &i.Product.BIOS }),
	setting("serial", func(i *hardware.Inventory) *string { return &i.Product.Serial }),
	setting("board", func(i *hardware.Inventory) *string { return &i.Board.Serial }),
	setting("secure-boot", func(i *hardware.Inventory) *string { return &i.Firmware.SecureBoot }),
	setting("tpm", func(i *hardware.Inventory) *string { return &i.Firmware.TPM }),
	setting("boot", func(i *hardware.Inventory) *string { return &i.Firmware.Boot }),
	func(_ *rand.Rand, i *hardware.Inventory) planted {
		i.CPU.Threads /= 2
		return planted{"cpu", "shipped-cpu-", []string{"40 threads", "20 threads"}}
	},
}

// setting plants another value.
func setting(id string, of func(*hardware.Inventory) *string) func(*rand.Rand, *hardware.Inventory) planted {
	return func(r *rand.Rand, i *hardware.Inventory) planted {
		was := *of(i)
		*of(i) = fmt.Sprint("other ", r.IntN(1000))
		return planted{id, "shipped-" + id + "-", []string{was, *of(i)}}
	}
}

// legitimate are the changes that two starts of one machine may show, one after the other with an even chance.
func legitimate(r *rand.Rand, i *hardware.Inventory) {
	for _, change := range []func(){
		func() { r.Shuffle(len(i.PCI), func(a, b int) { i.PCI[a], i.PCI[b] = i.PCI[b], i.PCI[a] }) },
		func() {
			r.Shuffle(len(i.Modules), func(a, b int) { i.Modules[a], i.Modules[b] = i.Modules[b], i.Modules[a] })
		},
		func() { // the firmware numbers the bus in another order, and the ports and disks with it
			for k := range i.PCI {
				if !strings.HasPrefix(i.PCI[k].ClassID, "02") {
					i.PCI[k].Address = fmt.Sprintf("0000:%d:00.0", 10+(k*7+3)%50)
				}
			}
			for k := range i.NICs {
				card := slices.IndexFunc(i.PCI, func(d hardware.Device) bool { return d.Address == i.NICs[k].PCI })
				i.NICs[k].Name, i.NICs[k].PCI = fmt.Sprint("ens", k), fmt.Sprintf("0000:7%d:00.0", 3-k)
				i.PCI[card].Address = i.NICs[k].PCI
			}
			for k := range i.Disks {
				i.Disks[k].Name, i.Disks[k].Path = fmt.Sprint("sd", string(rune('z'-k))), strings.Replace(i.Disks[k].Path, "0000:00:17", "0000:00:19", 1)
			}
		},
		func() { r.Shuffle(len(i.NICs), func(a, b int) { i.NICs[a], i.NICs[b] = i.NICs[b], i.NICs[a] }) },
		func() { // a stick, what a BMC emulates, an empty drive
			i.Disks = append(i.Disks,
				hardware.Disk{Name: "sdx", Bytes: 32e9, Removable: true, Serial: "STICK"},
				hardware.Disk{Name: "sdy", Bytes: 4e9, Model: "Virtual Floppy", Path: "pci-0000:00:14.0-usb-0:2:1.0-scsi-0:0:0:0"},
				hardware.Disk{Name: "sdw", Model: "Virtual CD", Serial: "AAAA"}, hardware.Disk{Name: "sr0", Bytes: 1e9, Type: "ODD"})
			i.NICs = append(i.NICs, hardware.NIC{Name: "enp0s20u1", MAC: "0a:00:00:00:00:01", Bus: "usb", Driver: "cdc_ether"})
			i.USB = append(i.USB, hardware.Device{Address: "1-1", Name: "Virtual Keyboard"})
		},
		func() { // a landed node that moves again: pods, virtual functions, a port handed to a pod
			i.NICs = append(i.NICs, hardware.NIC{Name: "veth1", MAC: "0a:00:00:00:00:02", Virtual: true}, hardware.NIC{Name: "ens1v0", MAC: "0a:00:00:00:00:03", Function: true, PCI: "0000:60:01.0"})
			i.PCI = append(i.PCI, hardware.Device{Address: "0000:90:01.0", ClassID: "1200", VendorID: "8086", ProductID: "0d5d", Function: true})
			at := slices.IndexFunc(i.NICs, func(n hardware.NIC) bool { return strings.HasPrefix(n.MAC, "52:") })
			for k := range i.PCI {
				if i.PCI[k].Address == i.NICs[at].PCI {
					i.PCI[k].Driver = []string{"vfio-pci", "ice", ""}[r.IntN(3)] // a virtual machine's, in a pod's namespace, without a driver
					i.NICs = slices.Delete(i.NICs, at, at+1)
					return
				}
			}
		},
		func() { i.Memory.Usable -= 1 << 30; i.CPU.MHz = 800; i.Var.Free = 1; i.Clock.System = time.Unix(1, 0) },
		func() { i.NICs[0].Link, i.NICs[0].Mbps, i.NICs[0].MTU = "down", 0, 9000 },
		func() { i.Disks[0].System, i.Disks[0].Partitions = true, []hardware.Partition{{Name: "sda1"}} },
		func() { // the list of PCI names is not there
			i.Errors["pci"] = message.Data("naming the PCI devices: no list")
			for k := range i.PCI {
				i.PCI[k].Name = ""
			}
		},
		func() { i.Temperatures, i.BMC = []hardware.Temperature{{Celsius: 90}}, &hardware.BMC{} },
	} {
		if r.IntN(2) == 0 {
			change()
		}
	}
}

// compared is a factory's machine, compared with others.
func compared(t testing.TB, then *hardware.Inventory) func(now *hardware.Inventory) []check.Check {
	t.Helper()
	m := hosttest.New(t)
	if got := hardware.Shipped(m.Machine, then); got != nil {
		t.Errorf("a factory that kept nothing is compared with: %+v", got)
	}
	if err := hardware.SaveShipped(m.Machine, then); err != nil {
		t.Fatal(err)
	}
	return func(now *hardware.Inventory) []check.Check { return hardware.Shipped(m.Machine, now) }
}

// TestPlantedDifferences plants 2,000 differences, alone and in pairs: each is named by its check, and nothing else is.
func TestPlantedDifferences(t *testing.T) {
	look := hardware.ShippedAs(edge())
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 17))
		now := edge()
		all := []planted{plants[int(seed)%len(plants)](r, now)}
		if seed%2 == 1 {
			if second := plants[r.IntN(len(plants))](r, now); second.where != all[0].where {
				all = append(all, second)
			} else { // the same place twice: once is enough
				now = edge()
				all[0] = plants[int(seed)%len(plants)](r, now)
			}
		}
		got := look(now)
		if len(got) != len(all) {
			t.Fatalf("seed %d: planted %+v, told %+v", seed, all, got)
		}
		for _, p := range all {
			if !slices.ContainsFunc(got, func(c check.Check) bool { return p.told(c) }) {
				t.Fatalf("seed %d: planted %+v, told %+v", seed, p, got)
			}
		}
	}
}

// verdict is what was planted deserves: what an update or a setting changes, and what is new, stops no landing.
func (p planted) verdict() check.Status {
	warns := []string{"shipped-bios-", "shipped-boot-", "shipped-secure-boot-", "shipped-tpm-", "shipped-disk-firmware-", "shipped-nic-firmware-"}
	if slices.Contains(warns, p.check) || slices.Contains(p.words, "is new") {
		return check.Warn
	}
	return check.Fail
}

// told reports whether a check is the one for what was planted.
func (p planted) told(c check.Check) bool {
	number, found := strings.CutPrefix(c.ID, p.check)
	found = found && !strings.Contains(number, "-") && c.Status == p.verdict() && c.Fix.String() != "" && c.Title.String() != ""
	for _, w := range p.words {
		found = found && strings.Contains(c.Observed.String(), w)
	}
	return found
}

// TestHealthyVariants looks at 500 starts of one machine: no difference is told.
func TestHealthyVariants(t *testing.T) {
	look := hardware.ShippedAs(edge())
	for seed := range uint64(500) {
		now := edge()
		legitimate(rand.New(rand.NewPCG(seed, 4)), now)
		wanted := min(1, len(now.PassedOn())) // a port that a pod has is told, and fails nothing
		got := look(now)
		if len(got) != 1+wanted || got[0].ID != "hw-shipped" || got[0].Status != check.Pass {
			t.Fatalf("seed %d: %+v", seed, got)
		}
		if wanted == 1 && (got[1].Status != check.Skip || !strings.Contains(got[1].Observed.String(), "a pod may have the port")) {
			t.Fatalf("seed %d: %+v", seed, got[1])
		}
	}
}

// TestWhatOneSideCannotReadIsTold: a gap on one side is told and fails nothing, and what both sides read is compared all the same.
func TestWhatOneSideCannotReadIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		hurt func(*hardware.Inventory)
		says string
	}{
		"modules":         {func(i *hardware.Inventory) { i.Modules, i.Errors["modules"] = nil, message.Data("no tables") }, "Memory modules"},
		"cards":           {func(i *hardware.Inventory) { i.PCI, i.Errors["pci"] = nil, message.Data("no bus") }, "Cards"},
		"disks":           {func(i *hardware.Inventory) { i.Disks, i.Errors["disks"] = nil, message.Data("no disks") }, "Disks"},
		"ports":           {func(i *hardware.Inventory) { i.NICs, i.Errors["nics"] = nil, message.Data("no ports") }, "Network ports"},
		"TPM":             {func(i *hardware.Inventory) { i.Firmware.TPM = "unknown" }, "The security chip (TPM)"},
		"BIOS":            {func(i *hardware.Inventory) { i.Product.BIOS = "" }, "The firmware (BIOS)"},
		"a serial number": {func(i *hardware.Inventory) { i.Disks[2].Serial = "" }, "the serial number of PM883"},
		"NIC firmware":    {func(i *hardware.Inventory) { i.NICs[1].Firmware = "" }, "52:54:00:00:00:01"},
	} {
		for side, where := range []string{"known now", "known at the factory"} {
			then, now := edge(), edge()
			c.hurt([]*hardware.Inventory{now, then}[side])
			got := compared(t, then)(now)
			if len(got) != 2 || got[0].Status != check.Pass || got[1].Status != check.Skip || got[1].ID != "hw-shipped-unread" || !strings.Contains(got[1].Observed.String(), c.says) {
				t.Errorf("%s not %s: %+v", name, where, got)
			}
			now.Firmware.Boot = "BIOS"
			if got := compared(t, then)(now); len(got) != 2 || !strings.HasPrefix(got[0].ID, "shipped-boot-") || got[0].Status != check.Warn {
				t.Errorf("%s not %s, and another boot mode: %+v", name, where, got)
			}
		}
	}
}

// TestShippedByAnOlderFactory: a file without parts is compared as far as it goes; one that cannot be read is told.
func TestShippedByAnOlderFactory(t *testing.T) {
	m := hosttest.New(t)
	old := edge()
	old.Parts, old.Disks = hardware.Parts{}, old.Disks[:4]
	old.NICs = append(old.NICs, // a BMC's own port, and virtual functions; that of mlx5_core is known by today's
		hardware.NIC{Name: "usb0", MAC: "0a:00:00:00:00:01", Driver: "cdc_ether"},
		hardware.NIC{Name: "ens1v0", MAC: "0a:00:00:00:00:02", Driver: "iavf", PCI: "0000:60:01.0"},
		hardware.NIC{Name: "ens2v0", MAC: "0a:00:00:00:00:03", Driver: "mlx5_core", PCI: "0000:61:01.0"})
	for n := range old.NICs {
		old.NICs[n].Bus = ""
	}
	data, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	m.File(layout.Shipped, string(data))
	now := edge()
	now.Board, now.Chassis = hardware.Plate{}, hardware.Plate{}
	now.NICs = append(now.NICs, hardware.NIC{Name: "ens2v0", MAC: "0a:00:00:00:00:03", Driver: "mlx5_core", PCI: "0000:61:01.0", Bus: "pci", Function: true})
	got := hardware.Shipped(m.Machine, now)
	if len(got) != 2 || got[0].Status != check.Pass || !strings.Contains(got[1].Observed.String(), "older version") {
		t.Errorf("the same machine: %+v", got)
	}
	now.NICs, now.PCI = now.NICs[1:], now.PCI[1:]
	if got := hardware.Shipped(m.Machine, now); len(got) != 2 || got[0].Status != check.Fail || !strings.Contains(got[0].Observed.String(), "52:54:00:00:00:00") {
		t.Errorf("without a port: %+v", got)
	}
	for _, spoilt := range []string{"{", "[]", `{"disks": 3}`, ""} {
		m.File(layout.Shipped, spoilt)
		if got := hardware.Shipped(m.Machine, now); len(got) != 1 || got[0].Status != check.Skip {
			t.Errorf("spoilt by %q: %+v", spoilt, got)
		}
	}
}

// TestNumbersOfADisk: a serial number is never compared with a WWN, which a disk may tell at one start and not at another.
func TestNumbersOfADisk(t *testing.T) {
	disk := func(serial, wwn string) *hardware.Inventory {
		i := edge()
		i.Disks[0].Serial, i.Disks[0].WWN = serial, wwn
		return i
	}
	for name, c := range map[string]struct {
		then, now *hardware.Inventory
		want      []check.Status
	}{
		"the serial number is not told now":        {disk("S", "W"), disk("", "W"), []check.Status{check.Pass}},
		"the serial number was not told":           {disk("", "W"), disk("S", "W"), []check.Status{check.Pass}},
		"the WWN is not told now":                  {disk("S", "W"), disk("S", ""), []check.Status{check.Pass}},
		"one tells only the one, one the other":    {disk("S", ""), disk("", "W"), []check.Status{check.Pass, check.Skip}},
		"another disk by its WWN alone":            {disk("", "W"), disk("", "X"), []check.Status{check.Fail}},
		"another disk by its WWN, with a number":   {disk("", "W"), disk("S", "X"), []check.Status{check.Fail}},
		"another disk by both":                     {disk("S", "W"), disk("R", "X"), []check.Status{check.Fail}},
		"another number with a WWN that is shared": {disk("S", "W"), disk("R", "W"), []check.Status{check.Fail}},
	} {
		var got []check.Status
		checks := compared(t, c.then)(c.now)
		for _, k := range checks {
			got = append(got, k.Status)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v", name, checks)
		}
	}
}

// shuffled is a machine whose kernel finds its parts in another order.
func shuffled(r *rand.Rand, i *hardware.Inventory) *hardware.Inventory {
	r.Shuffle(len(i.PCI), func(a, b int) { i.PCI[a], i.PCI[b] = i.PCI[b], i.PCI[a] })
	r.Shuffle(len(i.Modules), func(a, b int) { i.Modules[a], i.Modules[b] = i.Modules[b], i.Modules[a] })
	r.Shuffle(len(i.NICs), func(a, b int) { i.NICs[a], i.NICs[b] = i.NICs[b], i.NICs[a] })
	r.Shuffle(len(i.Disks), func(a, b int) { i.Disks[a], i.Disks[b] = i.Disks[b], i.Disks[a] })
	return i
}

// TestAcceptedIsOneDifference: the ID, to which an acceptance belongs, is the same at each look, in whatever order the kernel finds the
// parts, and differs for each difference.
func TestAcceptedIsOneDifference(t *testing.T) {
	ids := map[string]string{}
	look := compared(t, edge())
	for n := range 30 {
		now := edge()
		now.Disks[0].Serial = fmt.Sprint("OTHER-", n%3)
		now.PCI = slices.Delete(now.PCI, firstCard, firstCard+2) // two that are equal
		for slot := range 2 {
			now.PCI = append(now.PCI, hardware.Device{Address: fmt.Sprintf("0000:9%d:00.0", slot), ClassID: "0302", VendorID: "10de", ProductID: "3000"})
		}
		for _, c := range look(shuffled(rand.New(rand.NewPCG(uint64(n), 5)), now)) {
			if was := cmp.Or(ids[c.ID], c.Observed.String()); was != c.Observed.String() {
				t.Errorf("%s is %q and %q", c.ID, was, c.Observed)
			}
			ids[c.ID] = c.Observed.String()
		}
	}
	if len(ids) != 7 {
		t.Errorf("three disks and four cards have %d IDs: %v", len(ids), ids)
	}
}

// TestAnotherMachine has more differences than anybody reads: the last check has the rest.
func TestAnotherMachine(t *testing.T) {
	now := edge()
	for k := range now.Disks {
		now.Disks[k].Serial += "x"
	}
	for k := range now.Modules {
		now.Modules[k].Serial += "x"
	}
	for k := range now.NICs {
		now.NICs[k].MAC = "aa" + now.NICs[k].MAC[2:]
	}
	now.Product.Serial, now.Board.Serial, now.Chassis.Serial, now.Product.BIOS = "X", "X", "X", "X"
	now.Firmware = hardware.Firmware{Boot: "BIOS", SecureBoot: "off", TPM: "none"}
	now.CPU.Threads, now.PCI = 4, now.PCI[:firstCard]
	look := compared(t, edge())
	got := look(now)
	if last := got[len(got)-1]; len(got) != 25 || !strings.HasPrefix(last.ID, "shipped-more-") || len(last.Evidence) != 4 || last.Status != check.Warn {
		t.Errorf("%d checks, the last one %+v", len(got), last)
	}
	for seed := range uint64(20) {
		for n, c := range look(shuffled(rand.New(rand.NewPCG(seed, 6)), now)) {
			if c.ID != got[n].ID || c.Observed.String() != got[n].Observed.String() {
				t.Fatalf("seed %d, check %d is %+v, was %+v", seed, n, c, got[n])
			}
		}
	}
}

// TestPartsReallyGone takes parts out of a machine as firmware and kernel show them, and puts a stick in.
func TestPartsReallyGone(t *testing.T) {
	m := whole(t)
	for _, name := range []string{"nvme1n1", "nvme2n1"} {
		disk(m, name, 960_000_000_000, "0", "0")
		m.File("/sys/block/"+name+"/dev", map[string]string{"nvme1n1": "259:1", "nvme2n1": "259:2"}[name]+"\n")
		m.File("/run/udev/data/b"+map[string]string{"nvme1n1": "259:1", "nvme2n1": "259:2"}[name], "E:ID_SERIAL_SHORT=SER-"+name+"\nE:ID_PATH=pci-0000:65:00.0-nvme-"+name+"\n")
		m.File("/sys/block/"+name+"/device/firmware_rev", "GDC5\n")
	}
	look := func() *hardware.Inventory {
		return hardware.Inspect(t.Context(), m.Machine, hardware.Options{Parts: true, Now: func() time.Time { return now }})
	}
	if err := hardware.SaveShipped(m.Machine, look()); err != nil {
		t.Fatal(err)
	}
	disk(m, "sdz", 32e9, "0", "1")
	if got := hardware.Shipped(m.Machine, look()); len(got) != 1 || got[0].Status != check.Pass {
		t.Fatalf("with a stick: %+v", got)
	}
	if err := os.RemoveAll(m.Path("/sys/block/nvme1n1")); err != nil {
		t.Fatal(err)
	}
	m.File("/sys/block/nvme2n1/device/firmware_rev", "GDC6\n")
	m.File("/sys/class/dmi/id/bios_version", "1.5\n")
	m.File(tables, strings.Replace(dimms(), "37A1B2C3", "99999999", 1))
	var told []string
	for _, c := range hardware.Shipped(m.Machine, look()) {
		told = append(told, c.Observed.String())
	}
	want := []string{
		"The firmware (BIOS) was Acme 1.4 03/02/2026 and is Acme 1.5 03/02/2026 now",
		"The disk with serial number SER-nvme1n1 in bay pci-0000:65:00.0-nvme-nvme1n1 is gone (960 GB)",
		"The firmware of the disk with serial number SER-nvme2n1 was GDC5 and is GDC6 now",
		"The memory module in slot DIMM_A1, Bank 0 was exchanged: serial number 37A1B2C3 (16.0 GiB Samsung M393A2K40CB2-CTD) was shipped, 99999999 (16.0 GiB Samsung M393A2K40CB2-CTD) is there now",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}
