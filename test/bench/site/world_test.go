package site

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/beevik/ntp"
	"github.com/mdlayher/packet"
	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"

	"touchdown/test/wait"
)

func TestNTP(t *testing.T) {
	t.Parallel()
	n := Edge()
	s, h := lan(t, n)
	h.configure(t, n)
	query := func(a netip.Addr, wait time.Duration) (*ntp.Response, error) {
		return ntp.QueryWithOptions(a.String(), ntp.QueryOptions{
			Timeout: wait,
			Dialer: func(_, remote string) (net.Conn, error) {
				return h.Dial(t.Context(), "udp", remote)
			},
		})
	}
	offset := func(a netip.Addr, want time.Duration) {
		t.Helper()
		r, err := query(a, soon)
		must(t, err)
		must(t, r.Validate())
		if off := (r.ClockOffset - want).Abs(); off > time.Minute { // an answer that comes late is off by half of its way
			t.Errorf("%s is %s ahead, want %s", a, r.ClockOffset, want)
		}
	}
	offset(n.NTP4[0], 0)
	offset(n.NTP6[0], 0)
	s.NTP.Offset(72 * time.Hour)
	offset(n.NTP4[0], 72*time.Hour)
	offset(NTP4, 0)
	s.NTP.Offset(-72 * time.Hour)
	offset(n.NTP4[0], -72*time.Hour)
	s.NTP.Set(Unsynchronised)
	if r, err := query(n.NTP4[0], soon); err != nil || r.Validate() == nil {
		t.Errorf("unsynchronised: %+v, %v", r, err)
	}
	s.NTP.Set(KissOfDeath)
	if r, err := query(n.NTP4[0], soon); err != nil || r.KissCode != "DENY" {
		t.Errorf("kiss of death: %+v, %v", r, err)
	}
	s.NTP.Set(Synchronised)
	s.NTP.Off()
	if _, err := query(n.NTP4[0], silence); err == nil {
		t.Error("a silent NTP server answered")
	}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	s := New(t, Options{Network: Edge()})
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.Registry.CA()) {
		t.Fatal("the CA is not a certificate")
	}
	client := s.Client().HTTP(&tls.Config{RootCAs: roots})
	getIn := func(ctx context.Context, login bool) string {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+RegistryName+"/v2/", nil)
		must(t, err)
		if login {
			request.SetBasicAuth(RegistryUser, RegistryPassword)
		}
		answer, err := client.Do(request)
		if err != nil {
			return err.Error()
		}
		answer.Body.Close()
		return answer.Status
	}
	get := func(login bool) string { return getIn(wait.Within(t, time.Second), login) }
	for _, c := range []struct {
		mode            RegistryMode
		anyone, account string
	}{
		{Open, "200 OK", "200 OK"},
		{NeedsLogin, "401 Unauthorized", "200 OK"},
		{Forbids, "401 Unauthorized", "401 Unauthorized"},
		{WrongName, "valid for other.example.net", "valid for other.example.net"},
		{UnknownCA, "unknown authority", "unknown authority"},
		{ExpiredCert, "expired", "expired"},
		{NotARegistry, "404 Not Found", "404 Not Found"},
	} {
		s.Registry.Set(c.mode)
		if got := get(false); !strings.Contains(got, c.anyone) {
			t.Errorf("mode %d without login: %s, want %s", c.mode, got, c.anyone)
		}
		if got := get(true); !strings.Contains(got, c.account) {
			t.Errorf("mode %d with login: %s, want %s", c.mode, got, c.account)
		}
	}
	s.Registry.Set(Open)
	s.Registry.Off()
	if got := getIn(briefly(t), false); !strings.Contains(got, "deadline") {
		t.Errorf("silent: %s", got)
	}
	s.Registry.On()
	s.Registry.Slow(150 * time.Millisecond)
	start := time.Now()
	if got := get(false); got != "200 OK" || time.Since(start) < 150*time.Millisecond {
		t.Errorf("slow: %s after %s", got, time.Since(start))
	}
	s.Registry.Slow(0)
	through := &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}, DialContext: s.Client().DialContext,
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: s.Network().Proxy().String()}),
	}
	client = &http.Client{Transport: through}
	s.Proxy.On()
	if got := get(false); got != "200 OK" || s.Proxy.Asked() != 1 {
		t.Errorf("by proxy: %s, asked %d times", got, s.Proxy.Asked())
	}
}

func TestTheWorldInIPv6AndWhereNobodyIs(t *testing.T) {
	t.Parallel()
	s := New(t, Options{Network: Edge()})
	state, err := s.Client().TLS(t.Context(), netip.AddrPortFrom(Registry6, RegistryPort).String(), &tls.Config{InsecureSkipVerify: true})
	if err != nil || state.PeerCertificates[0].Subject.CommonName != RegistryName {
		t.Errorf("%v, %v", state.PeerCertificates, err)
	}
	if _, err := s.Client().TLS(briefly(t), "203.0.113.66:443", &tls.Config{}); err == nil {
		t.Error("nobody's address answers")
	}
}

