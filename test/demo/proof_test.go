package main

import (
	"fmt"
	"testing"

	"touchdown/test/bench/site"
)

// TestProofUsesTheReportsRecords: a wrong record, or a missing one, must not be covered by what the bench's DNS knows anyway.
func TestProofUsesTheReportsRecords(t *testing.T) {
	network := site.Edge()
	s := site.New(t, site.Options{Network: network})
	lookup := func(name string) string {
		found, err := s.Client().Lookup(t.Context(), name+network.Domain)
		if err != nil {
			return "none"
		}
		return fmt.Sprint(found)
	}
	for _, c := range []struct {
		what      string
		records   []record
		api, apps string
	}{
		{"the internal address", []record{{"api." + network.Domain, "A", "192.168.127.10"}, {"*.apps." + network.Domain, "A", "192.168.127.10"}}, "[192.168.127.10]", "[192.168.127.10]"},
		{"two families", []record{{"api." + network.Domain, "A", "198.51.100.10"}, {"api." + network.Domain, "AAAA", "2001:db8:51::10"}}, "[198.51.100.10 2001:db8:51::10]", "none"},
		{"no records", nil, "none", "none"},
	} {
		if err := makeRecords(s.DNS, network.Domain, c.records); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if api, apps := lookup("api."), lookup("console.apps."); api != c.api || apps != c.apps {
			t.Errorf("%s: the laptop finds %s and %s, want %s and %s", c.what, api, apps, c.api, c.apps)
		}
	}
	for _, wrong := range []record{{"api.x", "A", ""}, {"api.x", "A", "2001:db8::1"}, {"api.x", "AAAA", "192.0.2.1"}} {
		if err := makeRecords(s.DNS, network.Domain, []record{wrong}); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}
