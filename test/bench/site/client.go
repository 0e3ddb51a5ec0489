package site

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/miekg/dns"
	"github.com/vishvananda/netlink"
	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// Client is someone's laptop on the LAN: what it reaches is reached from outside the node.
type Client struct {
	*Namespace
	site *Site
}

// Client is the laptop on this LAN.
func (s *Site) Client() *Client { return &Client{Namespace: s.client, site: s} }

// DialContext connects to an address or a name, which it looks up in the LAN's DNS.
func (c *Client) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("reading the address: %w", err)
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return c.Dial(ctx, network, address)
	}
	addresses, err := c.Lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.Dial(ctx, network, net.JoinHostPort(addresses[0].String(), port))
}

// HTTP is an HTTP client on the laptop. Each request is its own connection.
func (c *Client) HTTP(config *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: c.DialContext, TLSClientConfig: config, DisableKeepAlives: true,
	}}
}

// TLS makes a TLS connection and ends it; the error says why there is none.
func (c *Client) TLS(ctx context.Context, address string, config *tls.Config) (tls.ConnectionState, error) {
	conn, err := c.DialContext(ctx, "tcp", address)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer conn.Close()
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return tls.ConnectionState{}, fmt.Errorf("making the TLS connection: %w", err)
	}
	return secure.ConnectionState(), nil
}

// Lookup asks the LAN's first DNS server for the addresses of a name, IPv4 ones first.
func (c *Client) Lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	servers := both(c.site.Network().DNS4, c.site.Network().DNS6)
	if len(servers) == 0 {
		return nil, errors.New("this network has no DNS server")
	}
	var found []netip.Addr
	for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA} {
		reply, err := c.Ask(ctx, servers[0], name, kind)
		if err != nil {
			return nil, err
		}
		for _, record := range reply.Answer {
			switch r := record.(type) {
			case *dns.A:
				a, _ := netip.AddrFromSlice(r.A.To4())
				found = append(found, a)
			case *dns.AAAA:
				a, _ := netip.AddrFromSlice(r.AAAA)
				found = append(found, a)
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s says that %s has no address", servers[0], name)
	}
	return found, nil
}

// Ask asks one DNS server one question.
func (n *Namespace) Ask(ctx context.Context, server netip.Addr, name string, kind uint16) (*dns.Msg, error) {
	conn, err := n.Dial(ctx, "udp", netip.AddrPortFrom(server, 53).String())
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", server, err)
	}
	defer conn.Close()
	question := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	reply, _, err := (&dns.Client{}).ExchangeWithConnContext(ctx, question, &dns.Conn{Conn: conn})
	if err != nil {
		return nil, fmt.Errorf("asking %s for %s: %w", server, name, err)
	}
	return reply, nil
}

// Ping sends one echo request and waits for its answer as long as ctx lasts, a second at most.
func (n *Namespace) Ping(ctx context.Context, to netip.Addr) error {
	network, request, reply, protocol := "ip4:icmp", icmp.Type(ipv4.ICMPTypeEcho), icmp.Type(ipv4.ICMPTypeEchoReply), 1
	if to.Is6() {
		network, request, reply, protocol = "ip6:ipv6-icmp", ipv6.ICMPTypeEchoRequest, ipv6.ICMPTypeEchoReply, 58
	}
	conn, err := in(n, func() (net.PacketConn, error) { return net.ListenPacket(network, "") })
	if err != nil {
		return fmt.Errorf("opening a socket for ping: %w", err)
	}
	defer conn.Close()
	id := os.Getpid() & 0xffff
	packet, err := (&icmp.Message{Type: request, Body: &icmp.Echo{ID: id, Seq: 1, Data: []byte(to.String())}}).Marshal(nil)
	if err != nil {
		return fmt.Errorf("building the echo request: %w", err)
	}
	until := time.Now().Add(time.Second)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(until) {
		until = deadline
	}
	if err := conn.SetDeadline(until); err != nil {
		return fmt.Errorf("setting the deadline of ping: %w", err)
	}
	if _, err := conn.WriteTo(packet, &net.IPAddr{IP: to.AsSlice()}); err != nil {
		return fmt.Errorf("pinging %s: %w", to, err)
	}
	for buffer := make([]byte, 1500); ; {
		size, _, err := conn.ReadFrom(buffer)
		if err != nil {
			return fmt.Errorf("waiting for the answer of %s: %w", to, err)
		}
		answer, err := icmp.ParseMessage(protocol, buffer[:size])
		if err != nil || answer.Type != reply {
			continue
		}
		if echo, is := answer.Body.(*icmp.Echo); is && echo.ID == id && string(echo.Data) == to.String() {
			return nil
		}
	}
}

// Neighbours are the hardware addresses that the namespace has learnt, by IP address.
func (n *Namespace) Neighbours() (map[netip.Addr]net.HardwareAddr, error) {
	list, err := n.link.NeighList(0, netlink.FAMILY_ALL)
	if err != nil {
		return nil, fmt.Errorf("listing the neighbours: %w", err)
	}
	found := map[netip.Addr]net.HardwareAddr{}
	for _, entry := range list {
		if a, ok := netip.AddrFromSlice(entry.IP); ok && len(entry.HardwareAddr) > 0 && entry.State&(netlink.NUD_REACHABLE|netlink.NUD_STALE|netlink.NUD_DELAY|netlink.NUD_PROBE) != 0 {
			found[a.Unmap()] = entry.HardwareAddr
		}
	}
	return found, nil
}

// FlushNeighbours forgets them, so that the next packet has to ask.
func (n *Namespace) FlushNeighbours() error {
	list, err := n.link.NeighList(0, netlink.FAMILY_ALL)
	if err != nil {
		return fmt.Errorf("listing the neighbours: %w", err)
	}
	for _, entry := range list {
		_ = n.link.NeighDel(&entry) // it may be gone already
	}
	return nil
}
