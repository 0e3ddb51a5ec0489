package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
)

// entries are addresses as nmstate shows them; one with "for" and a time ends.
func entries(t *testing.T, texts ...string) (all []address) {
	t.Helper()
	for _, text := range texts {
		prefix, valid, _ := strings.Cut(text, " for ")
		p := netip.MustParsePrefix(prefix)
		all = append(all, address{IP: p.Addr().String(), Prefix: p.Bits(), Valid: valid})
	}
	return all
}

// onPort is a port with these addresses of one family, whose profile asks the network or does not.
func onPort(t *testing.T, six, auto bool, texts ...string) *state {
	t.Helper()
	f := &family{Enabled: true, Address: entries(t, texts...)}
	i := iface{Name: "enp1s0", Profile: "site", Type: "ethernet", State: "up", IPv4: &family{}, IPv6: &family{}}
	if six {
		f.DHCP, f.Autoconf, i.IPv6 = &auto, &auto, f
	} else {
		f.DHCP, i.IPv4 = &auto, f
	}
	return &state{Interfaces: []iface{i}}
}

// endless are what a port has whose profile asks the network, and what of it the network gave.
var endless = map[string]struct {
	has   []string
	fixed string // what the profile has itself beside the node's own address
	given string
}{
	"a lease for ever":             {has: []string{"192.168.127.10/32", "169.254.0.2/17", "10.99.0.2/17", "198.51.100.10/24"}, given: "198.51.100.10/24"},
	"one before the own address":   {has: []string{"198.51.100.10/24", "192.168.127.10/32"}, given: "198.51.100.10/24"},
	"the own address alone":        {has: []string{"192.168.127.10/32"}},
	"that of the installation":     {has: []string{"192.168.127.10/24"}, fixed: "192.168.127.10/24"},
	"an own one with a network":    {has: []string{"192.168.127.10/32", "192.168.127.10/24"}}, // a script of the node may have put it there
	"the same, and the lease ends": {has: []string{"192.168.127.10/32", "192.168.127.10/24 for 3600sec"}, given: "192.168.127.10/24"},
	"OVN's alone":                  {has: []string{"169.254.0.2/17", "10.99.0.2/17"}},
	"link-local alone":             {has: []string{"169.254.7.7/16"}},
	"a fixed one alone":            {has: []string{"192.168.127.10/32", "203.0.113.7/24"}, fixed: "203.0.113.7/24"},
	"a lease beside a fixed one":   {has: []string{"203.0.113.7/24", "198.51.100.10/24"}, fixed: "203.0.113.7/24", given: "198.51.100.10/24"},
	"one that ends":                {has: []string{"203.0.113.7/24", "198.51.100.10/24 for 3600sec"}, given: "198.51.100.10/24"},
	"announced for ever":           {has: []string{"2001:db8:fac::10/128", "fd69::2/112", "2001:db8:51::10/64", "fe80::1/64"}, given: "2001:db8:51::10/64"},
	"the own one of IPv6 alone":    {has: []string{"2001:db8:fac::10/128", "fe80::1/64"}},
	"OVN's of IPv6 alone":          {has: []string{"fd69::2/112"}},
	"link-local of IPv6 alone":     {has: []string{"fe80::1/64"}},
	"a fixed one of IPv6 alone":    {has: []string{"2001:db8:7::7/64", "fe80::1/64"}, fixed: "2001:db8:7::7/64"},
	"announced beside a fixed one": {has: []string{"2001:db8:7::7/64", "2001:db8:51::10/64"}, fixed: "2001:db8:7::7/64", given: "2001:db8:51::10/64"},
	"announced, and it ends":       {has: []string{"2001:db8:7::7/64", "2001:db8:51::10/64 for 60sec"}, given: "2001:db8:51::10/64"},
}

