package site

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
	"github.com/miekg/dns"

	"touchdown/test/wait"
)

// lan is an edge site with a bare host on it.
func lan(t *testing.T, n Network) (*Site, *Host) {
	t.Helper()
	s := New(t, Options{Network: n})
	h, err := s.Host()
	must(t, err)
	return s, h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// silence is how long a test listens where nobody is to answer: it proves no more when it is longer.
const silence = 400 * time.Millisecond

// briefly is a context for a question that nobody answers.
func briefly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), silence)
	t.Cleanup(cancel)
	return ctx
}

// pings asks until a host answers: one request may be lost, or answered too late, on a busy machine.
func pings(t *testing.T, n *Namespace, to netip.Addr) {
	t.Helper()
	wait.Until(t, "an answer of "+to.String(), func(ctx context.Context) error { return n.Ping(ctx, to) })
}

// soon is long enough for an answer that comes.
var soon = wait.Timeout(time.Second)

// lease asks for an address as a client does; tries is how often it asks.
func lease(t *testing.T, h *Host, wait time.Duration) (*nclient4.Lease, error) {
	t.Helper()
	client, err := in(h.Namespace, func() (*nclient4.Client, error) {
		return nclient4.New(HostInterface, nclient4.WithTimeout(wait), nclient4.WithRetry(1))
	})
	must(t, err)
	defer client.Close()
	return client.Request(t.Context())
}

// configure gives a host the node's address by hand.
func (h *Host) configure(t *testing.T, n Network) {
	t.Helper()
	must(t, h.address(HostInterface, n.prefixed(n.Node4), n.prefixed(n.Node6)))
	must(t, h.defaultRoutes(n.Gateway4, n.Gateway6))
}

func TestDHCPOffersTheNodesAddressAndForgetsItAfterAMove(t *testing.T) {
	t.Parallel()
	s, h := lan(t, Factory())
	got, err := lease(t, h, soon)
	must(t, err)
	if a := got.ACK.YourIPAddr.String(); a != "192.0.2.10" {
		t.Errorf("the factory's DHCP gives %s", a)
	}
	must(t, s.Switch(Edge()))
	got, err = lease(t, h, soon)
	must(t, err)
	ack := got.ACK
	if a := ack.YourIPAddr.String(); a != "198.51.100.10" {
		t.Errorf("the site's DHCP gives %s", a)
	}
	if ack.Router()[0].String() != "198.51.100.1" || ack.DNS()[0].String() != "198.51.100.53" || ack.NTPServers()[0].String() != "198.51.100.123" {
		t.Errorf("options: %s", ack.Summary())
	}
	second, err := s.Host()
	must(t, err)
	got, err = lease(t, second, soon)
	must(t, err)
	if a := got.ACK.YourIPAddr.String(); a != "198.51.100.11" {
		t.Errorf("the second client gets %s", a)
	}
}

func TestDHCPRefusesAnAddressOfTheOtherNetwork(t *testing.T) {
	t.Parallel()
	_, h := lan(t, Edge())
	client, err := in(h.Namespace, func() (*nclient4.Client, error) { return nclient4.New(HostInterface) })
	must(t, err)
	defer client.Close()
	nic, err := h.Interface(HostInterface)
	must(t, err)
	request, err := dhcpv4.New(dhcpv4.WithHwAddr(nic.HardwareAddr), dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest),
		dhcpv4.WithBroadcast(true), dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(net.IPv4(192, 0, 2, 10))))
	must(t, err)
	answer, err := client.SendAndRead(wait.Within(t, 2*time.Second), nclient4.DefaultServers, request, nil)
	must(t, err)
	if answer.MessageType() != dhcpv4.MessageTypeNak {
		t.Errorf("the answer is %s", answer.MessageType())
	}
}

