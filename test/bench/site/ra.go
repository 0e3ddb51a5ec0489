package site

import (
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/mdlayher/ndp"
)

// Router is the voice of the gateway in IPv6: its router advertisements, once a second and when someone asks.
type Router struct {
	knob
	change func(*ndp.RouterAdvertisement)

	network Network
	conn    *ndp.Conn
	ended   chan struct{}
}

// Change has every advertisement changed before it is sent: other flags, a lie. Nil ends it.
func (r *Router) Change(f func(*ndp.RouterAdvertisement)) { r.set(func() { r.change = f }) }

// Managed has clients told to ask DHCPv6 for their address and not to make one up themselves.
func Managed(ra *ndp.RouterAdvertisement) {
	ra.ManagedConfiguration, ra.OtherConfiguration = true, true
	for _, o := range ra.Options {
		if prefix, is := o.(*ndp.PrefixInformation); is {
			prefix.AutonomousAddressConfiguration = false
		}
	}
}

var (
	allNodes   = netip.MustParseAddr("ff02::1")
	allRouters = netip.MustParseAddr("ff02::2")
)

func (r *Router) listen(in *Namespace, n Network) error {
	if !n.Prefix6.IsValid() {
		return nil
	}
	return in.Do(func() error {
		nic, err := in.Interface(serverName)
		if err != nil {
			return fmt.Errorf("looking for the gateway's interface: %w", err)
		}
		addresses := *nic
		// A zone by number: the names that this process knows are those of another namespace.
		addresses.Name = strconv.Itoa(nic.Index)
		conn, _, err := ndp.Listen(&addresses, ndp.LinkLocal)
		if err != nil {
			return fmt.Errorf("listening for router solicitations: %w", err)
		}
		if err := conn.JoinGroup(allRouters); err != nil {
			conn.Close()
			return fmt.Errorf("listening for router solicitations: %w", err)
		}
		r.network, r.conn, r.ended = n, conn, make(chan struct{})
		go r.advertise(conn, r.ended)
		go r.solicited(conn)
		return nil
	})
}

func (r *Router) close() {
	if r.conn != nil {
		close(r.ended)
		r.conn.Close()
		r.conn = nil
	}
}

func (r *Router) advertise(conn *ndp.Conn, ended <-chan struct{}) {
	for tick := time.NewTicker(time.Second); ; {
		r.mu.Lock()
		off := r.off
		r.mu.Unlock()
		if !off {
			_ = conn.WriteTo(r.advertisement(), nil, allNodes) // the cable may be out; the next one comes
		}
		select {
		case <-tick.C:
		case <-ended:
			tick.Stop()
			return
		}
	}
}

func (r *Router) solicited(conn *ndp.Conn) {
	for {
		m, _, _, err := conn.ReadFrom()
		if err != nil {
			return
		}
		if _, asked := m.(*ndp.RouterSolicitation); asked && r.answers() {
			_ = conn.WriteTo(r.advertisement(), nil, allNodes)
		}
	}
}

func (r *Router) advertisement() *ndp.RouterAdvertisement {
	r.mu.Lock()
	defer r.mu.Unlock()
	const lifetime = 30 * time.Minute
	ra := &ndp.RouterAdvertisement{
		CurrentHopLimit: 64, RouterLifetime: lifetime,
		Options: []ndp.Option{&ndp.PrefixInformation{
			PrefixLength: uint8(r.network.Prefix6.Bits()), Prefix: r.network.Prefix6.Masked().Addr(),
			OnLink: true, AutonomousAddressConfiguration: true, ValidLifetime: lifetime, PreferredLifetime: lifetime,
		}},
	}
	if len(r.network.DNS6) > 0 {
		ra.Options = append(ra.Options, &ndp.RecursiveDNSServer{Lifetime: lifetime, Servers: r.network.DNS6})
	}
	if r.change != nil {
		r.change(ra)
	}
	return ra
}
