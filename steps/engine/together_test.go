package engine

import (
	"strings"
	"testing"
	"time"

	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// besideField is what stands beside a field after the answers were given, in the order they have on the page.
func besideField(t *testing.T, path string, answers []string) string {
	t.Helper()
	d := newDraft(t)
	d.list = func(cfg *site.Config) []steps.Stage { return steps.Site(cfg, steps.Wiring{}) }
	for i := 0; i < len(answers); i += 2 {
		if err := d.set(answers[i], answers[i+1]); err != nil {
			if answers[i] != path {
				t.Fatalf("%s = %q: %v", answers[i], answers[i+1], err)
			}
			return beside(err).String()
		}
	}
	for _, stage := range d.stages() {
		for _, step := range stage.Steps {
			for _, f := range steps.FieldsOf(step) {
				if f.Path == path {
					if problem := d.view(f).Problem.String(); problem != "" {
						return problem
					}
					return judgeTogether(d, view.ListSite, onTestDay)[path].String()
				}
			}
		}
	}
	t.Fatalf("no page asks for %s", path)
	return ""
}

// onTestDay is a day on which the answers of these tests are judged.
func onTestDay(*site.Config) time.Time { return time.Unix(1790000000, 0) }

// TestPageIsJudgedTogether: what stands beside a field, for its own value and for what the other answers make of it.
func TestPageIsJudgedTogether(t *testing.T) {
	const v4, v6 = "spec.network.ipv4.", "spec.network.ipv6."
	static := func(address, prefix, gateway string) []string {
		return []string{v4 + "method", "static", v4 + "address", address, v4 + "prefixLength", prefix, v4 + "gateway", gateway}
	}
	static6 := func(address, prefix, gateway string) []string {
		return []string{v6 + "method", "static", v6 + "address", address, v6 + "prefixLength", prefix, v6 + "gateway", gateway}
	}
	one := func(path, value string) []string { return []string{path, value} }
	site := static("198.51.100.10", "24", "198.51.100.1")
	with := func(path, value string) []string { return append(site[:len(site):len(site)], path, value) }
	const dns, bond, mtu, vlan, ntp = "spec.network.dnsServers", "spec.network.bond.ports", "spec.network.mtu", "spec.network.vlanID", "spec.additionalNTPSources"
	cases := []struct {
		path    string
		answers []string
		want    string // a part of what is said; "": nothing is
	}{
		{v4 + "gateway", site, ""},
		{v4 + "gateway", static("198.51.100.10", "24", ""), ""},
		{v4 + "gateway", static("198.51.100.10", "24", "198.51.101.1"), "outside of the node's subnet 198.51.100.0/24"},
		{v4 + "gateway", static("198.51.100.10", "30", "198.51.100.1"), "outside of the node's subnet 198.51.100.8/30"},
		{v4 + "gateway", static("198.51.100.10", "24", "198.51.100.10"), "is the node's own address"},
		{v4 + "gateway", static("198.51.100.10", "24", "198.51.100.0"), "the network address"},
		{v4 + "gateway", static("198.51.100.10", "24", "198.51.100.255"), "the broadcast address"},
		{v4 + "gateway", static("198.51.100.10", "24", "2001:db8::1"), "2001:db8::1"},
		{v4 + "gateway", static("198.51.100.10", "24", "router"), "router"},
		{v4 + "gateway", static("198.51.100.0", "31", "198.51.100.1"), ""},
		{v4 + "gateway", static("10.0.0.5", "8", "10.255.0.1"), ""},
		{v4 + "address", site, ""},
		{v4 + "address", static("198.51.100.0", "24", "198.51.100.1"), "the network address"},
		{v4 + "address", static("198.51.100.255", "24", "198.51.100.1"), "the broadcast address"},
		{v4 + "address", static("198.51.100.127", "25", "198.51.100.1"), "the broadcast address"},
		{v4 + "address", static("198.51.100.127", "24", "198.51.100.1"), ""},
		{v4 + "address", static("198.51.100.0", "31", "198.51.100.1"), ""},
		{v4 + "address", static("", "24", "198.51.100.1"), "is missing"},
		{v4 + "address", static("198.51.100.300", "24", ""), "not an IP address"},
		{v4 + "address", static("127.0.0.1", "24", ""), "127.0.0.1"},
		{v4 + "address", static("169.254.1.1", "16", ""), "169.254.1.1"},
		{v4 + "address", static("224.0.0.5", "24", ""), "224.0.0.5"},
		{v4 + "address", static("0.0.0.0", "24", ""), "0.0.0.0"},
		{v4 + "address", static("2001:db8::10", "24", ""), "2001:db8::10"},
		{v4 + "address", static("198.51.100.10/24", "24", ""), "write 198.51.100.10 here"},
		{v4 + "prefixLength", site, ""},
		{v4 + "prefixLength", static("198.51.100.10", "255.255.255.0", ""), ""},
		{v4 + "prefixLength", static("198.51.100.10", "", ""), "is missing"},
		{v4 + "prefixLength", static("198.51.100.10", "33", ""), "33"},
		{v4 + "prefixLength", static("198.51.100.10", "255.0.255.0", ""), "netmask"},
		{v4 + "prefixLength", static("198.51.100.10", "x", ""), "x"},
		{v6 + "gateway", static6("2001:db8:51::10", "64", "fe80::1"), ""},
		{v6 + "gateway", static6("2001:db8:51::10", "64", "2001:db8:51::1"), ""},
		{v6 + "gateway", static6("2001:db8:51::10", "64", "2001:db8:52::1"), "outside of the node's subnet"},
		{v6 + "gateway", static6("2001:db8:51::10", "64", "2001:db8:51::"), ""}, // any router
		{v6 + "gateway", static6("2001:db8:51::10", "64", "2001:db8:51::10"), "is the node's own address"},
		{v6 + "address", static6("2001:db8:51::", "64", "fe80::1"), "the routers' common address"},
		{v6 + "address", static6("2001:db8:51::10", "64", ""), ""},
		{v6 + "address", static6("198.51.100.10", "64", ""), "198.51.100.10"},
		{v6 + "address", static6("ff02::1", "64", ""), "ff02::1"},
		{v6 + "prefixLength", static6("2001:db8:51::10", "128", "fe80::1"), ""},
		{v6 + "prefixLength", static6("2001:db8:51::10", "129", "fe80::1"), "129"},
		{v6 + "method", []string{v4 + "method", "disabled", v6 + "method", "disabled"}, "would have no address"},
		{v6 + "method", []string{v4 + "method", "dhcp", v6 + "method", "disabled"}, ""},
		{dns, with(dns, "198.51.100.53"), ""},
		{dns, with(dns, "198.51.100.53, 203.0.113.53"), ""},
		{dns, with(dns, "198.51.100.10"), "the node's own address"},
		{dns, with(dns, "198.51.100.53,198.51.100.10"), "the node's own address"},
		{dns, append(static("198.51.100.10", "24", ""), dns, "203.0.113.53"), "there is no gateway"},
		{dns, append(static("198.51.100.10", "24", ""), dns, "198.51.100.53"), ""},
		{dns, append(with(v6+"method", "disabled"), dns, "2001:db8::53"), "cannot be reached"},
		{dns, with(dns, "dns.example.com"), "dns.example.com"},
		{dns, with(dns, "198.51.100.1,198.51.100.2,198.51.100.3,198.51.100.4"), "4"},
		{bond, []string{bond, "enp1s0,enp2s0", "spec.network.bond.mode", "active-backup"}, ""},
		{bond, one(bond, "198.51.100.10"), "198.51.100.10"},
		{"spec.network.bond.mode", one(bond, "enp1s0"), "is missing, but there are ports"},
		{"spec.network.interface", []string{"spec.network.interface", "enp3s0", bond, "enp1s0", "spec.network.bond.mode", "802.3ad"}, "given as well as a bond"},
		{vlan, one(vlan, "120"), ""},
		{vlan, one(vlan, "4095"), "4095"},
		{vlan, one(vlan, "0x10"), "not a whole number"},
		{mtu, one(mtu, "1500"), ""},
		{mtu, one(mtu, "foo bar"), "not a whole number"},
		{mtu, one(mtu, "9"), "9"},
		{ntp, one(ntp, "198.51.100.123, time.example.com"), ""},
		{"spec.clusterName", one("spec.clusterName", "store0042"), ""},
		{"spec.clusterName", one("spec.clusterName", "store_42"), "store_42"},
		{"spec.baseDomain", one("spec.baseDomain", "example.com"), ""},
		{"spec.baseDomain", one("spec.baseDomain", "10.0.0.1"), "10.0.0.1"},
		{"spec.proxy.noProxy", one("spec.proxy.noProxy", "example.com"), "there is no proxy"},
		{"spec.proxy.noProxy", []string{"spec.proxy.httpProxy", "http://proxy.example.com:3128", "spec.proxy.noProxy", "example.com"}, ""},
		{"spec.hostname", []string{"spec.policy.allowHostnameChange", "true", "spec.policy.allowReboot", "false", "spec.hostname", "store0042.example.com"}, "the reboot that it takes is not allowed"},
	}
	for _, c := range cases {
		if got := besideField(t, c.path, c.answers); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s after %q: %q, want %q", c.path, c.answers, got, c.want)
		}
	}
	if len(cases) < 60 {
		t.Errorf("%d cases", len(cases))
	}
}

// TestTogetherIsJudgedAgain: a verdict goes with the answer that it is about, whichever of the two changes, and with a restored one.
func TestTogetherIsJudgedAgain(t *testing.T) {
	d := newDraft(t)
	d.list = func(cfg *site.Config) []steps.Stage { return steps.Site(cfg, steps.Wiring{}) }
	const v4 = "spec.network.ipv4."
	said := func() string { return judgeTogether(d, view.ListSite, onTestDay)[v4+"gateway"].String() }
	for i, c := range []struct{ path, value string }{
		{v4 + "method", "static"},
		{v4 + "address", "198.51.100.10"},
		{v4 + "prefixLength", "24"},
		{v4 + "gateway", "198.51.100.1"},
		{v4 + "prefixLength", "30"},
		{v4 + "prefixLength", "24"},
		{v4 + "address", "203.0.113.7"},
		{v4 + "method", "dhcp"},
	} {
		must(t, d.set(c.path, c.value))
		if wrong := i == 4 || i == 6; (said() != "") != wrong {
			t.Errorf("after %s = %s: %q", c.path, c.value, said())
		}
	}
}
