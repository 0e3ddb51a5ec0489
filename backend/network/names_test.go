package network

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
)

// siteDocument is a document for enp1s0 that nothing is wrong with; more goes into the entry of that port.
func siteDocument(more string) string {
	return "interfaces:\n- name: enp1s0\n  type: ethernet\n  state: up\n" + more +
		"  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}\n" +
		"routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: enp1s0, next-hop-address: 198.51.100.1}]}\n" +
		"dns-resolver: {config: {server: [198.51.100.53]}}\n"
}

// carrying is a document whose addresses are on an interface that the document makes itself.
func carrying(name, kind string) string {
	return "interfaces:\n- name: " + name + "\n  state: up\n" + kind +
		"  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}\n" +
		"routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: " + name + ", next-hop-address: 198.51.100.1}]}\n" +
		"dns-resolver: {config: {server: [198.51.100.53]}}\n"
}

// bondOf is a document for a bond of enp1s0; more goes into the entry of that port.
func bondOf(more string) string {
	return strings.Replace(carrying("bond0", "  type: bond\n  link-aggregation: {mode: active-backup, port: [enp1s0]}\n"), "interfaces:\n",
		"interfaces:\n- name: enp1s0\n  type: ethernet\n  state: up\n"+more, 1)
}

// TestProfilesStayInTheirFolder: what a document calls a profile or an interface never leads to a file elsewhere. A name that
// names no file is refused; another name of the profile alone has no say in the file's.
func TestProfilesStayInTheirFolder(t *testing.T) {
	vlan, bonded := "  type: vlan\n  vlan: {base-iface: enp1s0, id: 7}\n", "  type: bond\n  link-aggregation: {mode: active-backup, port: [enp1s0]}\n"
	for name, c := range map[string]struct {
		text    string
		refused bool
	}{
		"profile, far away":   {siteDocument("  profile-name: ../../../var/tmp/owned\n"), false},
		"profile with slash":  {siteDocument("  profile-name: office/lan\n"), false},
		"profile, line break": {siteDocument("  profile-name: \"x\\nautoconnect=false\"\n"), true},
		"VLAN, far away":      {carrying("../../../v1", vlan), true},
		"VLAN, dots":          {carrying("..", vlan), true},
		"bond, far away":      {carrying("../../b", bonded), true},
		"bond, slash":         {carrying("a/b", bonded), true},
		"bond, too long":      {carrying("a-very-long-bond-name", bonded), true},
	} {
		t.Run(name, func(t *testing.T) {
			m, now := hosttest.New(t), factory(t)
			n := &Network{host: m.Machine, library: nmstateLibrary{}, manager: networkManager{}}
			p, err := compilePlan(t.Context(), n.library, Settings{Raw: []byte(c.text)}, now, now)
			if (err != nil) != c.refused {
				t.Fatalf("refused: %v, want %v", err, c.refused)
			}
			if err != nil {
				return
			}
			if err := n.Persist(p); err != nil || !n.Persisted(p) {
				t.Fatalf("not kept: %v", err)
			}
			_ = filepath.WalkDir(m.Root(), func(file string, d fs.DirEntry, err error) error {
				if err == nil && strings.HasSuffix(file, ".nmconnection") && filepath.Dir(file) != m.Path(keptDir) {
					t.Errorf("written outside of %s: %s", keptDir, strings.TrimPrefix(file, m.Root()))
				}
				return err
			})
			if names, _ := m.Folder(keptDir).Names(); len(names) == 0 || names[0] != "touchdown-enp1s0.nmconnection" {
				t.Errorf("kept as %q", names)
			}
		})
	}
}

// TestNoProfileIsCalledByADocument: configure-ovs finds its own profiles by their names, on the live network too, so that what a document
// calls one reaches neither the trial nor the disk.
func TestNoProfileIsCalledByADocument(t *testing.T) {
	for _, name := range []string{"ovs-if-phys0", "br-ex", "office"} {
		p, err := compilePlan(t.Context(), offline(t).library, Settings{Raw: []byte(siteDocument("  profile-name: " + name + "\n"))}, factory(t), factory(t))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(p.desired), "profile-name") {
			t.Errorf("the trial has a profile that is called %s: %s", name, p.desired)
		}
		for _, f := range p.files {
			if id := values(f.Text)["connection.id"]; id != prefix+"enp1s0" {
				t.Errorf("the disk has a profile that is called %q", id)
			}
		}
	}
}

// TestPortsFollowABondOfAnotherName: a port names its bond by a UUID, which must be that of the bond's profile.
func TestPortsFollowABondOfAnotherName(t *testing.T) {
	now := factory(t)
	text := carrying("uplink0", "  type: bond\n  profile-name: office\n  link-aggregation: {mode: active-backup, port: [enp1s0]}\n")
	p, err := compilePlan(t.Context(), offline(t).library, Settings{Raw: []byte(text)}, now, now)
	if err != nil {
		t.Fatal(err)
	}
	uuids, controllers := map[string]bool{}, []string{}
	for _, f := range p.files {
		v := values(f.Text)
		uuids[v["connection.uuid"]] = true
		if c := v["connection.master"] + v["connection.controller"]; c != "" {
			controllers = append(controllers, c)
		}
	}
	if len(controllers) != 1 || !uuids[controllers[0]] {
		t.Errorf("the ports follow %q, the profiles are %v", controllers, uuids)
	}
}
