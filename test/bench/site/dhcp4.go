package site

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/server4"
	"github.com/insomniacslk/dhcp/rfc1035label"
)

// Offer is what a DHCP server has for a client.
type Offer struct {
	Address netip.Prefix
	Gateway netip.Addr
	DNS     []netip.Addr
	NTP     []netip.Addr
	Search  []string
	Lease   time.Duration
}

// DHCP4 is a DHCPv4 server. The first client of a network gets the node's address, the next ones those that follow.
type DHCP4 struct {
	knob
	refuses bool
	change  func(*Offer)

	own     netip.Addr // its server identifier
	network Network
	leases  leases
	server  *server4.Server
}

// dhcp4 is the address of the network's DHCP server.
func (n Network) dhcp4() netip.Addr { return host(n.Prefix4, 253) }

// Refuse has every request refused (DHCPNAK) after the offer; false ends it.
func (d *DHCP4) Refuse(on bool) { d.set(func() { d.refuses = on }) }

// Change has every offer changed before it is sent: a server that lies. Nil ends it.
func (d *DHCP4) Change(f func(*Offer)) { d.set(func() { d.change = f }) }

// Reserve keeps an address for a client.
func (d *DHCP4) Reserve(mac net.HardwareAddr, a netip.Addr) { d.leases.reserve(mac, a) }

// AddDHCP4 plugs in a second DHCP server that nobody ordered, with its own offers: change makes them from the right ones.
func (s *Site) AddDHCP4(change func(*Offer)) (*DHCP4, *Host, error) {
	n := s.Network()
	own := host(n.Prefix4, 252)
	h, err := s.AddHost(own)
	if err != nil {
		return nil, nil, err
	}
	d := &DHCP4{change: change, own: own}
	if err := d.listen(h.Namespace, n); err != nil {
		h.Remove()
		return nil, nil, err
	}
	h.onRemove = d.close
	return d, h, nil
}

func (d *DHCP4) listen(in *Namespace, n Network) error {
	if !n.Prefix4.IsValid() {
		return nil
	}
	d.set(func() {
		d.network = n
		if !n.onLink(d.own) {
			d.own = n.dhcp4()
		}
	})
	d.leases.forget(n.Node4)
	return in.Do(func() error {
		conn, err := server4.NewIPv4UDPConn(serverName, nil)
		if err != nil {
			return fmt.Errorf("listening for DHCP: %w", err)
		}
		server, err := server4.NewServer(serverName, nil, d.handle, server4.WithConn(conn))
		if err != nil {
			return fmt.Errorf("starting DHCP: %w", err)
		}
		d.server = server
		go func() { _ = server.Serve() }() // ends with its connection
		return nil
	})
}

func (d *DHCP4) close() {
	if d.server != nil {
		d.server.Close()
		d.server = nil
	}
}

func (d *DHCP4) handle(conn net.PacketConn, peer net.Addr, m *dhcpv4.DHCPv4) {
	if m.OpCode != dhcpv4.OpcodeBootRequest || !d.answers() {
		return
	}
	reply, err := d.reply(m)
	if err != nil || reply == nil {
		return
	}
	if reply.MessageType() == dhcpv4.MessageTypeNak {
		peer = &net.UDPAddr{IP: net.IPv4bcast, Port: dhcpv4.ClientPort}
	}
	_, _ = conn.WriteTo(reply.ToBytes(), peer) // a lost answer is asked for again
}

// reply answers one message; nil is not an answer.
func (d *DHCP4) reply(m *dhcpv4.DHCPv4) (*dhcpv4.DHCPv4, error) {
	d.mu.Lock()
	own, refuses, offer := d.own, d.refuses, d.offer(m.ClientHWAddr)
	d.mu.Unlock()
	if id := m.ServerIdentifier(); id != nil && !id.Equal(own.AsSlice()) {
		return nil, nil // the client chose another server
	}
	kind := dhcpv4.MessageTypeAck
	switch m.MessageType() {
	case dhcpv4.MessageTypeDiscover:
		kind = dhcpv4.MessageTypeOffer
	case dhcpv4.MessageTypeInform:
	case dhcpv4.MessageTypeRequest:
		if refuses || !wants(m, offer.Address.Addr()) {
			return dhcpv4.NewReplyFromRequest(m, dhcpv4.WithMessageType(dhcpv4.MessageTypeNak),
				dhcpv4.WithOption(dhcpv4.OptServerIdentifier(own.AsSlice())))
		}
	default:
		return nil, nil
	}
	reply, err := dhcpv4.NewReplyFromRequest(m, append(offer.options(own), dhcpv4.WithMessageType(kind))...)
	if err == nil && m.MessageType() != dhcpv4.MessageTypeInform {
		reply.YourIPAddr = offer.Address.Addr().AsSlice()
	}
	return reply, err
}

// wants tells whether a request is for the address that the client has here; one from another network is not.
func wants(m *dhcpv4.DHCPv4, a netip.Addr) bool {
	if ip := m.RequestedIPAddress(); ip != nil {
		return ip.Equal(a.AsSlice())
	}
	return m.ClientIPAddr.Equal(a.AsSlice())
}

func (d *DHCP4) offer(mac net.HardwareAddr) Offer {
	n := d.network
	o := Offer{
		Address: n.prefixed(d.leases.of(mac)), Gateway: n.Gateway4, DNS: n.DNS4, NTP: n.NTP4,
		Search: []string{n.Domain}, Lease: time.Hour,
	}
	if d.change != nil {
		d.change(&o)
	}
	return o
}

func (o Offer) options(own netip.Addr) []dhcpv4.Modifier {
	options := []dhcpv4.Modifier{
		dhcpv4.WithOption(dhcpv4.OptServerIdentifier(own.AsSlice())),
		dhcpv4.WithNetmask(net.CIDRMask(o.Address.Bits(), 32)),
		dhcpv4.WithLeaseTime(uint32(o.Lease / time.Second)),
	}
	if o.Gateway.IsValid() {
		options = append(options, dhcpv4.WithRouter(o.Gateway.AsSlice()))
	}
	if len(o.DNS) > 0 {
		options = append(options, dhcpv4.WithDNS(ips(o.DNS)...))
	}
	if len(o.NTP) > 0 {
		options = append(options, dhcpv4.WithOption(dhcpv4.OptNTPServers(ips(o.NTP)...)))
	}
	if len(o.Search) > 0 && o.Search[0] != "" {
		options = append(options, dhcpv4.WithOption(dhcpv4.OptDomainSearch(&rfc1035label.Labels{Labels: o.Search})))
	}
	return options
}

func ips(addresses []netip.Addr) []net.IP {
	list := make([]net.IP, len(addresses))
	for i, a := range addresses {
		list[i] = a.AsSlice()
	}
	return list
}

// leases are who has which address of a network.
type leases struct {
	mu     sync.Mutex
	next   netip.Addr
	byHost map[string]netip.Addr
}

func (l *leases) forget(first netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next, l.byHost = first, map[string]netip.Addr{}
}

func (l *leases) reserve(mac net.HardwareAddr, a netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byHost[mac.String()] = a
}

func (l *leases) of(mac net.HardwareAddr) netip.Addr {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, known := l.byHost[mac.String()]
	if !known {
		a, l.next = l.next, l.next.Next()
		l.byHost[mac.String()] = a
	}
	return a
}
