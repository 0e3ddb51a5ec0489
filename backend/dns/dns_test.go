package dns_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"touchdown/backend/dns"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/problem"
)

const factory = "address=/apps.sno.factory.example/192.168.127.10\naddress=/api-int.sno.factory.example/192.168.127.10\naddress=/api.sno.factory.example/192.168.127.10\n"

func code(err error) string {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Code
	}
	return ""
}

// TestANameServerThatFailsOnce: the node's name server goes on with what it had, and a retry adds the names.
func TestANameServerThatFailsOnce(t *testing.T) {
	m := hosttest.New(t)
	m.File("/etc/dnsmasq.d/single-node.conf", factory)
	z, err := dns.Read(m.Machine)
	if err != nil {
		t.Fatal(err)
	}
	starts := 0
	m.OnFunc("systemctl restart", func([]string, []byte) (string, error) {
		if starts++; starts == 1 {
			return "", errors.New("exit status 1")
		}
		return "", nil
	})
	if _, err := dns.Add(t.Context(), m.Machine, z, "store1.site.example"); code(err) != "DNS-STRT" || dns.Added(m.Machine) != "" || starts != 2 {
		t.Errorf("%v, added %q, %d starts", err, dns.Added(m.Machine), starts)
	}
	if changed, err := dns.Add(t.Context(), m.Machine, z, "store1.site.example"); !changed || err != nil || dns.Added(m.Machine) != "store1.site.example" || starts != 3 {
		t.Errorf("again: %v, %v, added %q, %d starts", changed, err, dns.Added(m.Machine), starts)
	}
}

func TestAddAndRemove(t *testing.T) {
	m := hosttest.New(t)
	if dns.Here(m.Machine) {
		t.Error("a machine without dnsmasq has one")
	}
	m.File("/etc/dnsmasq.d/other.conf", "cache-size=100\n")
	if _, err := dns.Read(m.Machine); code(err) != "DNS-LACK" {
		t.Errorf("err is %v", err)
	}
	m.File("/etc/dnsmasq.d/single-node.conf", factory)
	z, err := dns.Read(m.Machine)
	if err != nil || !slices.Equal(z.Domains, []string{"sno.factory.example"}) || z.Addresses[0] != netip.MustParseAddr("192.168.127.10") {
		t.Fatalf("zone is %+v (%v)", z, err)
	}
	for i := range 2 {
		changed, err := dns.Add(t.Context(), m.Machine, z, "store1.site.example")
		if err != nil || changed != (i == 0) {
			t.Errorf("run %d: changed is %v (%v)", i, changed, err)
		}
	}
	if got := dns.Added(m.Machine); got != "store1.site.example" {
		t.Errorf("added is %q", got)
	}
	if again, err := dns.Read(m.Machine); err != nil || len(again.Domains) != 1 {
		t.Errorf("our own names became the factory's: %+v (%v)", again, err)
	}
	if m.Content("/etc/dnsmasq.d/single-node.conf") != factory {
		t.Error("the factory's file was changed")
	}
	for i := range 2 {
		if changed, err := dns.Remove(t.Context(), m.Machine); err != nil || changed != (i == 0) {
			t.Errorf("removal %d: changed is %v (%v)", i, changed, err)
		}
	}
	if got := m.Calls(); !slices.Equal(got, []string{"systemctl restart dnsmasq.service", "systemctl restart dnsmasq.service"}) {
		t.Errorf("calls are %q", got)
	}
	if got := m.Content("/etc/dnsmasq.d/touchdown-site.conf"); got != "" {
		t.Errorf("left behind: %q", got)
	}
	m.On("systemctl restart", "", errors.New("exit status 1"))
	if _, err := dns.Add(t.Context(), m.Machine, z, "x.example"); code(err) != "DNS-STRT" || m.Exists("/etc/dnsmasq.d/touchdown-site.conf") {
		t.Errorf("a name server that does not start keeps the file: %v", err)
	}
	m.File("/etc/machine-config-daemon/currentconfig", `{"spec":{"config":{"storage":{"files":[{"path":"/etc/dnsmasq.d/touchdown-site.conf"}]}}}}`)
	if _, err := dns.Add(t.Context(), m.Machine, z, "y.example"); code(err) != "DNS-HELD" {
		t.Errorf("err is %v", err)
	}
}

