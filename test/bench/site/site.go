// Package site is the network that a node finds at the end of its cable: a LAN in network namespaces with DHCP, DNS,
// NTP and a gateway, and a registry behind it. Each of them is real, and each can be silent, slow or a liar.
package site

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"touchdown/test/wait"
)

// Options say what site to build; the zero value is the factory's network on its own switch.
type Options struct {
	LAN     string  // path of a network namespace that has the bridge "lan"; default: a new one
	Network Network // default: Factory()
}

// Site is a LAN with what is on it. Namespaces: the switch, the gateway, the servers on the LAN, the world behind the
// gateway, and the laptop of someone on the LAN who looks at the node.
type Site struct {
	Gateway  *Gateway
	DHCP4    *DHCP4
	DHCP6    *DHCP6  // off until it is switched on
	RA       *Router // off until it is switched on
	DNS      *DNS    // every DNS server of the network, and the one in the world
	NTP      *NTP    // the NTP servers of the network
	WorldNTP *NTP    // the public one
	Registry *Registry
	Proxy    *Proxy // off until it is switched on
	LLDP     *LLDP  // says nothing until it is told what

	lan, gateway, servers, world, client *Namespace

	closed  sync.Once
	mu      sync.Mutex
	network Network
	ports   int
	hosts   []*Host
}

// serverName is the interface by which each of the site's own machines is on the LAN.
const serverName = "eth0"