// TestALeaseForEver has no lifetime: it is the node's address all the same, and neither a difference nor a fixed address when settings are
// compared or put back.
func TestALeaseForEver(t *testing.T) {
	own, err := host.NewOwn([]string{"192.168.127.10", "2001:db8:fac::10"})
	if err != nil {
		t.Fatal(err)
	}
	m := hosttest.New(t)
	m.File(host.OwnFile, string(own.File(netip.MustParsePrefix("10.99.0.0/17"))))
	for name, c := range endless {
		six := strings.Contains(c.has[0], ":")
		p := profile{ID: "site", Active: true, Fixed: own.Prefixes(false)} // a script of the node gave it the other one
		if c.fixed != "" {
			p.Fixed = append(p.Fixed, netip.MustParsePrefix(c.fixed))
		}
		var stay, asked []string // nmstate leaves out what ends
		for _, text := range c.has {
			if !strings.Contains(text, " for ") {
				stay = append(stay, text)
			}
			if prefix, err := netip.ParsePrefix(text); err == nil && (own.Has(prefix) || slices.Contains(p.Fixed, prefix)) {
				asked = append(asked, text)
			}
		}
		n := &Network{host: m.Machine, library: seen{configured: onPort(t, six, true, stay...), live: onPort(t, six, true, c.has...)}, manager: using{list: []profile{p}}}
		now, err := n.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		given := ""
		for _, f := range []Family{now.IPv4, now.IPv6} {
			if f.Address != "" {
				given = fmt.Sprintf("%s/%d", f.Address, f.Prefix)
			}
		}
		if given != c.given || len(now.Addresses()) > 0 != (c.given != "") {
			t.Errorf("%s: the address is %q, not %q", name, given, c.given)
		}
		want := onPort(t, six, true, asked...)
		if left := differences(want, now.own()); len(left) > 0 {
			t.Errorf("%s: would be put back otherwise than it was: %v", name, left)
		}
		if done, err := (&Plan{desired: want.json()}).inForce(t.Context(), n); !done || err != nil {
			t.Errorf("%s: what the profile asks for is not in force: %v", name, err)
		}
	}
}

// TestOVNsAddressIsNotTheSites: with settings by hand, too, nmstate shows it as if a profile had it, and the kernel the newest of IPv6 first.
func TestOVNsAddressIsNotTheSites(t *testing.T) {
	own, err := host.NewOwn([]string{"192.168.127.10", "2001:db8:fac::10"})
	if err != nil {
		t.Fatal(err)
	}
	m := hosttest.New(t)
	m.File(host.OwnFile, string(own.File(netip.MustParsePrefix("10.99.0.0/17"))))
	for name, c := range map[string]struct {
		has   []string
		fixed []string // what the profile has
		given string
	}{
		"IPv6":            {has: []string{"fd69::2/112", "2001:db8:51::10/64"}, fixed: []string{"2001:db8:51::10/64"}, given: "2001:db8:51::10"},
		"beside the own":  {has: []string{"fd69::2/112", "2001:db8:fac::10/128", "2001:db8:51::10/64"}, fixed: []string{"2001:db8:51::10/64"}, given: "2001:db8:51::10"},
		"IPv4":            {has: []string{"10.99.0.2/17", "198.51.100.10/24"}, fixed: []string{"198.51.100.10/24"}, given: "198.51.100.10"},
		"OVN's alone":     {has: []string{"fd69::2/112", "fe80::1/64"}},
		"of IPv4 alone":   {has: []string{"10.99.0.2/17"}},
		"a site's inside": {has: []string{"10.99.0.9/17"}, fixed: []string{"10.99.0.9/17"}, given: "10.99.0.9"}, // wrong, and yet what its profile says
	} {
		six := strings.Contains(c.has[0], ":")
		p := profile{ID: "site", Active: true}
		for _, text := range c.fixed {
			p.Fixed = append(p.Fixed, netip.MustParsePrefix(text))
		}
		picture := func() *state { return onPort(t, six, false, c.has...) }
		n := &Network{host: m.Machine, library: seen{configured: picture(), live: picture()}, manager: using{list: []profile{p}}}
		now, err := n.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		given := ""
		if all := now.Addresses(); len(all) > 0 {
			given = all[0].String()
		}
		if given != c.given {
			t.Errorf("%s: the site reaches the node at %q, not at %q", name, given, c.given)
		}
		asked := c.fixed
		for _, a := range own {
			if text := netip.PrefixFrom(a, a.BitLen()).String(); slices.Contains(c.has, text) {
				asked = append(asked, text)
			}
		}
		want := onPort(t, six, false, asked...)
		if left := differences(want, now.own()); len(left) > 0 {
			t.Errorf("%s: would be put back otherwise than it was: %v", name, left)
		}
		if done, err := (&Plan{desired: want.json()}).inForce(t.Context(), n); !done || err != nil {
			t.Errorf("%s: what the profile asks for is not in force: %v", name, err)
		}
	}
}

