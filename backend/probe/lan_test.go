package probe

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"math/big"
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/mdlayher/ndp"
	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"

	"touchdown/test/matrix"
)

// lan is a site's network in this process: a cable, and at its other end a stack that has the addresses of all that the site has.
type lan struct {
	site  matrix.Site
	node  *wire // the node's end of the cable
	wire  *wire // the site's
	user  *userStack
	trust authority
	ends  []func() error
	done  sync.WaitGroup
}

// authority signs the registry's certificate.
type authority struct {
	roots *x509.CertPool
	cert  tls.Certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the site's registry"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{matrix.RegistryName}, IPAddresses: []net.IP{net.ParseIP(matrix.Registry[0])},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{roots: x509.NewCertPool(), cert: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}
	a.roots.AddCert(cert)
	return a
}

// newLAN lays the cable and switches the site on.
func newLAN(t *testing.T, s matrix.Site, trust authority) *lan {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	l := &lan{site: s, trust: trust, node: plugged(fds[0], 2), wire: plugged(fds[1], 4)}
	if l.user, err = newUserStack(l.wire); err != nil {
		t.Fatal(err)
	}
	l.wire.listen(l.hear)
	for _, f := range s.Families() {
		for _, part := range []struct {
			has     matrix.Has
			address string
			serve   func(*testing.T, netip.Addr)
		}{
			{s.Gateway, matrix.Gateway[f], nil},
			{s.DNS, matrix.DNS[f], l.serveDNS},
			{s.NTP, matrix.NTP[f], l.serveNTP},
			{s.Registry, matrix.Registry[f], l.serveRegistry},
		} {
			if part.has != matrix.Present {
				continue
			}
			a := l.has(t, part.address, matrix.Prefix[f])
			if part.serve != nil {
				part.serve(t, a)
			}
		}
	}
	if s.Gateway == matrix.Present {
		l.has(t, routerOnLink, 64)
	}
	return l
}

// plugged is one end of a cable, with a card whose last byte tells which.
func plugged(fd int, card byte) *wire {
	w := &wire{mtu: 1500, readers: map[int]func(frame){}, heard: map[int]int{}}
	p := port{name: "cable", mac: net.HardwareAddr{2, 0, 0, 0, 0, card}, file: os.NewFile(uintptr(fd), "cable")}
	w.ports = []port{p}
	w.done.Go(func() { w.read(p) })
	return w
}

// close ends the site; the node's end is the probe's.
func (l *lan) close() {
	for _, end := range l.ends {
		_ = end()
	}
	l.user.close()
	l.wire.close()
	l.done.Wait()
}

func (l *lan) has(t *testing.T, address string, bits int) netip.Addr {
	t.Helper()
	a := netip.MustParseAddr(address)
	if err := l.user.add(netip.PrefixFrom(a, bits), netip.Addr{}); err != nil {
		t.Fatal(err)
	}
	return a
}

// routerOnLink is the address that a router announces itself with; nobodyOnLink announces itself and answers nothing.
const routerOnLink, nobodyOnLink = "fe80::1", "fe80::99"

// hear answers what is asked before anyone has an address.
func (l *lan) hear(f frame) {
	if l.site.DHCP != matrix.Present {
		return
	}
	if m, _ := readNDP(f); m != nil {
		if _, ok := m.(*ndp.RouterSolicitation); ok && contains(l.site.Families(), 1) {
			l.advertise()
		}
		return
	}
	ip := header.IPv4(f.data[header.EthernetMinimumSize:])
	if f.protocol != uint16(header.IPv4ProtocolNumber) || !contains(l.site.Families(), 0) || ip.Protocol() != uint8(header.UDPProtocolNumber) {
		return
	}
	u := header.UDP(ip.Payload())
	if m, err := dhcpv4.FromBytes(u.Payload()); err == nil && u.DestinationPort() == dhcpServer {
		l.offer(m)
	}
}

func contains(list []int, f int) bool {
	for _, have := range list {
		if have == f {
			return true
		}
	}
	return false
}

func (l *lan) offer(ask *dhcpv4.DHCPv4) {
	options := []dhcpv4.Modifier{
		dhcpv4.WithMessageType(dhcpv4.MessageTypeOffer), dhcpv4.WithYourIP(net.ParseIP(matrix.Node[0])), dhcpv4.WithLeaseTime(3600),
		dhcpv4.WithServerIP(net.ParseIP("198.51.100.253")), dhcpv4.WithNetmask(net.CIDRMask(matrix.Prefix[0], 32)),
		dhcpv4.WithOption(dhcpv4.OptServerIdentifier(net.ParseIP("198.51.100.253"))),
	}
	if router := l.site.Router(0); router != "" {
		options = append(options, dhcpv4.WithRouter(net.ParseIP(router)))
	}
	if s := l.site; s.DNS != matrix.Absent {
		options = append(options, dhcpv4.WithDNS(net.ParseIP(s.Servers()[0])))
	}
	m, err := dhcpv4.NewReplyFromRequest(ask, options...)
	if err != nil {
		return
	}
	b := udpBroadcast(l.wire.mac(), m.ToBytes())
	// From server to client: the sum over both ports stays.
	u := header.UDP(b[header.EthernetMinimumSize+header.IPv4MinimumSize:])
	u.SetSourcePort(dhcpServer)
	u.SetDestinationPort(dhcpClient)
	_ = l.wire.send(b)
}