// New builds a site for a test and takes it away with the test. Where namespaces are not permitted it skips the test,
// in CI it fails it.
func New(t testing.TB, o Options) *Site {
	t.Helper()
	s, err := Launch(o)
	if errors.Is(err, ErrNotPermitted) {
		wait.Unable(t, "%v", err)
	}
	if err != nil {
		t.Fatalf("building the site: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// Launch builds a site. It ends with Close, or when this process does.
func Launch(o Options) (*Site, error) {
	if !o.Network.Prefix4.IsValid() && !o.Network.Prefix6.IsValid() {
		o.Network = Factory()
	}
	s := &Site{}
	if err := s.build(o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Site) build(o Options) error {
	var err error
	if o.LAN != "" {
		s.lan, err = OpenNamespace(o.LAN)
	} else {
		s.lan, err = NewNamespace()
	}
	if err != nil {
		return err
	}
	if err := s.lan.bridge(); err != nil {
		return err
	}
	for _, n := range []**Namespace{&s.gateway, &s.servers, &s.world, &s.client} {
		if *n, err = newServer(); err != nil {
			return err
		}
	}
	if err := s.cables(); err != nil {
		return err
	}
	if err := s.services(); err != nil {
		return err
	}
	return s.Switch(o.Network)
}

// newServer makes the namespace of one of the site's own machines. It has the addresses that it is given, at once.
func newServer() (*Namespace, error) {
	n, err := NewNamespace()
	if err != nil {
		return nil, err
	}
	return n, n.sysctls(map[string]string{
		"ipv6/conf/default/accept_dad":   "0",
		"ipv6/conf/default/accept_ra":    "0",
		"ipv6/conf/default/disable_ipv6": "0",
		"ipv4/conf/all/rp_filter":        "0",
		"ipv4/conf/default/rp_filter":    "0",
		"ipv4/conf/all/arp_ignore":       "1",
	})
}

func (s *Site) cables() error {
	cable, err := s.plug(s.gateway, serverName)
	if err != nil {
		return err
	}
	s.Gateway = &Gateway{in: s.gateway, cable: cable}
	for _, n := range []*Namespace{s.servers, s.client} {
		if _, err := s.plug(n, serverName); err != nil {
			return err
		}
	}
	if err := s.client.fastNeighbours(serverName); err != nil {
		return err
	}
	if err := s.gateway.wire("wan0", s.world, serverName); err != nil {
		return err
	}
	up := s.gateway.address("wan0", netip.PrefixFrom(worldGateway4, world4.Bits()), netip.PrefixFrom(worldGateway6, world6.Bits()))
	world := []netip.Prefix{}
	for _, a := range []netip.Addr{Registry4, NTP4, DNS4} {
		world = append(world, netip.PrefixFrom(a, world4.Bits()))
	}
	for _, a := range []netip.Addr{Registry6, NTP6} {
		world = append(world, netip.PrefixFrom(a, world6.Bits()))
	}
	return errors.Join(up, s.world.address(serverName, world...), s.world.defaultRoutes(worldGateway4, worldGateway6), s.Gateway.Set(Forwards))
}

func (s *Site) services() error {
	var err error
	if s.Registry, err = newRegistry(); err != nil {
		return err
	}
	s.DHCP4, s.DHCP6, s.RA = &DHCP4{}, &DHCP6{}, &Router{}
	s.DNS, s.NTP, s.WorldNTP = &DNS{}, &NTP{}, &NTP{}
	s.Proxy, s.LLDP = &Proxy{}, &LLDP{lan: s.lan}
	s.DHCP6.Off()
	s.RA.Off()
	s.Proxy.Off()
	if err := s.WorldNTP.listen(s.world, NTP4, NTP6); err != nil {
		return err
	}
	return s.Registry.listen(s.world)
}

// Network is the subnet that the LAN has now.
func (s *Site) Network() Network {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.network
}

// Switch makes the LAN another subnet, as when the cable is moved to another switch: every machine on it has other
// addresses, leases are forgotten, faults stay as they are set.
func (s *Site) Switch(n Network) error {
	s.stop()
	s.mu.Lock()
	s.network = n
	s.mu.Unlock()
	if err := s.renumber(n); err != nil {
		return fmt.Errorf("moving the LAN to %s: %w", n.Name, err)
	}
	s.DNS.serve(n)
	errs := []error{
		s.DHCP4.listen(s.servers, n), s.DHCP6.listen(s.servers, n), s.RA.listen(s.gateway, n),
		s.Proxy.listen(s.servers, n, s.DNS),
	}
	resolvers := both(n.DNS4, n.DNS6)
	if !slices.Contains(resolvers, DNS4) {
		resolvers = append(resolvers, DNS4)
	}
	for _, a := range resolvers {
		errs = append(errs, s.DNS.listen(s.place(a), a))
	}
	for _, a := range both(n.NTP4, n.NTP6) {
		if in := s.place(a); in != s.world {
			errs = append(errs, s.NTP.listen(in, a))
		}
	}
	return errors.Join(errs...)
}

func (s *Site) renumber(n Network) error {
	gateway := []netip.Prefix{netip.MustParsePrefix("fe80::1/64")}
	for _, a := range both([]netip.Addr{n.Gateway4, n.Gateway6}) {
		gateway = append(gateway, n.prefixed(a))
	}
	servers, seen := []netip.Prefix{}, map[netip.Addr]bool{}
	for _, a := range both([]netip.Addr{n.dhcp4()}, n.DNS4, n.NTP4, n.DNS6, n.NTP6) {
		if s.place(a) == s.servers && !seen[a] {
			seen[a] = true
			servers = append(servers, n.prefixed(a))
		}
	}
	client := []netip.Prefix{}
	for _, a := range both([]netip.Addr{n.Client4(), n.Client6()}) {
		client = append(client, n.prefixed(a))
	}
	return errors.Join(
		s.gateway.address(serverName, gateway...),
		s.servers.address(serverName, servers...), s.servers.defaultRoutes(n.Gateway4, n.Gateway6),
		s.client.address(serverName, client...), s.client.defaultRoutes(n.Gateway4, n.Gateway6),
	)
}

// place is the machine that has an address.
func (s *Site) place(a netip.Addr) *Namespace {
	switch {
	case s.network.isGateway(a):
		return s.gateway
	case s.network.onLink(a):
		return s.servers
	}
	return s.world
}

// stop ends what listens on addresses of the LAN.
func (s *Site) stop() {
	s.DHCP4.close()
	s.DHCP6.close()
	s.RA.close()
	s.DNS.close()
	s.NTP.close()
	s.Proxy.close()
}

// Close takes the site away. It may be called again.
func (s *Site) Close() { s.closed.Do(s.remove) }

func (s *Site) remove() {
	if s.Proxy != nil {
		s.LLDP.Off()
		s.stop()
		s.WorldNTP.close()
		s.Registry.close()
	}
	s.mu.Lock()
	hosts := s.hosts
	s.mu.Unlock()
	for _, h := range hosts {
		h.Remove()
	}
	if s.lan != nil {
		s.lan.unplugAll(s.ports)
	}
	for _, n := range []*Namespace{s.client, s.world, s.servers, s.gateway, s.lan} {
		if n != nil {
			n.Close()
		}
	}
}
