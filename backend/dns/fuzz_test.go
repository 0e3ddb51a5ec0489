package dns_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/dns"
	"touchdown/backend/host/hosttest"
)

// options reads a file of dnsmasq as dnsmasq does (option.c, read_file): an option a line, # starts a comment behind a space, and
// quotes and backslashes have their own meaning, so that none may be there.
func options(t *testing.T, text string) (list []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "#") || strings.TrimSpace(line) == "" {
			continue
		}
		if strings.ContainsAny(line, "\"\\\r\t #") {
			t.Errorf("a line has a character of another meaning: %q", line)
		}
		list = append(list, line)
	}
	return list
}

// FuzzZone has the node answer for any text as a domain: dnsmasq then reads three answers for that domain and where it listens, or the text is refused.
func FuzzZone(f *testing.F) {
	for _, domain := range []string{
		"store1.site.example", "a", "", "a\nserver=/#/198.51.100.66", "a/198.51.100.66\naddress=/#", "#", "a#b", "a b", "*.a", "a/b", `a"`, `a\`, "A", "a\r", "\u00fc", "a..b", ".", "-a",
		strings.Repeat("a.", 130) + "a",
	} {
		f.Add(domain)
	}
	f.Fuzz(func(t *testing.T, domain string) {
		m := hosttest.New(t)
		z := dns.Zone{Domains: []string{"sno.factory.example"}, Addresses: []netip.Addr{netip.MustParseAddr("192.168.127.10")}}
		if _, err := dns.Add(t.Context(), m.Machine, z, domain); err != nil {
			if m.Exists("/etc/dnsmasq.d/touchdown-site.conf") {
				t.Errorf("%q is refused, and written", domain)
			}
			return
		}
		want := []string{"bind-dynamic", "listen-address=127.0.0.1", "listen-address=192.168.127.10"}
		for _, name := range []string{"api.", "api-int.", "apps."} {
			want = append(want, "address=/"+name+domain+"/192.168.127.10")
		}
		for _, name := range []string{"api.", "api-int.", "apps."} { // behind the addresses: see encode
			want = append(want, "local=/"+name+domain+"/")
		}
		if got := options(t, m.Content("/etc/dnsmasq.d/touchdown-site.conf")); !slices.Equal(got, want) {
			t.Errorf("%q: dnsmasq reads %q, want %q", domain, got, want)
		}
		if got := dns.Added(m.Machine); got != domain {
			t.Errorf("%q is read back as %q", domain, got)
		}
	})
}