func (l *lan) advertise() {
	m := &ndp.RouterAdvertisement{Options: []ndp.Option{&ndp.PrefixInformation{
		PrefixLength: 64, OnLink: true, AutonomousAddressConfiguration: true, ValidLifetime: time.Hour, PreferredLifetime: time.Hour,
		Prefix: netip.MustParsePrefix(matrix.Node[1] + "/64").Masked().Addr(),
	}}}
	from := netip.MustParseAddr(routerOnLink)
	if l.site.Gateway != matrix.Absent {
		m.RouterLifetime = time.Hour
	}
	if l.site.Gateway == matrix.Wrong {
		from = netip.MustParseAddr(nobodyOnLink)
	}
	if servers := l.site.Servers(); len(servers) > 0 {
		m.Options = append(m.Options, &ndp.RecursiveDNSServer{Lifetime: time.Hour, Servers: []netip.Addr{netip.MustParseAddr(servers[len(servers)-1])}})
	}
	if b, err := icmpv6Frame(l.wire.mac(), from, netip.MustParseAddr("ff02::1"), m); err == nil {
		_ = l.wire.send(b)
	}
}

// packets answers each packet that comes to a port.
func (l *lan) packets(t *testing.T, a netip.Addr, port uint16, answer func([]byte) []byte) {
	t.Helper()
	conn, err := gonet.DialUDP(l.user.stack, &tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFromSlice(a.AsSlice()), Port: port}, nil, protocolOf(a))
	if err != nil {
		t.Fatal(err)
	}
	l.ends = append(l.ends, conn.Close)
	l.done.Go(func() {
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(answer(b[:n]), from)
		}
	})
}

// serveDNS knows the cluster's names and the registry.
func (l *lan) serveDNS(t *testing.T, a netip.Addr) {
	t.Helper()
	l.packets(t, a, dnsPort, func(b []byte) []byte {
		var q dnsmessage.Message
		if q.Unpack(b) != nil || len(q.Questions) == 0 {
			return nil
		}
		q.Response = true
		ask := q.Questions[0]
		to := [2]netip.Addr{netip.MustParseAddr(matrix.Node[0]), l.node6()}
		switch ask.Name.String() {
		case matrix.RegistryName + ".":
			to = [2]netip.Addr{netip.MustParseAddr(matrix.Registry[0]), netip.MustParseAddr(matrix.Registry[1])}
		case matrix.WrongName + ".":
			to = [2]netip.Addr{netip.MustParseAddr(matrix.Nobody[0]), netip.MustParseAddr(matrix.Nobody[1])}
		}
		head := dnsmessage.ResourceHeader{Name: ask.Name, Type: ask.Type, Class: ask.Class}
		switch ask.Type {
		case dnsmessage.TypeA:
			q.Answers = append(q.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: to[0].As4()}})
		case dnsmessage.TypeAAAA:
			q.Answers = append(q.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: to[1].As16()}})
		case dnsmessage.TypePTR:
			q.Answers = append(q.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName("api." + matrix.Domain + ".")}})
		}
		out, _ := q.Pack()
		return out
	})
}

// node6 is the node's IPv6 address: the typed one, or what its card makes of the announced prefix.
func (l *lan) node6() netip.Addr {
	if l.site.Static() {
		return netip.MustParseAddr(matrix.Node[1])
	}
	return fromMAC(netip.MustParseAddr("2001:db8:51::"), l.node.mac())
}

// serveNTP tells the right time (RFC 5905, 7.3).
func (l *lan) serveNTP(t *testing.T, a netip.Addr) {
	t.Helper()
	l.packets(t, a, ntpPort, func(q []byte) []byte {
		out := make([]byte, 48)
		if len(q) < len(out) {
			return nil
		}
		out[0], out[1], out[2], out[3] = q[0]&0x38|4, 2, q[2], 0xEC
		copy(out[12:], "GPS\x00")
		now := time.Now()
		stamp := func(at int, then time.Time) {
			const era = 2208988800 // seconds between 1900 and 1970
			binary.BigEndian.PutUint32(out[at:], uint32(then.Unix()+era))
			binary.BigEndian.PutUint32(out[at+4:], uint32(uint64(then.Nanosecond())<<32/1e9))
		}
		stamp(16, now.Add(-time.Minute))
		copy(out[24:32], q[40:48])
		stamp(32, now)
		stamp(40, now)
		return out
	})
}

// serveRegistry makes a TLS handshake with whoever comes.
func (l *lan) serveRegistry(t *testing.T, a netip.Addr) {
	t.Helper()
	listener, err := gonet.ListenTCP(l.user.stack, tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFromSlice(a.AsSlice()), Port: registryPort}, protocolOf(a))
	if err != nil {
		t.Fatal(err)
	}
	l.ends = append(l.ends, listener.Close)
	l.done.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			l.done.Go(func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(registryWait))
				_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{l.trust.cert}, MinVersion: tls.VersionTLS12}).Handshake()
			})
		}
	})
}
