package site

import (
	"bytes"
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
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/mdlayher/packet"
	"golang.org/x/sys/unix"

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
		t.Fatal("the CA is no certificate")
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
	hear := func(wait time.Duration) (*layers.LinkLayerDiscovery, *layers.LinkLayerDiscoveryInfo, error) {
		must(t, conn.SetReadDeadline(time.Now().Add(wait)))
		buffer := make([]byte, 1600)
		size, _, err := conn.ReadFrom(buffer)
		if err != nil {
			return nil, nil, err
		}
		frame := gopacket.NewPacket(buffer[:size], layers.LayerTypeEthernet, gopacket.Default)
		said, _ := frame.Layer(layers.LayerTypeLinkLayerDiscovery).(*layers.LinkLayerDiscovery)
		info, _ := frame.Layer(layers.LayerTypeLinkLayerDiscoveryInfo).(*layers.LinkLayerDiscoveryInfo)
		if said == nil || info == nil {
			return nil, nil, fmt.Errorf("not LLDP: %s", frame)
		}
		return said, info, nil
	}
	chassis := net.HardwareAddr{2, 0, 0, 0, 0, 7}
	must(t, s.LLDP.Announce(Neighbour{Chassis: chassis, System: "switch-7", Port: "Gi1/0/7", Description: "cabinet 3", VLAN: 51}))
	said, info, err := hear(wait.Timeout(2 * time.Second))
	must(t, err)
	vlan, err := info.Decode8021()
	must(t, err)
	if !bytes.Equal(said.ChassisID.ID, chassis) || string(said.PortID.ID) != "Gi1/0/7" || said.TTL != holdTime ||
		info.SysName != "switch-7" || info.PortDescription != "cabinet 3" || vlan.PVID != 51 {
		t.Errorf("%+v %+v %+v", said, info, vlan)
	}
	s.LLDP.Off()
	for { // what was on its way
		if _, _, err := hear(50 * time.Millisecond); err != nil {
			break
		}
	}
	if _, _, err := hear(1300 * time.Millisecond); err == nil { // they came once a second
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
		everybody := net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
		frame := gopacket.NewSerializeBuffer()
		must(t, gopacket.SerializeLayers(frame, gopacket.SerializeOptions{FixLengths: true},
			&layers.Ethernet{SrcMAC: nic.HardwareAddr, DstMAC: everybody, EthernetType: layers.EthernetTypeARP},
			&layers.ARP{
				AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4,
				Operation: layers.ARPRequest, SourceHwAddress: nic.HardwareAddr, SourceProtAddress: make([]byte, 4),
				DstHwAddress: make([]byte, 6), DstProtAddress: n.Node4.AsSlice(),
			}))
		_, err := conn.WriteTo(frame.Bytes(), &packet.Addr{HardwareAddr: everybody})
		must(t, err)
		must(t, conn.SetReadDeadline(time.Now().Add(wait)))
		for buffer := make([]byte, 1600); ; {
			size, _, err := conn.ReadFrom(buffer)
			if err != nil {
				return nil
			}
			heard := gopacket.NewPacket(buffer[:size], layers.LayerTypeEthernet, gopacket.Default)
			if arp, is := heard.Layer(layers.LayerTypeARP).(*layers.ARP); is && arp.Operation == layers.ARPReply {
				return arp.SourceHwAddress
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
	other, err := NewNamespace()
	if err != nil {
		t.Skip("skipped by the site's own rule") // New in another test fails where it must
	}
	defer other.Close()
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
