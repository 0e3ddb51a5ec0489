package hardware_test

import (
	"strings"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
)

// TestShipped: what was lost, exchanged or added on the way is named, and nothing else.
func TestShipped(t *testing.T) {
	m := hosttest.New(t)
	then := &hardware.Inventory{
		CPU: hardware.CPU{Model: "Xeon", Threads: 16}, Memory: hardware.Memory{Physical: 64 << 30},
		Disks:    []hardware.Disk{{Name: "sda", Bytes: 960e9, Model: "M", Serial: "1"}, {Name: "sdb", Bytes: 960e9, Model: "M", Serial: "2"}, {Name: "loop0", Bytes: 1e9, Virtual: true}},
		NICs:     []hardware.NIC{{Name: "eno1", MAC: "aa"}, {Name: "veth0", MAC: "zz", Virtual: true}},
		Product:  hardware.Product{Serial: "S"},
		Firmware: hardware.Firmware{TPM: "2.0", SecureBoot: "on"},
	}
	if _, ok := hardware.Shipped(m.Machine, then); ok {
		t.Error("a factory that kept nothing is compared with")
	}
	if err := hardware.SaveShipped(m.Machine, then); err != nil {
		t.Fatal(err)
	}
	arrived := *then
	arrived.Disks = []hardware.Disk{{Name: "sdc", Bytes: 960e9, Model: "M", Serial: "1"}}
	arrived.NICs = []hardware.NIC{{Name: "eno1", MAC: "aa"}, {Name: "eno2", MAC: "bb"}}
	arrived.Memory.Physical /= 2
	for name, c := range map[string]struct {
		now  *hardware.Inventory
		want string
	}{
		"the same": {then, ""},
		"changed":  {&arrived, "missing: 65536 MiB of memory|missing: disk of 960 GB, M 2|new: 32768 MiB of memory|new: network port with MAC bb"},
	} {
		got, ok := hardware.Shipped(m.Machine, c.now)
		if !ok || strings.Join(got.Evidence, "|") != c.want || (got.Status == check.Pass) != (c.want == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	m.File(layout.Shipped, "{")
	if c, ok := hardware.Shipped(m.Machine, then); !ok || c.Status != check.Skip {
		t.Errorf("a spoilt inventory: %+v", c)
	}
}