// TestAProfileThatIsNotInUse says nothing of what an interface has.
func TestAProfileThatIsNotInUse(t *testing.T) {
	const text = "198.51.100.10/24"
	m := hosttest.New(t).Machine
	for _, list := range [][]profile{nil, {{ID: "site"}}, {{ID: "another", Active: true}}} {
		s, err := readConfigured(t.Context(), &Network{library: seen{configured: onPort(t, false, true, text)}, manager: using{list: list}, host: m})
		if err != nil || len(s.Interfaces[0].IPv4.fixed()) != 1 {
			t.Errorf("%+v: %+v, %v", list, s, err)
		}
	}
	// A family that asks nobody has what it has by its profile; NetworkManager need not be asked.
	s, err := readConfigured(t.Context(), &Network{library: seen{configured: onPort(t, false, false, text)}, host: m})
	if err != nil || len(s.Interfaces[0].IPv4.fixed()) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestWaitingForALease ends with one for ever, and not with what the port has without a server.
func TestWaitingForALease(t *testing.T) {
	own, err := host.NewOwn([]string{"192.168.127.10", "2001:db8:fac::10"})
	if err != nil {
		t.Fatal(err)
	}
	inside := []netip.Prefix{netip.MustParsePrefix("10.99.0.0/17"), netip.MustParsePrefix("fd69::/112")}
	for name, c := range endless {
		six, fixed := strings.Contains(c.has[0], ":"), []string{}
		if c.fixed != "" {
			fixed = append(fixed, c.fixed)
		}
		p := &Plan{Carrier: "enp1s0", Settings: Settings{Own: own}, desired: onPort(t, six, true, fixed...).json()}
		live := onPort(t, six, true, c.has...)
		missing, _ := p.missing(live, inside)
		if (missing.String() == "") != (c.given != "") {
			t.Errorf("%s: %q", name, missing)
		}
		// While the profile from before has the port, nothing of it is leased.
		if missing, _ := p.missing(onPort(t, six, false, c.has[0]), inside); missing.String() == "" {
			t.Errorf("%s: what is static counts as leased", name)
		}
	}
}

// TestWhatIsLeftOver: an address that was static before may be on its way out. A server that leases the same one shows by its staying.
func TestWhatIsLeftOver(t *testing.T) {
	routed := &routes{Running: []route{{Destination: any4, Interface: "enp1s0"}, {Destination: any6, Interface: "enp1s0"}}}
	for _, four := range []bool{true, false} {
		same, other := "198.51.100.10/24", "198.51.100.11/24"
		before := &Current{Settings: Settings{IPv4: Family{Method: Static, Address: "198.51.100.10", Prefix: 24}}}
		if !four {
			same, other = "2001:db8:51::10/64", "2001:db8:51::11/64"
			before = &Current{Settings: Settings{IPv6: Family{Method: Static, Address: "2001:db8:51::10", Prefix: 64}}}
		}
		for has, done := range map[string]bool{same: false, other: true, same + " for 3600sec": true} {
			for _, p := range []*Plan{{Before: before}, {Before: &Current{}, now: before}} {
				p.Carrier, p.desired = "enp1s0", onPort(t, !four, true).json()
				live := onPort(t, !four, true, has)
				live.Routes = routed
				if missing, all := p.missing(live, nil); missing.String() != "" || all != done {
					t.Errorf("%s: %q, all is there: %v", has, missing, all)
				}
			}
		}
	}
}

// TestRoutesThatDropALeaseForEver are refused like those that drop one that ends.
func TestRoutesThatDropALeaseForEver(t *testing.T) {
	for six, c := range map[bool][]string{false: {"203.0.113.7/24", "203.0.113.0/24"}, true: {"2001:db8:51::10/64", "2001:db8:51::/64"}} {
		for auto, fine := range map[bool]bool{true: false, false: true} {
			changed := &changes{Routes: &routes{Config: []route{{Type: "blackhole", Destination: c[1]}}}}
			// The document moves a static port to DHCP: its address is given up.
			p := &Plan{Carrier: "enp1s0", now: &Current{Seen: &state{}}}
			if err := changed.routing(p, onPort(t, six, true), onPort(t, six, auto, c[0])); (err == nil) != fine {
				t.Errorf("%s, leased %v: %v", c[1], auto, err)
			}
		}
	}
}
