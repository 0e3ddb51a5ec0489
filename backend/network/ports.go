package network

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Port is one physical port of the machine.
type Port struct {
	Name      string
	MAC       string // permanent, lower case: what is on the sticker
	Driver    string
	Bus       string // PCI address or the like
	Mbps      int    // 0 without a link, or unknown
	Carrier   bool   // the cable is in and the other side alive
	Up        bool   // switched on; one that is off cannot tell its carrier
	Uplink    bool   // br-ex stands on it, directly or over a bond or VLAN
	Neighbour Neighbour
	Listened  time.Duration // how long its neighbour has been listened to; 0: not yet
}

// Neighbour is the switch at the other end of the cable, as it announces itself by LLDP (IEEE 802.1AB, every 30 s).
type Neighbour struct {
	System      string // its name
	Port        string // what it calls the port
	Description string // what else it calls the port, where it is not by the name of an interface alone: the text beside a number, or the address beside a text. "": none
	VLAN        int    // of untagged frames on that port; 0: not told
	Frame       int    // the largest frame that it takes, in bytes; 0: not told
}

// Label tells a port in words that fit on a line: "enp1s0, 10 Gbit/s, link up, in use, switch sw-7 port Gi1/0/4".
func (p Port) Label() message.Text {
	words := []message.Text{message.Data(p.Name)}
	if p.Mbps > 0 {
		words = append(words, message.Data(speed(p.Mbps)))
	}
	switch {
	case p.Carrier:
		words = append(words, message.T("link up"))
	case p.Up:
		words = append(words, message.T("no cable"))
	default:
		words = append(words, message.T("switched off"))
	}
	if p.Uplink {
		words = append(words, message.T("in use"))
	}
	switch system, port := short(p.Neighbour.System), short(p.Neighbour.Port); {
	case system != "" && port != "":
		words = append(words, message.F("switch %s port %s", system, port))
	case system != "":
		words = append(words, message.F("switch %s", system))
	case port != "":
		words = append(words, message.F("switch port %s", port))
	}
	if p.MAC != "" {
		words = append(words, message.Data("MAC "+p.MAC))
	}
	return message.Join(words, ", ")
}

// short keeps of a switch's name what a line has room for.
func short(name string) string { return name[:min(len(name), 64)] }

func speed(mbps int) string {
	if mbps >= 1000 {
		return strconv.FormatFloat(float64(mbps)/1000, 'f', -1, 64) + " Gbit/s"
	}
	return strconv.Itoa(mbps) + " Mbit/s"
}

// Ports lists the physical ports by name. From the first call on it listens for LLDP in the background; neighbours appear
// in later calls.
func (n *Network) Ports(ctx context.Context) ([]Port, error) {
	if n.host.Root() != "" {
		return nil, nil // a machine that is only a directory
	}
	links, err := netlink.LinkList()
	if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
		return nil, fmt.Errorf("listing the ports: %w", err)
	}
	machine := sockets{n.host}
	uplinks := machine.uplinks(ctx, links)
	var ports []Port
	for _, l := range links {
		if !machine.socket(l) {
			continue
		}
		p := machine.look(l)
		p.Uplink = slices.Contains(uplinks, p.Name)
		ports = append(ports, p)
	}
	slices.SortFunc(ports, func(a, b Port) int { return strings.Compare(a.Name, b.Name) })
	n.lldp.watch(ports)
	for i := range ports {
		ports[i].Neighbour, ports[i].Listened = n.lldp.heard(ports[i].Name)
	}
	return ports, nil
}

// sockets are the ports of a machine as its kernel shows them.
type sockets struct{ host *host.Machine }

// socket tells a port with a socket from one made of software. A veth is the port of a container or a test machine: it
// counts where the machine has it as its own (its other end is elsewhere) and names it like a PCI port.
func (s sockets) socket(l netlink.Link) bool {
	if l.Attrs().EncapType != "ether" {
		return false
	}
	if s.host.Exists("/sys/class/net/" + l.Attrs().Name + "/device") {
		return true
	}
	return l.Type() == "veth" && strings.HasPrefix(l.Attrs().Name, "en")
}

