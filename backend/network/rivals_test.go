package network

import (
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
)

// foreign are profiles that have nothing to do with a plan for enp1s0.
var foreign = map[string]string{
	"storage.nmconnection":      "[connection]\nid=storage\nuuid=1\ntype=ethernet\ninterface-name=enp3s0\n",
	"tunnel.nmconnection":       "[connection]\nid=tunnel\nuuid=2\ntype=wireguard\ninterface-name=wg0\n",
	"any port.nmconnection":     "[connection]\nid=any port\nuuid=3\ntype=ethernet\nautoconnect=false\n",
	"office.nmconnection":       "[connection]\nid=office\nuuid=4\ntype=vlan\n\n[vlan]\nid=9\n\n[ethernet]\nmac-address=AA:00:00:00:00:01\n",
	"elsewhere.nmconnection":    "[connection]\nid=elsewhere\nuuid=5\ntype=ethernet\ninterface-name=enp4s0\n\n[ethernet]\nmac-address=AA:00:00:00:00:01\n",
	"modem.nmconnection":        "[connection]\nid=modem\nuuid=6\ntype=gsm\n",
	"unreadable.nmconnection":   "interface-name=enp1s0\n",
	"cellular.nmconnection.bak": "",
}

// TestForeignProfilesStay: what is kept takes away profiles of the same port and nothing else, however a document names it.
func TestForeignProfilesStay(t *testing.T) {
	byMAC := "  identifier: mac-address\n  mac-address: AA:00:00:00:00:01\n"
	for name, text := range map[string]string{
		"by name": siteDocument(""), "by MAC": siteDocument(byMAC), "by MAC, named": siteDocument("  profile-name: uplink\n" + byMAC),
		"by MAC, another name": strings.ReplaceAll(siteDocument(byMAC), "enp1s0", "the office"),
	} {
		t.Run(name, func(t *testing.T) {
			m, now := hosttest.New(t), factory(t)
			now.Macs = map[string]string{"aa:00:00:00:00:01": "enp1s0", "aa:00:00:00:00:02": "enp2s0"}
			for file, text := range foreign {
				m.File(keptDir+"/"+file, text)
			}
			m.File(keptDir+"/mac.nmconnection", "[connection]\nid=mac\nuuid=7\ntype=802-3-ethernet\n\n[802-3-ethernet]\nmac-address=AA:00:00:00:00:01\n")
			n := &Network{host: m.Machine, library: nmstateLibrary{}, manager: networkManager{}}
			p, err := compilePlan(t.Context(), n.library, Settings{Raw: []byte(text)}, now, now)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := n.Persist(p); err != nil || !n.Persisted(p) {
					t.Fatalf("not kept: %v", err)
				}
			}
			names, err := m.Folder(keptDir).Names()
			if err != nil {
				t.Fatal(err)
			}
			for file, text := range foreign {
				if m.Content(keptDir+"/"+file) != text || !slices.Contains(names, file) {
					t.Errorf("%s is gone", file)
				}
			}
			if want := len(foreign) + 1; len(names) != want || !slices.Contains(names, "touchdown-enp1s0.nmconnection") {
				t.Errorf("left are %q, want the foreign ones and the port's", names)
			}
			if v := values(m.Content(keptDir + "/touchdown-enp1s0.nmconnection")); v["connection.interface-name"] != "enp1s0" {
				t.Errorf("the profile is for %q", v["connection.interface-name"])
			}
		})
	}
}

