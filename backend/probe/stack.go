package probe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/channel"
	"gvisor.dev/gvisor/pkg/tcpip/link/ethernet"
	"gvisor.dev/gvisor/pkg/tcpip/network/arp"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv6"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/udp"
)

const (
	nic = tcpip.NICID(1)

	// What may wait on its way out, in frames; and in a connection, in bytes. A probe exchanges a few KiB.
	queued     = 64
	bufferSize = 64 << 10
)

// userStack is a TCP/IP of the probe's own on a wire: it has addresses that the machine does not have yet. Close it.
type userStack struct {
	stack *stack.Stack
	link  *channel.Endpoint
	wire  *wire
	stop  func()
	done  sync.WaitGroup

	mu     sync.Mutex
	admits []netip.Addr
}

func newUserStack(w *wire) (*userStack, error) {
	u := &userStack{wire: w, link: channel.New(queued, uint32(w.mtu+header.EthernetMinimumSize), tcpip.LinkAddress(w.mac()))}
	// Frames from a neighbour on the same machine, as in a virtual one, come without checksums: their card would
	// fill them in.
	u.link.LinkEPCapabilities = stack.CapabilityRXChecksumOffload
	u.stack = stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{arp.NewProtocol, ipv4.NewProtocol, ipv6.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol, udp.NewProtocol},
	})
	for _, option := range []tcpip.SettableTransportProtocolOption{
		&tcpip.TCPReceiveBufferSizeRangeOption{Min: 4096, Default: bufferSize, Max: bufferSize},
		&tcpip.TCPSendBufferSizeRangeOption{Min: 4096, Default: bufferSize, Max: bufferSize},
	} {
		if err := u.stack.SetTransportProtocolOption(tcp.ProtocolNumber, option); err != nil {
			return nil, fmt.Errorf("limiting the buffers of the test's own TCP: %s", err)
		}
	}
	if err := u.stack.CreateNIC(nic, ethernet.New(u.link)); err != nil {
		return nil, fmt.Errorf("starting the test's own TCP/IP: %s", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopListening := w.listen(u.receive)
	u.done.Go(func() { u.transmit(ctx) })
	u.stop = func() { stopListening(); cancel() }
	return u, nil
}

// close ends all connections and frees what they hold.
func (u *userStack) close() {
	u.stop()
	u.done.Wait()
	u.stack.Close()
	u.link.Close()
	u.stack.Wait()
}

func (u *userStack) receive(f frame) {
	p := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithData(f.data)})
	defer p.DecRef()
	u.link.InjectInbound(0, p)
}

func (u *userStack) transmit(ctx context.Context) {
	for {
		p := u.link.ReadContext(ctx)
		if p == nil {
			return
		}
		view := p.ToView()
		// A frame that cannot be sent is a frame that got lost: whoever waits for the answer notices.
		_ = u.wire.send(view.AsSlice())
		view.Release()
		p.DecRef()
	}
}

// add gives the stack an address that nobody else has, and the ways out of it.
func (u *userStack) add(address netip.Prefix, gateway netip.Addr) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.admits = append(u.admits, address.Addr())
	if err := u.wire.admit(u.admits); err != nil {
		return err
	}
	a := tcpip.ProtocolAddress{Protocol: protocolOf(address.Addr()), AddressWithPrefix: tcpip.AddressWithPrefix{
		Address: tcpip.AddrFromSlice(address.Addr().AsSlice()), PrefixLen: address.Bits(),
	}}
	if err := u.stack.AddProtocolAddress(nic, a, stack.AddressProperties{}); err != nil {
		return fmt.Errorf("giving the test's own TCP/IP the address %s: %s", address, err)
	}
	routes := append(u.stack.GetRouteTable(), tcpip.Route{Destination: a.AddressWithPrefix.Subnet(), NIC: nic})
	if gateway.IsValid() {
		any := header.IPv4EmptySubnet
		if gateway.Is6() {
			any = header.IPv6EmptySubnet
		}
		routes = append(routes, tcpip.Route{Destination: any, Gateway: tcpip.AddrFromSlice(gateway.AsSlice()), NIC: nic})
	}
	u.stack.SetRouteTable(routes)
	return nil
}

func protocolOf(a netip.Addr) tcpip.NetworkProtocolNumber {
	if a.Is4() {
		return ipv4.ProtocolNumber
	}
	return ipv6.ProtocolNumber
}

// dial is net.Dialer.DialContext for "tcp" and "udp", from an address of the stack.
func (u *userStack) dial(ctx context.Context, network string, from netip.Addr, to netip.AddrPort) (net.Conn, error) {
	local := tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFromSlice(from.AsSlice())}
	remote := tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFromSlice(to.Addr().AsSlice()), Port: to.Port()}
	if network == "udp" {
		c, err := gonet.DialUDP(u.stack, &local, &remote, protocolOf(to.Addr()))
		if err != nil {
			return nil, fmt.Errorf("asking %s: %w", to, err)
		}
		return c, nil
	}
	c, err := gonet.DialTCPWithBind(ctx, u.stack, local, remote, protocolOf(to.Addr()))
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", to, err)
	}
	return c, nil
}

// known tells whether the neighbour with that address answered when it was looked for.
func (u *userStack) known(a netip.Addr) bool {
	all, err := u.stack.Neighbors(nic, protocolOf(a))
	if err != nil {
		return false
	}
	for _, n := range all {
		if n.Addr == tcpip.AddrFromSlice(a.AsSlice()) {
			return n.LinkAddr != "" && n.State != stack.Unreachable && n.State != stack.Incomplete
		}
	}
	return false
}
