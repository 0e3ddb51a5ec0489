package site

import (
	"errors"
	"fmt"
	"net/netip"
)

// Host is one more machine on the LAN.
type Host struct {
	*Namespace
	*Cable

	onRemove func()
	gone     bool
}

// HostInterface is the interface by which a Host is on the LAN.
const HostInterface = "eth0"

// Host plugs a machine with nothing configured into the LAN: a host under test. Its kernel takes part in IPv6 autoconfiguration
// as kernels do.
func (s *Site) Host() (*Host, error) {
	n, err := NewNamespace()
	if err != nil {
		return nil, err
	}
	return s.admit(n)
}

// AddHost plugs a machine into the LAN that owns the addresses: asked by ARP or neighbour discovery, it says so. This
// is the other one of a duplicate address.
func (s *Site) AddHost(addresses ...netip.Addr) (*Host, error) {
	n, err := newServer()
	if err != nil {
		return nil, err
	}
	h, err := s.admit(n)
	if err != nil {
		return nil, err
	}
	network := s.Network()
	own, gateways := []netip.Prefix{}, []netip.Addr{}
	for _, a := range addresses {
		own = append(own, network.prefixed(a))
		gateways = append(gateways, network.gateway(a))
	}
	if err := errors.Join(h.address(HostInterface, own...), h.defaultRoutes(gateways...)); err != nil {
		h.Remove()
		return nil, err
	}
	return h, nil
}

func (s *Site) admit(n *Namespace) (*Host, error) {
	cable, err := s.plug(n, HostInterface)
	if err != nil {
		n.Close()
		return nil, err
	}
	h := &Host{Namespace: n, Cable: cable}
	s.mu.Lock()
	s.hosts = append(s.hosts, h)
	s.mu.Unlock()
	return h, nil
}

// Remove takes the machine and its cable away.
func (h *Host) Remove() {
	if h.gone {
		return
	}
	h.gone = true
	if h.onRemove != nil {
		h.onRemove()
	}
	_ = h.remove() // a port that its host's end took along is gone already
	h.Close()
}

// Attach runs a cable from the LAN's switch to a new interface of a namespace that someone else has.
func (s *Site) Attach(n *Namespace, name string) (*Cable, error) { return s.plug(n, name) }

// plug runs a cable from the next free port of the switch.
func (s *Site) plug(n *Namespace, name string) (*Cable, error) {
	s.mu.Lock()
	s.ports++
	port := portName(s.ports)
	s.mu.Unlock()
	if err := s.lan.wire(port, n, name); err != nil {
		return nil, err
	}
	return &Cable{lan: s.lan, port: port, end: n, name: name}, s.lan.toBridge(port)
}

func portName(i int) string { return fmt.Sprintf("site%d", i) }

func (n *Namespace) toBridge(port string) error {
	bridge, err := n.link.LinkByName(BridgeName)
	if err != nil {
		return fmt.Errorf("looking for the bridge: %w", err)
	}
	link, err := n.link.LinkByName(port)
	if err != nil {
		return fmt.Errorf("looking for the port %s: %w", port, err)
	}
	if err := n.link.LinkSetMaster(link, bridge); err != nil {
		return fmt.Errorf("plugging %s into the bridge: %w", port, err)
	}
	return nil
}

// unplugAll removes the site's ports from a switch that lives on.
func (n *Namespace) unplugAll(ports int) {
	for i := 1; i <= ports; i++ {
		_ = (&Cable{lan: n, port: portName(i)}).remove()
	}
}