// serve answers like dnsmasq's address lines of a file do.
func serve(t *testing.T, m *hosttest.Fake) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	handler := mdns.HandlerFunc(func(w mdns.ResponseWriter, q *mdns.Msg) {
		answer := new(mdns.Msg).SetReply(q)
		answer.Rcode = mdns.RcodeNameError
		name := strings.TrimSuffix(q.Question[0].Name, ".")
		files, _ := m.Glob("/etc/dnsmasq.d/*.conf")
		for _, f := range files {
			for line := range strings.Lines(m.Content(f)) {
				parts := strings.Split(strings.TrimSpace(line), "/")
				if len(parts) != 3 || parts[0] != "address=" || name != parts[1] && !strings.HasSuffix(name, "."+parts[1]) {
					continue
				}
				answer.Rcode = mdns.RcodeSuccess
				addr := netip.MustParseAddr(parts[2])
				head := mdns.RR_Header{Name: q.Question[0].Name, Rrtype: q.Question[0].Qtype, Class: mdns.ClassINET}
				switch {
				case addr.Is4() && q.Question[0].Qtype == mdns.TypeA:
					answer.Answer = append(answer.Answer, &mdns.A{Hdr: head, A: addr.AsSlice()})
				case addr.Is6() && q.Question[0].Qtype == mdns.TypeAAAA:
					answer.Answer = append(answer.Answer, &mdns.AAAA{Hdr: head, AAAA: addr.AsSlice()})
				}
			}
		}
		_ = w.WriteMsg(answer)
	})
	server := &mdns.Server{PacketConn: conn, Handler: handler}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { _ = server.Shutdown() })
	return conn.LocalAddr().String()
}

func TestProveAsksForReal(t *testing.T) {
	m := hosttest.New(t)
	m.File("/etc/dnsmasq.d/single-node.conf", factory+"address=/api.sno.factory.example/fd00:127::10\naddress=/api-int.sno.factory.example/fd00:127::10\naddress=/apps.sno.factory.example/fd00:127::10\n")
	z, err := dns.Read(m.Machine)
	if err != nil || len(z.Addresses) != 2 {
		t.Fatal(z, err)
	}
	server := serve(t, m)
	if err := dns.Prove(t.Context(), z, dns.Names("sno.factory.example"), server, dns.Usual); err != nil {
		t.Error(err)
	}
	if _, err := dns.Add(t.Context(), m.Machine, z, "store1.site.example"); err != nil {
		t.Fatal(err)
	}
	names := append(dns.Names("store1.site.example"), dns.Names("sno.factory.example")...)
	if err := dns.Prove(t.Context(), z, names, server, dns.Usual); err != nil {
		t.Error(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond) // no right answer comes
	defer stop()
	if err := dns.Prove(ctx, z, dns.Names("other.example"), server, dns.Usual); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err is %v", err)
	}
	wrong := dns.Zone{Domains: z.Domains, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
	if err := dns.Prove(t.Context(), wrong, dns.Names("sno.factory.example"), server, dns.Usual); code(err) != "DNS-SELF" {
		t.Errorf("err is %v", err)
	}
}

func TestStaleResolvConf(t *testing.T) {
	z := dns.Zone{Addresses: []netip.Addr{netip.MustParseAddr("192.168.127.10")}}
	const script = "/etc/NetworkManager/dispatcher.d/forcedns"
	for _, c := range []struct {
		what, conf, site string
		stale            bool
	}{
		{"own first, then the site's", "search x\nnameserver 192.168.127.10\nnameserver 198.51.100.53\n", "nameserver 198.51.100.53\n", false},
		{"own missing", "nameserver 198.51.100.53\n", "nameserver 198.51.100.53\n", true},
		{"own not first", "nameserver 198.51.100.53\nnameserver 192.168.127.10\n", "nameserver 198.51.100.53\n", true},
		{"the factory's servers still", "nameserver 192.168.127.10\nnameserver 192.0.2.1\n", "nameserver 198.51.100.53\n", true},
		{"a third of the site's has no room", "nameserver 192.168.127.10\nnameserver a\nnameserver b\n", "nameserver a\nnameserver b\nnameserver c\n", false},
		{"no site yet", "nameserver 192.168.127.10\n", "", false},
		{"a site without a server", "nameserver 192.168.127.10\n", "# none\n", false},
		{"a site without a server, the factory's still", "nameserver 192.168.127.10\nnameserver 192.0.2.1\n", "# none\n", true},
	} {
		m := hosttest.New(t)
		m.File(script, "")
		m.File("/etc/resolv.conf", c.conf)
		m.File("/run/NetworkManager/resolv.conf", c.site)
		if why := dns.Stale(m.Machine, z); (why != "") != c.stale {
			t.Errorf("%s: %q", c.what, why)
		}
		if err := dns.Refresh(t.Context(), m.Machine); err != nil || m.Calls()[0] != script+" br-ex up" {
			t.Errorf("calls are %q (%v)", m.Calls(), err)
		}
	}
	if why := dns.Stale(hosttest.New(t).Machine, z); why != "" {
		t.Errorf("a machine that does it otherwise: %q", why)
	}
}