// TestAPortThatIsNotThere: a document that names a port by the MAC address of no port is refused.
func TestAPortThatIsNotThere(t *testing.T) {
	for name, text := range map[string]string{
		"unknown MAC":        siteDocument("  identifier: mac-address\n  mac-address: AA:00:00:00:00:09\n"),
		"no MAC":             siteDocument("  identifier: mac-address\n"),
		"another identifier": siteDocument("  identifier: pci-address\n  pci-address: 0000:00:1f.6\n"),
	} {
		now := factory(t)
		now.Macs = map[string]string{"aa:00:00:00:00:01": "enp1s0", "aa:00:00:00:00:02": "enp2s0"}
		if _, err := compilePlan(t.Context(), offline(t).library, Settings{Raw: []byte(text)}, now, now); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// laid is a machine with a profile of enp1s0, and MachineConfigs that lay these files.
func laid(t *testing.T, files ...string) *hosttest.Fake {
	t.Helper()
	m := hosttest.New(t)
	m.File(keptDir+"/lan.nmconnection", "[connection]\nid=lan\nuuid=1\ntype=ethernet\ninterface-name=enp1s0\n")
	lays(m, files...)
	return m
}

func lays(m *hosttest.Fake, files ...string) {
	var list []string
	for _, f := range files {
		list = append(list, `{"path":"`+f+`"}`)
	}
	m.File("/etc/machine-config-daemon/currentconfig", `{"spec":{"config":{"storage":{"files":[`+strings.Join(list, ",")+`]}}}}`)
}

// TestAProfileOfAMachineConfig is not removed or written: its daemon would find that and mark the pool as degraded. The settings that it
// is in the way of are refused before anything changes.
func TestAProfileOfAMachineConfig(t *testing.T) {
	bonded := static()
	bonded.Bond = Bond{"active-backup", []string{"enp1s0", "enp2s0"}}
	const lan, ours = keptDir + "/lan.nmconnection", keptDir + "/touchdown-enp1s0.nmconnection"
	for name, c := range map[string]struct {
		s    Settings
		laid string
		path string // of the fault; "": none
	}{
		"a form":                 {static(), lan, "spec.network.interface"},
		"a bond":                 {bonded, lan, "spec.network.bond.ports"},
		"a document":             {Settings{Raw: []byte(siteDocument(""))}, lan, "spec.networkConfig"},
		"one of our name":        {static(), ours, "spec.network.interface"},
		"another file":           {static(), keptDir + "/storage.nmconnection", ""},
		"another file, document": {Settings{Raw: []byte(siteDocument(""))}, keptDir + "/storage.nmconnection", ""},
	} {
		m, now := laid(t, c.laid), factory(t)
		n := &Network{host: m.Machine, library: nmstateLibrary{}, manager: networkManager{}}
		p, err := compilePlan(t.Context(), n.library, c.s, now, now)
		if err != nil {
			t.Fatal(err)
		}
		faults := n.Validate(t.Context(), c.s, Facts{Now: now, Ports: []Port{{Name: "enp1s0"}, {Name: "enp2s0"}}})
		kept := n.Persist(p)
		if c.path == "" {
			if len(faults) > 0 || kept != nil || !n.Persisted(p) {
				t.Errorf("%s: %+v, %v", name, faults, kept)
			}
			continue
		}
		if len(faults) != 1 || faults[0].Path != c.path || !strings.Contains(faults[0].Text.String(), c.laid) {
			t.Errorf("%s: the faults are %+v", name, faults)
		}
		if !is(kept, "NET-HELD") || !m.Exists(lan) || m.Exists(ours) {
			t.Errorf("%s: kept all the same (%v)", name, kept)
		}
		m.File(ours, p.files[0].Text)
		if c.laid == ours && (n.Persist(p) != nil || m.Exists(lan)) {
			t.Errorf("%s: what is there already counts as changed", name)
		}
	}
}

// TestPutBackLeavesTheMachineConfigsProfile that changed meanwhile, which no settings of this package do. One that is gone comes back.
func TestPutBackLeavesTheMachineConfigsProfile(t *testing.T) {
	const lan, other = keptDir + "/lan.nmconnection", keptDir + "/other.nmconnection"
	m := laid(t, lan, other)
	o := &originals{Files: []saved{{Path: lan, Data: []byte("old")}, {Path: other, Data: []byte("old")}, {Path: keptDir + "/touchdown-enp1s0.nmconnection", Data: []byte("old")}}}
	m.File(lan, "new")
	m.File(keptDir+"/touchdown-enp1s0.nmconnection", "new")
	put := func() string {
		if _, err := (profiles{m.Machine}).putKeptBack(o); err != nil {
			t.Fatal(err)
		}
		return m.Content(lan) + " " + m.Content(other) + " " + m.Content(keptDir+"/touchdown-enp1s0.nmconnection")
	}
	if got := put(); got != "new old old" {
		t.Errorf("the profiles are %q", got)
	}
	lays(m, other)
	if got := put(); got != "old old old" {
		t.Errorf("with a profile of nobody's, they are %q", got)
	}
}