func TestDHCPFaults(t *testing.T) {
	t.Parallel()
	s, h := lan(t, Edge())
	s.DHCP4.Off()
	if _, err := lease(t, h, silence); err == nil {
		t.Error("a silent DHCP gave an address")
	}
	s.DHCP4.On()
	s.DHCP4.Refuse(true)
	if _, err := lease(t, h, soon); !errors.As(err, new(*nclient4.ErrNak)) {
		t.Errorf("refused: %v", err)
	}
	s.DHCP4.Refuse(false)
	s.DHCP4.Slow(300 * time.Millisecond)
	start := time.Now()
	_, err := lease(t, h, soon)
	must(t, err)
	if took := time.Since(start); took < 600*time.Millisecond {
		t.Errorf("slow DHCP took %s", took)
	}
	s.DHCP4.Slow(0)
	s.DHCP4.Change(func(o *Offer) { o.Gateway = netip.MustParseAddr("198.51.100.99") })
	got, err := lease(t, h, soon)
	must(t, err)
	if g := got.ACK.Router()[0].String(); g != "198.51.100.99" {
		t.Errorf("the lie is %s", g)
	}
}

func TestARogueDHCPServer(t *testing.T) {
	t.Parallel()
	s, h := lan(t, Edge())
	_, _, err := s.AddDHCP4(func(o *Offer) { o.DNS = []netip.Addr{Nobody4} })
	must(t, err)
	offers := map[string]string{}
	client, err := in(h.Namespace, func() (*nclient4.Client, error) { return nclient4.New(HostInterface) })
	must(t, err)
	defer client.Close()
	nic, err := h.Interface(HostInterface)
	must(t, err)
	discover, err := dhcpv4.NewDiscovery(nic.HardwareAddr)
	must(t, err)
	_, _ = client.SendAndRead(wait.Within(t, time.Second), nclient4.DefaultServers, discover, func(p *dhcpv4.DHCPv4) bool {
		offers[p.ServerIdentifier().String()] = p.DNS()[0].String()
		return len(offers) == 2
	})
	if offers["198.51.100.253"] != "198.51.100.53" || offers["198.51.100.252"] != Nobody4.String() {
		t.Errorf("offers: %v", offers)
	}
}

func TestGateway(t *testing.T) {
	t.Parallel()
	n := Edge()
	s, h := lan(t, n)
	h.configure(t, n)
	reaches := func(what string, want bool, addresses ...netip.Addr) {
		t.Helper()
		for _, a := range addresses {
			if want {
				pings(t, h.Namespace, a)
			} else if err := h.Ping(briefly(t), a); err == nil {
				t.Errorf("%s: %s answers", what, a)
			}
		}
	}
	reaches("forwards", true, n.Gateway4, Registry4, n.Gateway6, Registry6)
	must(t, s.Gateway.Set(Blackhole))
	reaches("black hole", true, n.Gateway4, n.Gateway6)
	reaches("black hole", false, Registry4, Registry6)
	must(t, s.Gateway.Set(IgnorePing))
	reaches("no ping", false, n.Gateway4, n.Gateway6)
	reaches("no ping", true, Registry4, Registry6)
	must(t, s.Gateway.Set(Dead))
	must(t, h.FlushNeighbours())
	reaches("dead", false, n.Gateway4, Registry4, n.Gateway6)
	if known, err := h.Neighbours(); err != nil || known[n.Gateway4] != nil || known[n.Gateway6] != nil {
		t.Errorf("a dead gateway answered: %v, %v", known, err)
	}
	reaches("dead", true, n.DNS4[0], n.DNS6[0])
	must(t, s.Gateway.Set(Forwards))
	must(t, h.FlushNeighbours()) // its kernel asks again in its own time
	reaches("forwards again", true, n.Gateway4, Registry4, n.Gateway6, Registry6)
}

func TestGatewayWithTheHostsMAC(t *testing.T) {
	t.Parallel()
	n := Edge()
	s, h := lan(t, n)
	h.configure(t, n)
	nic, err := h.Interface(HostInterface)
	must(t, err)
	must(t, s.Gateway.SetMAC(nic.HardwareAddr))
	pings(t, s.Client().Namespace, n.Gateway4)
	known, err := s.Client().Neighbours()
	must(t, err)
	if known[n.Gateway4].String() != nic.HardwareAddr.String() {
		t.Errorf("the gateway is at %s, the host at %s", known[n.Gateway4], nic.HardwareAddr)
	}
}

