package dns_test

import (
	"slices"
	"strings"
	"testing"

	"touchdown/backend/dns"
	"touchdown/backend/host/hosttest"
)

// The names of the site are answered for the node and its pods, who ask at the node's internal address. The site's LAN gets no
// answer, unless another file already says where dnsmasq listens: two such settings can keep it from starting.
func TestSiteNamesAreNotForTheLAN(t *testing.T) {
	const chosen = "/etc/dnsmasq.d/chosen.conf"
	for name, c := range map[string]struct {
		path, conf string
		left       bool
	}{
		"as installed":     {"/etc/dnsmasq.conf", "user=dnsmasq\nconf-dir=/etc/dnsmasq.d,.rpmnew\n", false},
		"another setting":  {chosen, "cache-size=100\n# listen-address=192.0.2.1\nno-dhcp-interface=br-ex\n", false},
		"an interface":     {chosen, "interface=br-ex\n", true},
		"an address":       {chosen, "  listen-address = 192.0.2.1\n", true},
		"bind-interfaces":  {"/etc/dnsmasq.conf", "bind-interfaces\n", true},
		"except-interface": {chosen, "except-interface=lo\n", true},
	} {
		m := hosttest.New(t)
		m.File("/etc/dnsmasq.d/single-node.conf", factory+"address=/api.sno.factory.example/fd00:127::10\n")
		m.File(c.path, c.conf)
		z, err := dns.Read(m.Machine)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dns.Add(t.Context(), m.Machine, z, "store1.site.example"); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range options(t, m.Content("/etc/dnsmasq.d/touchdown-site.conf")) {
			if !strings.HasPrefix(line, "address=") && !strings.HasPrefix(line, "local=") {
				got = append(got, line)
			}
		}
		want := []string{"bind-dynamic", "listen-address=127.0.0.1", "listen-address=192.168.127.10", "listen-address=fd00:127::10"}
		if c.left {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
