package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// carrier judges the ports and returns those with a link; why says what keeps all probes from being made.
func (r *run) carrier() (usable []netlink.Link, why message.Text, err error) {
	c := check.Check{ID: "net-carrier", Title: message.T("Cable and link"), Expected: message.F("a link on %s", strings.Join(r.t.Ports, ", "))}
	var without, off, missing []string
	for _, name := range r.t.Ports {
		l, err := netlink.LinkByName(name)
		if _, is := errors.AsType[netlink.LinkNotFoundError](err); is {
			missing = append(missing, name)
			continue
		}
		if err != nil {
			return nil, message.Text{}, fmt.Errorf("looking at %s: %w", name, err)
		}
		flags := l.Attrs().RawFlags
		c.Evidence = append(c.Evidence, message.F("%s: %s, flags %#x, state %s", name, l.Attrs().HardwareAddr, flags, l.Attrs().OperState))
		switch {
		case flags&unix.IFF_UP == 0:
			off = append(off, name)
		case flags&unix.IFF_LOWER_UP == 0:
			without = append(without, name)
		default:
			usable = append(usable, l)
		}
	}
	why = r.judgePorts(&c, len(usable), without, off, missing)
	r.say(c)
	return usable, why, nil
}

func (r *run) judgePorts(c *check.Check, usable int, without, off, missing []string) (why message.Text) {
	var parts []message.Text
	add := func(names []string, text message.Text) {
		if len(names) > 0 {
			parts = append(parts, message.F("%s %s", strings.Join(names, ", "), text))
		}
	}
	add(without, message.T("has no link"))
	add(off, message.T("is switched off in the system, so a cable cannot be seen"))
	add(missing, message.T("does not exist"))
	c.Observed = message.F("%s.", message.Join(parts, "; "))
	c.Fix = message.T("Plug the cable in at both ends, try another cable or another socket of the switch, or choose another port.")
	switch {
	case len(parts) == 0 && usable == 0:
		c.Observed, c.Fix = message.T("No port was chosen."), message.T("Choose the port that the cable is in.")
	case len(parts) == 0:
		c.Status, c.Observed, c.Fix = check.Pass, message.T("The cable is plugged in and the other side answers."), message.Text{}
		return message.Text{}
	case usable > 0:
		c.Status = check.Warn
		return message.Text{}
	case len(off) > 0 && len(without) == 0 && len(missing) == 0 && !r.live:
		c.Status, c.Fix = check.Warn, message.T("Nothing to do: it is checked again when the settings are applied.")
		return message.T("the port is switched off in the system")
	}
	c.Status = check.Fail
	return message.T("there is no link")
}

// holds tells whether the machine has the address, wherever.
func (r *run) holds(a netip.Addr) (bool, error) {
	all, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return false, fmt.Errorf("reading the machine's addresses: %w", err)
	}
	for _, have := range all {
		if got, ok := addr(have.IP); ok && got == a {
			return true, nil
		}
	}
	return false, nil
}

// readLive reads the address that the applied settings brought, and the gateway. An address that is still being looked
// for elsewhere (tentative), or that someone has (failed), is none.
func (r *run) readLive(f *family) error {
	link, err := netlink.LinkByName(r.t.Interface)
	if err != nil {
		return fmt.Errorf("looking at %s: %w", r.t.Interface, err)
	}
	kind := netlink.FAMILY_V4
	if f.suffix != "" {
		kind = netlink.FAMILY_V6
	}
	all, err := netlink.AddrList(link, kind)
	if err != nil {
		return fmt.Errorf("reading the addresses of %s: %w", r.t.Interface, err)
	}
	for _, have := range all {
		a, _ := addr(have.IP)
		bits, _ := have.Mask.Size()
		// What came by DHCP or from a router has a lifetime; the node's internal address has none.
		brought := have.Flags&unix.IFA_F_PERMANENT == 0 && !a.IsLinkLocalUnicast()
		if f.set.Method == Static {
			brought = a == f.set.Address.Addr()
		}
		if brought && have.Flags&(unix.IFA_F_TENTATIVE|unix.IFA_F_DADFAILED) == 0 {
			f.address = netip.PrefixFrom(a, bits)
			break
		}
	}
	if f.gateway = f.set.Gateway; f.set.Method == Static {
		return nil
	}
	routes, err := netlink.RouteList(link, kind)
	if err != nil {
		return fmt.Errorf("reading the routes of %s: %w", r.t.Interface, err)
	}
	for _, route := range routes {
		if gw, ok := addr(route.Gw); ok && isDefault(route) {
			f.gateway = gw
			break
		}
	}
	return nil
}

func isDefault(r netlink.Route) bool {
	if r.Dst == nil {
		return true
	}
	ones, _ := r.Dst.Mask.Size()
	return ones == 0
}

// otherWay tells whether the machine's own network would ask to by another way than the probed settings will: before
// they are applied, an answer would say nothing about them.
func (f *family) otherWay(to netip.Addr) bool {
	routes, err := netlink.RouteGetWithOptions(to.AsSlice(), &netlink.RouteGetOptions{SrcAddr: f.address.Addr().AsSlice()})
	if err != nil || len(routes) == 0 {
		return true // no way at all is another way than the one by the typed gateway
	}
	gateway, through := addr(routes[0].Gw)
	if f.address.Contains(to) {
		return through
	}
	return gateway != f.gateway
}

// dialKernel asks through the machine's own network, from an address that it has.
func dialKernel(ctx context.Context, network string, from netip.Addr, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}}
	if network == "udp" {
		d.LocalAddr = &net.UDPAddr{IP: from.AsSlice()}
	}
	c, err := d.DialContext(ctx, network, to.String())
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", to, err)
	}
	return c, nil
}
