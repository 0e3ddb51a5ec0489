package network

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/problem"
)

// TestSiteInTheSubnetOfTheInstallation: a site may use the subnet that the cluster was installed in, or the node's own address.
// Neither hides the site's address, and the own one is kept beside it, behind it and without a network.
func TestSiteInTheSubnetOfTheInstallation(t *testing.T) {
	own, err := host.NewOwn([]string{"198.51.100.7"})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"198.51.100.10", "198.51.100.7"} {
		s := static()
		s.Own, s.IPv4.Address = own, address
		v4, _ := s.families()
		if got := []string{v4.Address[0].prefix().String(), v4.Address[1].prefix().String()}; !slices.Equal(got, []string{address + "/24", "198.51.100.7/32"}) {
			t.Errorf("br-ex gets %v", got)
		}
		now := &Current{Settings: Settings{Own: own}}
		var status Status
		status.addresses(v4, now, nil)
		if !status.Own || !slices.Equal(status.Addresses, []string{address + "/24"}) {
			t.Errorf("the status tells %+v", status)
		}
	}
}

// TestOneEntryOfIPv6: the kernel has an IPv6 address once on an interface, so that one which a site or the installation gave with a
// network has no entry without one beside it, which would take the network away. An address of the same subnet has.
func TestOneEntryOfIPv6(t *testing.T) {
	own, err := host.NewOwn([]string{"192.0.2.10", "2001:db8:fac::10"})
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string][]string{
		"2001:db8:fac::10": {"2001:db8:fac::10/64"},
		"2001:db8:fac::11": {"2001:db8:fac::11/64", "2001:db8:fac::10/128"},
	} {
		s := Settings{Own: own, IPv4: Family{Method: DHCP}, IPv6: Family{Method: Static, Address: given, Prefix: 64}}
		v4, v6 := s.families()
		var got []string
		for _, a := range v6.Address {
			got = append(got, a.prefix().String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("settings: br-ex gets %v, not %v", got, want)
		}
		d := document{"interfaces": []any{map[string]any{
			"name": "enp1s0", "type": "ethernet", "ipv6": map[string]any{"address": []any{map[string]any{"ip": given, "prefix-length": 64}}},
		}}}
		for _, a := range own {
			d.withOwn("enp1s0", a)
		}
		view, err := parseState(d.json())
		if err != nil {
			t.Fatal(err)
		}
		if got := view.Interfaces[0].IPv6.Address; !slices.Equal(got, v6.Address) {
			t.Errorf("document: br-ex gets %v, not %v", got, want)
		}
		if err := ownKept(view, "enp1s0", own); err != nil {
			t.Error(err)
		}
		status := Status{}
		status.addresses(v6, &Current{Settings: Settings{Own: own}}, nil)
		if !status.Own || !slices.Equal(status.Addresses, want[:1]) {
			t.Errorf("the status tells %+v", status)
		}
		if four := view.Interfaces[0].IPv4.Address; len(four) != 1 || len(v4.Address) != 1 {
			t.Errorf("of IPv4 there are %v and %v", four, v4.Address)
		}
	}
}

// TestInsideOfTheClustersOwn: the addresses that OVN-Kubernetes puts on br-ex are not the site's: those of the networks that the cluster names,
// else of the defaults.
func TestInsideOfTheClustersOwn(t *testing.T) {
	m := hosttest.New(t)
	on := &family{Address: []address{{IP: "198.51.100.10", Prefix: 24}, {IP: "fd69::2", Prefix: 112}, {IP: "10.99.0.2", Prefix: 17}}}
	for want, settings := range map[string][]byte{
		"[198.51.100.10/24 10.99.0.2/17]": host.DefaultOwn.File(),
		"[198.51.100.10/24 fd69::2/112]":  host.DefaultOwn.File(netip.MustParsePrefix("10.99.0.0/17"), netip.MustParsePrefix("fd55::/112")),
		"[198.51.100.10/24]":              host.DefaultOwn.File(netip.MustParsePrefix("10.99.0.0/17")),
	} {
		m.File(host.OwnFile, string(settings))
		var status Status
		status.addresses(on, &Current{}, ovn(m.Machine))
		if got := fmt.Sprint(status.Addresses); got != want {
			t.Errorf("%s, not %s", got, want)
		}
		if own, err := m.Own(); err != nil || !slices.Equal(own, host.DefaultOwn) {
			t.Errorf("%v, %v", own, err)
		}
	}
}

// seen is the library of a machine that always looks the same.
type seen struct {
	library
	configured, live *state
}

func (s seen) show(_ context.Context, onlyConfigured bool) (*state, error) {
	if onlyConfigured {
		return s.configured, nil
	}
	return s.live, nil
}

// using is a NetworkManager that has these profiles in use, and the factory's.
type using struct {
	manager
	list []profile
}

func (u using) profiles(context.Context) ([]profile, error) {
	return append([]profile{{ID: "ovs-if-br-ex", Active: true, Fixed: []netip.Prefix{netip.MustParsePrefix("192.168.127.10/24")}}}, u.list...), nil
}

// TestANodeThatWasNotBakedStaysWhereItIs: nothing would keep the address that its cluster knows it by.
func TestANodeThatWasNotBakedStaysWhereItIs(t *testing.T) {
	saved, err := json.Marshal(originals{Version: originalsVersion, Before: factory(t)})
	if err != nil {
		t.Fatal(err)
	}
	m := hosttest.New(t)
	var s seen
	s.library = nmstateLibrary{}
	for file, into := range map[string]**state{"configured": &s.configured, "live": &s.live} {
		text, err := os.ReadFile("testdata/factory-" + file + ".json")
		if err == nil {
			*into, err = parseState(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	n := &Network{host: m.Machine, library: s, manager: using{}}
	if p, err := n.Compile(t.Context(), static(), saved); err == nil || problem.From(err).Code != "NET-BAKE" {
		t.Errorf("%+v, %v", p, err)
	}
	m.File(host.OwnFile, string(host.DefaultOwn.File()))
	if _, err := n.Compile(t.Context(), static(), saved); err != nil {
		t.Error(err)
	}
}
