package network

import (
	"slices"
	"strings"
	"testing"
)

// TestTheNamesOfADocumentAreItsOwn: an agent-config calls ports as it likes and says by their MAC addresses which it means, also where the
// machine gives the same names the other way round.
func TestTheNamesOfADocumentAreItsOwn(t *testing.T) {
	const (
		one  = "- {name: enp1s0, type: ethernet, state: up, identifier: mac-address, mac-address: 'AA:00:00:00:00:02'%s}\n"
		two  = "- {name: enp2s0, type: ethernet, state: up, identifier: mac-address, mac-address: 'aa-00-00-00-00-01'%s}\n"
		way  = "routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: %s, next-hop-address: 198.51.100.1}]}\n"
		own  = ", ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}"
		tied = "- {name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, options: {primary: enp1s0}, port: [enp1s0, enp2s0]}" + own + "}\n"
		tag  = "- {name: out, type: vlan, state: up, vlan: {base-iface: enp1s0, id: 7}" + own + "}\n"
	)
	put := func(form string, in string) string { return strings.Replace(form, "%s", in, 1) }
	for name, c := range map[string]struct {
		text    string
		parent  string // of the profile that leads out
		device  string
		refused string
	}{
		"the first leads out":      {text: put(one, own) + put(two, "") + put(way, "enp1s0"), device: "enp2s0"},
		"the second leads out":     {text: put(one, "") + put(two, own) + put(way, "enp2s0"), device: "enp1s0"},
		"the first alone":          {text: put(one, own) + put(way, "enp1s0"), device: "enp2s0"},
		"a bond":                   {text: put(one, "") + put(two, "") + tied + put(way, "bond0"), device: "bond0"},
		"a VLAN":                   {text: put(one, "") + put(two, "") + tag + put(way, "out"), device: "out", parent: "enp2s0"},
		"both by one MAC address":  {text: put(one, own) + strings.Replace(put(two, ""), "00-01", "00-02", 1) + put(way, "enp1s0"), refused: "is that of another interface"},
		"and by the machine's":     {text: put(one, own) + "- {name: enp2s0, type: ethernet, state: up}\n" + put(way, "enp1s0"), refused: "the port that the document calls enp1s0"},
		"a bond with a port twice": {text: put(one, "") + tied + put(way, "bond0"), refused: "has the port enp2s0 twice"},
	} {
		t.Run(name, func(t *testing.T) {
			now := factory(t)
			now.Macs = map[string]string{"aa:00:00:00:00:01": "enp1s0", "aa:00:00:00:00:02": "enp2s0"}
			p, err := compilePlan(t.Context(), offline(t).library, Settings{Raw: []byte("interfaces:\n" + c.text)}, now, now)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%v, want %q", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(p.files, func(f keyfile) bool { return strings.Contains(f.Text, "198.51.100.10") })
			if i < 0 {
				t.Fatalf("no profile has the address: %v", p.files)
			}
			if v := values(p.files[i].Text); v["connection.interface-name"] != c.device || v["vlan.parent"] != c.parent {
				t.Errorf("the address is on %s over %s, want %s over %s", v["connection.interface-name"], v["vlan.parent"], c.device, c.parent)
			}
			if name == "a bond" && !strings.Contains(p.files[i].Text, "primary=enp2s0") {
				t.Errorf("the primary port is another one: %s", p.files[i].Text)
			}
			for _, f := range p.files {
				if strings.Contains(f.Text, "cloned-mac-address") && name != "a bond" {
					t.Errorf("a port gets another MAC address: %s", f.Text)
				}
			}
		})
	}
}