func TestLLDP(t *testing.T) {
	t.Parallel()
	s, h := lan(t, Edge())
	nic, err := h.Interface(HostInterface)
	must(t, err)
	conn, err := in(h.Namespace, func() (*packet.Conn, error) { return packet.Listen(nic, packet.Raw, etherTypeLLDP, nil) })
	must(t, err)
	defer conn.Close()
	hear := func(wait time.Duration) ([]byte, error) {
		must(t, conn.SetReadDeadline(time.Now().Add(wait)))
		buffer := make([]byte, 1600)
		size, _, err := conn.ReadFrom(buffer)
		return buffer[:size], err
	}
	chassis := net.HardwareAddr{2, 0, 0, 0, 0, 7}
	must(t, s.LLDP.Announce(Neighbour{Chassis: chassis, System: "switch-7", Port: "Gi1/0/7", Description: "cabinet 3", VLAN: 51}))
	frame, err := hear(wait.Timeout(2 * time.Second))
	must(t, err)
	// Type and length of each part are written out, as IEEE 802.1AB, 8.4, and 802.1Q, D.2.1, have them: 7 bits and 9 bits.
	want := "\x02\x07\x04\x02\x00\x00\x00\x00\x07" + "\x04\x08\x05Gi1/0/7" + "\x06\x02\x00\x78" + "\x08\x09cabinet 3" + "\x0a\x08switch-7" +
		"\xfe\x06\x00\x80\xc2\x01\x00\x33" + "\x00\x00"
	if len(frame) < header.EthernetMinimumSize {
		t.Fatalf("a frame of %d bytes", len(frame))
	}
	ethernet := header.Ethernet(frame)
	if ethernet.DestinationAddress() != "\x01\x80\xc2\x00\x00\x0e" || ethernet.Type() != 0x88cc || string(frame[header.EthernetMinimumSize:]) != want {
		t.Errorf("to %s, type %#x: %q, want %q", ethernet.DestinationAddress(), ethernet.Type(), frame[header.EthernetMinimumSize:], want)
	}
	s.LLDP.Off()
	for { // what was on its way
		if _, err := hear(50 * time.Millisecond); err != nil {
			break
		}
	}
	if _, err := hear(1300 * time.Millisecond); err == nil { // they came once a second
		t.Error("LLDP after it was switched off")
	}
}

// TestDuplicateAddressByAnARPProbe asks as RFC 5227 has it: from no address.
func TestDuplicateAddressByAnARPProbe(t *testing.T) {
	t.Parallel()
	n := Edge()
	s, h := lan(t, n)
	nic, err := h.Interface(HostInterface)
	must(t, err)
	conn, err := in(h.Namespace, func() (*packet.Conn, error) { return packet.Listen(nic, packet.Raw, unix.ETH_P_ARP, nil) })
	must(t, err)
	defer conn.Close()
	probe := func(wait time.Duration) net.HardwareAddr {
		frame := make([]byte, header.EthernetMinimumSize+header.ARPSize)
		header.Ethernet(frame).Encode(&header.EthernetFields{
			SrcAddr: tcpip.LinkAddress(nic.HardwareAddr), DstAddr: header.EthernetBroadcastAddress, Type: header.ARPProtocolNumber,
		})
		question := header.ARP(frame[header.EthernetMinimumSize:])
		question.SetIPv4OverEthernet()
		question.SetOp(header.ARPRequest)
		copy(question.HardwareAddressSender(), nic.HardwareAddr)
		copy(question.ProtocolAddressTarget(), n.Node4.AsSlice())
		_, err := conn.WriteTo(frame, &packet.Addr{HardwareAddr: net.HardwareAddr(header.EthernetBroadcastAddress)})
		must(t, err)
		must(t, conn.SetReadDeadline(time.Now().Add(wait)))
		for buffer := make([]byte, 1600); ; {
			size, _, err := conn.ReadFrom(buffer)
			if err != nil {
				return nil
			}
			if size < len(frame) {
				continue
			}
			if arp := header.ARP(buffer[header.EthernetMinimumSize:size]); arp.IsValid() && arp.Op() == header.ARPReply {
				return net.HardwareAddr(arp.HardwareAddressSender())
			}
		}
	}
	if by := probe(silence); by != nil {
		t.Errorf("%s has the address that nobody has", by)
	}
	other, err := s.AddHost(n.Node4)
	must(t, err)
	owner, err := other.Interface(HostInterface)
	must(t, err)
	if by := probe(soon); by.String() != owner.HardwareAddr.String() {
		t.Errorf("answered by %s, the owner is %s", by, owner.HardwareAddr)
	}
}

// TestTheClientReachesTheNode is the proof from outside, with a host in the place of the node.
func TestTheClientReachesTheNode(t *testing.T) {
	t.Parallel()
	n := Edge()
	s, h := lan(t, n)
	h.configure(t, n)
	listener, err := h.Listen("tcp", netip.AddrPortFrom(n.Node4, 6443).String())
	must(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	answer, err := s.Client().HTTP(nil).Get("http://api.sno.site.example:6443/readyz")
	must(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Error(answer.Status)
	}
}

// TestSitesDoNotMeet builds two sites with the same addresses, the second on the switch of someone else.
func TestSitesDoNotMeet(t *testing.T) {
	t.Parallel()
	other := NamespaceFor(t)
	must(t, other.bridge())
	one, two := New(t, Options{}), New(t, Options{LAN: other.Path()})
	one.DNS.Off()
	if a, err := two.Client().Lookup(wait.Within(t, time.Second), RegistryName); err != nil || a[0] != Registry4 {
		t.Errorf("%v, %v", a, err)
	}
	two.Close()
	links, err := other.link.LinkList()
	must(t, err)
	if len(links) != 2 { // lo and the bridge
		t.Errorf("left on the borrowed switch: %v", links)
	}
}
