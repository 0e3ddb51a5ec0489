package network

import (
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
)

// TestTheOwnersBridges: configure-ovs goes by these files before anything else, so that a landing elsewhere would end with the next boot.
func TestTheOwnersBridges(t *testing.T) {
	on := func(name string) Settings { s := static(); s.Interface = name; return s }
	tagged := on("enp2s0")
	tagged.VLAN = 7
	bonded := static()
	bonded.Bond = Bond{"active-backup", []string{"enp1s0", "enp2s0"}}
	document := Settings{Raw: []byte(siteDocument(""))}
	vlan := Settings{Raw: []byte(rawVLAN)}
	for name, c := range map[string]struct {
		normal, extra string // contents of the files
		s             Settings
		want          string // "" is good
	}{
		"none":                           {"", "", on("enp2s0"), ""},
		"the same port":                  {"enp2s0\n", "", on("enp2s0"), ""},
		"another port":                   {"enp1s0\n", "", on("enp2s0"), "network.interface a boot makes br-ex of enp1s0"},
		"the port in use, by nothing":    {"enp1s0", "", Settings{}, ""},
		"a VLAN of the port":             {"enp2s0", "", tagged, "network.interface a boot makes br-ex of enp2s0, which /etc/ovnk/default_bridge names, and not of enp2s0.7"},
		"the VLAN":                       {"enp2s0.7", "", tagged, ""},
		"a bond":                         {"enp1s0", "", bonded, "network.interface a boot makes br-ex of enp1s0"},
		"a document":                     {"enp2s0", "", document, "networkConfig a boot makes br-ex of enp2s0"},
		"a document of the same":         {"enp1s0", "", document, ""},
		"the second bridge's":            {"", "enp2s0\n", on("enp2s0"), "network.interface enp2s0 belongs to a second bridge"},
		"a VLAN of the second bridge's":  {"", "enp2s0", tagged, "network.interface enp2s0 belongs to a second bridge"},
		"a bond of the second bridge's":  {"", "enp2s0", bonded, "network.interface enp2s0 belongs to a second bridge"},
		"a document of the second one's": {"", "enp2s0", vlan, "networkConfig enp2s0 belongs to a second bridge"},
		"beside the second bridge":       {"", "enp2s0", on("enp1s0"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, now := hosttest.New(t), factory(t)
			for file, text := range map[string]string{"/etc/ovnk/default_bridge": c.normal, "/etc/ovnk/extra_bridge": c.extra} {
				if text != "" {
					m.File(file, text)
				}
			}
			n := &Network{host: m.Machine, library: nmstateLibrary{}, manager: networkManager{}}
			got := ""
			for _, f := range n.Validate(t.Context(), c.s, Facts{Now: now, Ports: []Port{{Name: "enp1s0"}, {Name: "enp2s0"}}, Reserved: OVNDefaults}) {
				got += strings.TrimPrefix(f.Path, "spec.") + " " + f.Text.String()
			}
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("says %q, want %q", got, c.want)
			}
		})
	}
}

// TestTheOwnersBridgeUnderItsName: what the owner's file names is compared with the name that the next boot finds: that which a VLAN has here
// already, whatever a document calls it, and which an earlier try gave it.
func TestTheOwnersBridgeUnderItsName(t *testing.T) {
	tagged := static()
	tagged.Interface, tagged.VLAN = "enp2s0", 7
	there := standing(t, "site", aVLAN("site", "enp2s0", 7))
	for name, c := range map[string]struct {
		s           Settings
		now, before *Current
	}{
		"a document":                   {Settings{Raw: []byte(rawVLAN)}, there, nil},
		"a form":                       {tagged, there, nil},
		"a document, after a try":      {Settings{Raw: []byte(rawVLAN)}, there, factory(t)},
		"a form, after a try":          {tagged, there, factory(t)},
		"a document, as it was before": {Settings{Raw: []byte(rawVLAN)}, factory(t), there},
		"a form, as it was before":     {tagged, factory(t), there},
	} {
		for named, want := range map[string]bool{"site": true, "enp2s0.7": false} {
			m := hosttest.New(t)
			m.File("/etc/ovnk/default_bridge", named)
			n := &Network{host: m.Machine, library: nmstateLibrary{}, manager: networkManager{}}
			faults := n.Validate(t.Context(), c.s, Facts{Now: c.now, Before: c.before, Ports: []Port{{Name: "enp1s0"}, {Name: "enp2s0"}}, Reserved: OVNDefaults})
			if got := len(faults) == 0; got != want {
				t.Errorf("%s: with %s in the file: %+v", name, named, faults)
			}
		}
	}
}
