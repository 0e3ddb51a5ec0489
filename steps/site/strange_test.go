package site

import (
	"strings"
	"testing"
)

// TestStrangeTexts: what would be read in another order than it is written, what would turn the proxy off, and names that pods take for
// services of the cluster, are refused with their place.
func TestStrangeTexts(t *testing.T) {
	const head = "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\n"
	for _, r := range []string{"\u202e", "\u202a", "\u2066", "\u2069"} {
		_, err := Parse([]byte(head+"metadata: {name: a"+r+"b}\n"), "site.yaml", nil)
		if err == nil || !strings.Contains(err.Error(), "site.yaml:3:19: has a control character (U+20") {
			t.Errorf("%+q: %v", r, err)
		}
	}
	if _, err := Parse([]byte(head+"# l\u00e4ngs, \u05d0\u200f\nmetadata: {name: a}\n"), "site.yaml", nil); err != nil {
		t.Errorf("letters of other languages: %v", err)
	}
	for _, c := range []struct {
		check       func(string) error
		value, want string
	}{
		{IPv4Address, "2001:db8::1/64", "is \"2001:db8::1\", an IPv6 address"},
		{IPv6Address, "198.51.100.10/24", "is \"198.51.100.10\", an IPv4 address"},
		{IPv6Address, "2001:db8::1 255.255.255.0", "not an IP address"},
		{IPv6Address, "ten", "is not an IP address; write it like 2001:db8:51::10"}, // one of the other family would be refused
		{IPv4Gateway, "255.255.255.0", "a netmask and not an address"},
		{IPv4Address, "255.255.255.255", "the broadcast address"},
		{IPv6Prefix, "255.255.255.255", "number"},
		{noProxy, "0.0.0.0/0", "has 0.0.0.0/0, every IPv4 address"},
		{noProxy, "example.com,::/0", "has ::/0, every IPv6 address"},
		{noProxy, "10.0.0.0/8,2001:db8::/32", ""},
		{noProxy, ".cluster.local,.svc,10.128.0.0/14,127.0.0.1,169.254.169.254,api-int.c.example.com,localhost,::1,fe80::1", ""}, // as oc get proxy tells it
		{noProxy, "127.0.0.1,010.0.0.1", "a number starts with 0"},
		{noProxy, "fe80::1%eno1", "an address with a zone"},
		{mirrorLocations, "r.example.com/" + strings.Repeat("a/", 120) + "b", ""},
		{mirrorLocations, "r.example.com/" + strings.Repeat("a/", 120) + "bb", "has 256 characters"},
		{MirrorSource, "r.example.com/" + strings.Repeat("a", 241), ""},
		{MirrorSource, "r.example.com/" + strings.Repeat("a", 242), "has 256 characters"},
		{BaseDomain, "svc", "the domain of the services"},
		{BaseDomain, "openshift.default.svc", "the domain of the services"},
		{BaseDomain, "svc.example.com", ""},
		{BaseDomain, "mysvc", ""},
	} {
		if err := c.check(c.value); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.value, err, c.want)
		}
	}
}