func TestAnotherHostHasTheAddress(t *testing.T) {
	t.Parallel()
	n := Edge()
	s, _ := lan(t, n)
	c := s.Client()
	if err := c.Ping(briefly(t), n.Node4); err == nil {
		t.Error("nobody has the address yet and someone answers")
	}
	other, err := s.AddHost(n.Node4, n.Node6)
	must(t, err)
	must(t, c.FlushNeighbours())
	pings(t, c.Namespace, n.Node4)
	pings(t, c.Namespace, n.Node6)
	nic, err := other.Interface(HostInterface)
	must(t, err)
	known, err := c.Neighbours()
	must(t, err)
	if mac := nic.HardwareAddr.String(); known[n.Node4].String() != mac || known[n.Node6].String() != mac {
		t.Errorf("%v, want %s", known, mac)
	}
	other.Remove()
	must(t, c.FlushNeighbours())
	if err := c.Ping(briefly(t), n.Node4); err == nil {
		t.Error("the other host is gone and answers")
	}
}

func TestDNS(t *testing.T) {
	t.Parallel()
	n := Edge()
	s, h := lan(t, n)
	h.configure(t, n)
	ask := func(name string, kind uint16) string {
		t.Helper()
		reply, err := h.Ask(wait.Within(t, time.Second), n.DNS4[0], name, kind)
		switch {
		case err != nil:
			return "no answer"
		case len(reply.Answer) == 0:
			return dns.RcodeToString[reply.Rcode]
		}
		return reply.Answer[0].String()
	}
	check := func(name string, kind uint16, want string) {
		t.Helper()
		if got := ask(name, kind); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	check("api.sno.site.example", dns.TypeA, "198.51.100.10")
	check("a.b.apps.sno.site.example", dns.TypeAAAA, "2001:db8:51::10")
	check("apps.sno.site.example", dns.TypeA, "NXDOMAIN")
	check("10.100.51.198.in-addr.arpa", dns.TypePTR, "api.sno.site.example.")
	check(RegistryName, dns.TypeA, Registry4.String())
	s.DNS.Record("api.sno.site.example", Nobody4)
	check("api.sno.site.example", dns.TypeA, Nobody4.String())
	for mode, want := range map[DNSMode]string{Lies: Nobody4.String(), NXDomain: "NXDOMAIN", ServFail: "SERVFAIL", Refuses: "REFUSED"} {
		s.DNS.Set(mode)
		check(RegistryName, dns.TypeA, want)
	}
	s.DNS.Set(Answers)
	s.DNS.Off()
	check(RegistryName, dns.TypeA, "no answer")
	s.DNS.On()
	s.DNS.Slow(200 * time.Millisecond)
	start := time.Now()
	check(RegistryName, dns.TypeA, Registry4.String())
	if took := time.Since(start); took < 200*time.Millisecond {
		t.Errorf("slow DNS took %s", took)
	}
	second, _, err := s.AddDNS(netip.MustParseAddr("198.51.100.54"))
	must(t, err)
	second.Set(ServFail)
	if reply, err := h.Ask(t.Context(), netip.MustParseAddr("198.51.100.54"), RegistryName, dns.TypeA); err != nil || reply.Rcode != dns.RcodeServerFailure {
		t.Errorf("the second server: %v, %v", reply, err)
	}
}

func TestUnpluggedHostHasNoCarrier(t *testing.T) {
	t.Parallel()
	s := New(t, Options{})
	n := NamespaceFor(t)
	cable, err := s.Attach(n, "enp1s0")
	must(t, err)
	running := func() bool {
		nic, err := n.Interface("enp1s0")
		must(t, err)
		return nic.Flags&net.FlagRunning != 0
	}
	if !running() {
		t.Error("plugged in and no carrier")
	}
	must(t, cable.Unplug())
	wait.Until(t, "the carrier to be gone", func() bool { return !running() })
	must(t, cable.Plug())
	if !running() {
		t.Error("plugged in again and no carrier")
	}
}