func (s sockets) look(l netlink.Link) Port {
	a := l.Attrs()
	p := Port{Name: a.Name, MAC: a.PermHWAddr.String(), Up: a.Flags&unix.IFF_UP != 0, Carrier: a.RawFlags&unix.IFF_LOWER_UP != 0}
	if p.MAC == "" {
		p.MAC = a.HardwareAddr.String()
	}
	dir := "/sys/class/net/" + a.Name
	if b, err := s.host.ReadFile(dir + "/speed"); err == nil && p.Carrier {
		if v, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && v > 0 {
			p.Mbps = v
		}
	}
	if driver, err := host.DriverOf(a.Name); err == nil {
		p.Driver, p.Bus = driver.Name, driver.Bus
	}
	if target, err := os.Readlink(s.host.Path(dir + "/device")); err == nil && p.Bus == "" {
		p.Bus = filepath.Base(target)
	}
	return p
}

// uplinks are the ports below br-ex, or without br-ex the one of the default route.
func (s sockets) uplinks(ctx context.Context, links []netlink.Link) []string {
	var tops []string
	// No Open vSwitch, or no br-ex yet: the command says so and there is no uplink of it.
	if out, err := s.host.Run(ctx, "ovs-vsctl", "--timeout=15", "list-ports", Bridge); err == nil {
		for _, name := range strings.Fields(out) {
			if !strings.HasPrefix(name, "patch-") {
				tops = append(tops, name)
			}
		}
	} else if routes, err := netlink.RouteList(nil, netlink.FAMILY_V4); err == nil {
		best := -1
		for _, r := range routes {
			if (r.Dst == nil || r.Dst.IP.IsUnspecified()) && (best < 0 || r.Priority < best) {
				best = r.Priority
				tops = []string{nameOf(links, r.LinkIndex)}
			}
		}
	}
	var ports []string
	for _, top := range tops {
		ports = append(ports, under(links, top)...)
	}
	return ports
}

// under walks from a bond or VLAN down to the ports.
func under(links []netlink.Link, name string) []string {
	i := slices.IndexFunc(links, func(l netlink.Link) bool { return l.Attrs().Name == name })
	if i < 0 {
		return nil
	}
	switch l := links[i]; l.Type() {
	case "vlan":
		return under(links, nameOf(links, l.Attrs().ParentIndex))
	case "bond":
		var ports []string
		for _, p := range links {
			if p.Attrs().MasterIndex == l.Attrs().Index {
				ports = append(ports, p.Attrs().Name)
			}
		}
		return ports
	}
	return []string{name}
}

func nameOf(links []netlink.Link, index int) string {
	i := slices.IndexFunc(links, func(l netlink.Link) bool { return l.Attrs().Index == index })
	if i < 0 {
		return ""
	}
	return links[i].Attrs().Name
}

// Blink lets the LED of a port blink for whole seconds, or until ctx ends. It returns at the end, with a Problem when the
// driver cannot.
func (n *Network) Blink(ctx context.Context, port string, duration time.Duration) error {
	done := make(chan error, 1)
	go func() {
		n.led.Lock()
		defer n.led.Unlock()
		// The kernel blinks a second at a time here, so that someone who tries another port stops it soon.
		for i := 0; i < max(1, int(duration.Seconds())) && ctx.Err() == nil; i++ {
			if err := host.SetPort(port, unix.ETHTOOL_PHYS_ID, 1); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		return nil
	}
	if errors.Is(err, unix.EBUSY) {
		return &problem.Problem{
			Code: "NET-LED", Summary: message.T("Someone else is making an LED of this machine blink."), Fix: message.T("Try again in a moment."), Err: err,
		}
	}
	if err != nil {
		return &problem.Problem{
			Code: "NET-LED", Summary: message.F("The driver of %s cannot blink its LED.", port),
			Fix: message.T("Find the port by its MAC on the sticker, or by pulling the cable and watching the list."), Err: err,
		}
	}
	return nil
}
