package network

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/test/matrix"
)

// settingsAt are the answers of a site, as the steps hand them over.
func settingsAt(s matrix.Site) Settings {
	out := Settings{Interface: "enp1s0", IPv4: Family{Method: Disabled}, IPv6: Family{Method: Disabled}}
	for _, f := range s.Families() {
		family := []*Family{&out.IPv4, &out.IPv6}[f]
		if *family = (Family{Method: []string{DHCP, Autoconf}[f]}); s.Static() {
			*family = Family{Method: Static, Address: matrix.Node[f], Prefix: matrix.Prefix[f], Gateway: s.Router(f)}
		}
	}
	if s.Static() {
		out.DNS = s.Servers()
	}
	if out.IPv4.Method == Disabled { // only a cluster that answers in IPv6 can be there
		out.Own = host.Own{host.DefaultOwn[0], netip.MustParseAddr("2001:db8:127::10")}
	}
	return out
}

// TestEverySiteIsCompiled: for each site there is a plan, in the documents of nmstate's own library, with what the site has and
// nothing of what it lacks, and nothing left of the factory's network.
func TestEverySiteIsCompiled(t *testing.T) {
	now, n := factory(t), offline(t)
	facts := Facts{Now: now, Ports: []Port{{Name: "enp1s0"}}, Reserved: OVNDefaults}
	seen := map[string]bool{}
	for _, s := range matrix.All() {
		settings := settingsAt(s)
		if s.NTP = matrix.Absent; seen[s.String()] { // neither is a setting of the network
			continue
		}
		s.Registry = matrix.Absent
		if seen[s.String()] {
			continue
		}
		seen[s.String()] = true
		if faults := n.Validate(t.Context(), settings, facts); len(faults) > 0 {
			t.Errorf("%s: %v", s, faults)
			continue
		}
		p, err := compilePlan(t.Context(), n.library, settings, now, now)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		running(t, s, p)
		booting(t, s, p)
	}
}

// running judges the state that is brought about at once.
func running(t *testing.T, s matrix.Site, p *Plan) {
	t.Helper()
	d, err := parseState(p.desired)
	if err != nil {
		t.Fatal(err)
	}
	var gateways, want []string
	for _, r := range defaults(d.Routes.Config, Bridge) {
		if r.State != "absent" {
			gateways = append(gateways, r.Gateway)
		}
	}
	if s.Static() {
		for _, f := range s.Families() {
			want = append(want, s.Router(f))
		}
		want = slices.DeleteFunc(want, func(a string) bool { return a == "" })
	}
	if slices.Sort(gateways); !slices.Equal(gateways, want) {
		t.Errorf("%s: default routes by %q, want %q", s, gateways, want)
	}
	if servers := d.DNS.Config.Server; !slices.Equal(servers, settingsAt(s).DNS) {
		t.Errorf("%s: name servers %q", s, servers)
	}
	if d.leadsOut(Bridge) != (len(want) > 0) {
		t.Errorf("%s: the wait for a default route does not fit", s)
	}
	top := d.find(Bridge, "ovs-interface")
	if !slices.ContainsFunc(top.IPv4.Address, func(a address) bool {
		return host.DefaultOwn.Has(netip.PrefixFrom(netip.MustParseAddr(a.IP), a.Prefix))
	}) {
		t.Errorf("%s: the node's own address is gone: %+v", s, top.IPv4)
	}
}

// booting judges what the next boot builds br-ex from.
func booting(t *testing.T, s matrix.Site, p *Plan) {
	t.Helper()
	text := ""
	for _, f := range p.files {
		text += f.Text
	}
	has := func(what string, want bool) {
		t.Helper()
		if strings.Contains(text, what) != want {
			t.Errorf("%s: %q: want %v in\n%s", s, what, want, text)
		}
	}
	has("192.168.127.10/32", true)
	for f, gateway := range matrix.Gateway {
		mine := slices.Contains(s.Families(), f) && s.Static()
		has(matrix.Node[f]+"/", mine)
		has(","+gateway+",", mine && s.Gateway == matrix.Present)
		has(matrix.DNS[f], mine && s.DNS == matrix.Present)
	}
	has("192.0.2.", false) // the factory's
}
