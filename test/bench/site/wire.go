package site

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	kernel "touchdown/backend/host"
	"touchdown/test/wait"
)

// BridgeName is the LAN's switch in the LAN's namespace.
const BridgeName = "lan"

// up sets an interface up.
func (n *Namespace) up(name string) error {
	link, err := n.link.LinkByName(name)
	if err != nil {
		return fmt.Errorf("looking for %s: %w", name, err)
	}
	if err := n.link.LinkSetUp(link); err != nil {
		return fmt.Errorf("setting %s up: %w", name, err)
	}
	return nil
}

// bridge makes the LAN's switch where there is none.
func (n *Namespace) bridge() error {
	if _, err := n.link.LinkByName(BridgeName); err == nil {
		return n.up(BridgeName)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = BridgeName
	if err := n.link.LinkAdd(&netlink.Bridge{LinkAttrs: attrs}); err != nil {
		return fmt.Errorf("making the bridge: %w", err)
	}
	// The switch is not a host of its LAN: without this it would take part in neighbour discovery.
	if err := n.sysctls(map[string]string{"ipv6/conf/" + BridgeName + "/disable_ipv6": "1"}); err != nil {
		return err
	}
	return n.up(BridgeName)
}

// wire joins interface a of namespace n with interface b of namespace m.
func (n *Namespace) wire(a string, m *Namespace, b string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = a
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: b, PeerNamespace: netlink.NsFd(m.file.Fd())}
	if err := n.link.LinkAdd(veth); err != nil {
		return fmt.Errorf("making the cable %s: %w", a, err)
	}
	return errors.Join(n.honest(a), m.honest(b), n.up(a), m.up(b), n.awaitUp(a), m.awaitUp(b))
}

// awaitUp waits until the kernel has noticed the carrier of an interface. Before that IPv6 has no routes over it and a
// bridge does not forward.
func (n *Namespace) awaitUp(name string) error {
	up := func() (bool, error) {
		link, err := n.link.LinkByName(name)
		return err == nil && link.Attrs().OperState == netlink.OperUp, err
	}
	return await("the carrier of "+name, up)
}

// honest has every frame of an interface carry its checksum and fit the MTU. A veth leaves both to a card that is not
// there, which no reader of raw frames (Open vSwitch's userspace datapath, a userspace stack) forgives.
func (n *Namespace) honest(name string) error {
	return n.Do(func() error {
		for _, off := range []uint32{unix.ETHTOOL_STXCSUM, unix.ETHTOOL_STSO, unix.ETHTOOL_SGSO, unix.ETHTOOL_SGRO} {
			if err := kernel.SetPort(name, off, 0); err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
				return fmt.Errorf("switching an offload off: %w", err)
			}
		}
		return nil
	})
}

// fastNeighbours has the kernel repeat a question about a neighbour ten times a second instead of once.
func (n *Namespace) fastNeighbours(name string) error {
	return n.sysctls(map[string]string{
		"ipv4/neigh/" + name + "/retrans_time_ms": "100", "ipv6/neigh/" + name + "/retrans_time_ms": "100",
	})
}

// address replaces the global addresses of an interface. None of them waits for duplicate address detection.
func (n *Namespace) address(name string, addresses ...netip.Prefix) error {
	link, err := n.link.LinkByName(name)
	if err != nil {
		return fmt.Errorf("looking for %s: %w", name, err)
	}
	old, err := n.link.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return fmt.Errorf("listing the addresses of %s: %w", name, err)
	}
	for _, a := range old {
		if a.IP.To4() == nil && a.IP.IsLinkLocalUnicast() {
			continue
		}
		if err := n.link.AddrDel(link, &a); err != nil {
			return fmt.Errorf("removing %s from %s: %w", a.IPNet, name, err)
		}
	}
	for _, a := range addresses {
		add := &netlink.Addr{IPNet: ipNet(a)}
		if a.Addr().Is6() {
			add.Flags = unix.IFA_F_NODAD
		}
		if err := n.link.AddrReplace(link, add); err != nil {
			return fmt.Errorf("adding %s to %s: %w", a, name, err)
		}
	}
	return n.awaitHeard(addresses)
}

// awaitHeard waits until the kernel listens to neighbour solicitations for the addresses, which it comes to by and by.
func (n *Namespace) awaitHeard(addresses []netip.Prefix) error {
	for _, a := range addresses {
		if !a.Addr().Is6() {
			continue
		}
		raw := a.Addr().As16()
		group := fmt.Sprintf("ff0200000000000000000001ff%x", raw[13:]) // RFC 4291, 2.7.1
		joined := func() (bool, error) {
			return in(n, func() (bool, error) {
				groups, err := os.ReadFile("/proc/thread-self/net/igmp6")
				return strings.Contains(string(groups), group), err
			})
		}
		if err := await(fmt.Sprintf("the group of %s", a.Addr()), joined); err != nil {
			return err
		}
	}
	return nil
}

// await waits for what the kernel does in its own time; it looks at carriers once a second at least.
func await(what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), wait.Timeout(30*time.Second))
	defer cancel()
	return wait.For(ctx, what, func() error {
		ok, err := done()
		if err == nil && !ok {
			return errors.New("the kernel has not done it yet")
		}
		return wait.Final(err)
	})
}

// defaultRoutes leads everything else over the gateways that are addresses.
func (n *Namespace) defaultRoutes(gateways ...netip.Addr) error {
	for _, g := range both(gateways) {
		route := &netlink.Route{Gw: g.AsSlice()}
		if err := n.link.RouteReplace(route); err != nil {
			return fmt.Errorf("setting the default route over %s: %w", g, err)
		}
	}
	return nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// Cable is a cable from the LAN's switch to an interface of a host.
type Cable struct {
	lan  *Namespace
	port string
	end  *Namespace
	name string // of the interface at the end
}

// Unplug pulls the cable: the host loses its carrier.
func (c *Cable) Unplug() error { return c.set((*netlink.Handle).LinkSetDown) }

// Plug puts the cable back and waits for its carrier if the host's interface is up.
func (c *Cable) Plug() error {
	if err := c.set((*netlink.Handle).LinkSetUp); err != nil {
		return err
	}
	link, err := c.end.link.LinkByName(c.name)
	if err != nil || link.Attrs().Flags&net.FlagUp == 0 {
		return nil
	}
	return errors.Join(c.lan.awaitUp(c.port), c.end.awaitUp(c.name))
}

func (c *Cable) set(f func(*netlink.Handle, netlink.Link) error) error {
	link, err := c.lan.link.LinkByName(c.port)
	if err != nil {
		return fmt.Errorf("looking for the port %s: %w", c.port, err)
	}
	if err := f(c.lan.link, link); err != nil {
		return fmt.Errorf("switching the port %s: %w", c.port, err)
	}
	return nil
}

// remove takes the cable and the host's interface away.
func (c *Cable) remove() error {
	link, err := c.lan.link.LinkByName(c.port)
	if err != nil {
		return fmt.Errorf("looking for the port %s: %w", c.port, err)
	}
	if err := c.lan.link.LinkDel(link); err != nil {
		return fmt.Errorf("removing the port %s: %w", c.port, err)
	}
	return nil
}
