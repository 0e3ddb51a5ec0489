package site

import (
	"fmt"
	"net"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/dhcpv6/server6"
)

// DHCP6 is a DHCPv6 server, stateful. The first client of a network gets the node's address, the next ones those that follow.
type DHCP6 struct {
	knob
	change func(*Offer)

	id      dhcpv6.DUID
	network Network
	leases  leases
	server  *server6.Server
}

// Change has every offer changed before it is sent: a server that lies. Nil ends it. DHCPv6 tells no gateway.
func (d *DHCP6) Change(f func(*Offer)) { d.set(func() { d.change = f }) }

func (d *DHCP6) listen(in *Namespace, n Network) error {
	if !n.Prefix6.IsValid() {
		return nil
	}
	nic, err := in.Interface(serverName)
	if err != nil {
		return fmt.Errorf("looking for the interface of DHCPv6: %w", err)
	}
	d.set(func() {
		d.network, d.id = n, &dhcpv6.DUIDLL{HWType: 1, LinkLayerAddr: nic.HardwareAddr}
	})
	d.leases.forget(n.Node6)
	return in.Do(func() error {
		group := &net.UDPAddr{IP: dhcpv6.AllDHCPRelayAgentsAndServers, Port: dhcpv6.DefaultServerPort}
		server, err := server6.NewServer(serverName, group, d.handle)
		if err != nil {
			return fmt.Errorf("starting DHCPv6: %w", err)
		}
		d.server = server
		go func() { _ = server.Serve() }() // ends with its connection
		return nil
	})
}

func (d *DHCP6) close() {
	if d.server != nil {
		d.server.Close()
		d.server = nil
	}
}

func (d *DHCP6) handle(conn net.PacketConn, peer net.Addr, packet dhcpv6.DHCPv6) {
	m, err := packet.GetInnerMessage()
	if err != nil || !d.answers() {
		return
	}
	reply, err := d.reply(m)
	if err == nil && reply != nil {
		_, _ = conn.WriteTo(reply.ToBytes(), peer) // a lost answer is asked for again
	}
}

// reply answers one message; nil is not an answer.
func (d *DHCP6) reply(m *dhcpv6.Message) (*dhcpv6.Message, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id := m.Options.ServerID(); id != nil && !id.Equal(d.id) {
		return nil, nil // the client chose another server
	}
	offer := d.offer(m)
	options := []dhcpv6.Modifier{dhcpv6.WithServerID(d.id), dhcpv6.WithDNS(ips(offer.DNS)...)}
	if len(offer.NTP) > 0 {
		address := dhcpv6.NTPSuboptionSrvAddr(offer.NTP[0].AsSlice())
		options = append(options, dhcpv6.WithOption(&dhcpv6.OptNTPServer{Suboptions: dhcpv6.Options{&address}}))
	}
	if ia := m.Options.OneIANA(); ia != nil {
		options = append(options, dhcpv6.WithIAID(ia.IaId), dhcpv6.WithIANA(dhcpv6.OptIAAddress{
			IPv6Addr: offer.Address.Addr().AsSlice(), PreferredLifetime: offer.Lease, ValidLifetime: offer.Lease,
		}))
	}
	switch m.MessageType {
	case dhcpv6.MessageTypeSolicit:
		if m.GetOneOption(dhcpv6.OptionRapidCommit) == nil {
			return dhcpv6.NewAdvertiseFromSolicit(m, options...)
		}
		return dhcpv6.NewReplyFromMessage(m, append(options, dhcpv6.WithRapidCommit)...)
	case dhcpv6.MessageTypeRequest, dhcpv6.MessageTypeRenew, dhcpv6.MessageTypeRebind,
		dhcpv6.MessageTypeInformationRequest, dhcpv6.MessageTypeRelease, dhcpv6.MessageTypeConfirm:
		return dhcpv6.NewReplyFromMessage(m, options...)
	}
	return nil, nil
}

func (d *DHCP6) offer(m *dhcpv6.Message) Offer {
	n := d.network
	o := Offer{DNS: n.DNS6, NTP: n.NTP6, Lease: time.Hour}
	if id := m.Options.ClientID(); id != nil && m.Options.OneIANA() != nil {
		o.Address = n.prefixed(d.leases.of(net.HardwareAddr(id.ToBytes())))
	}
	if d.change != nil {
		d.change(&o)
	}
	return o
}
