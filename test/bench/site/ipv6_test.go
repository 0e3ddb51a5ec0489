package site

import (
	"slices"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/dhcpv6/nclient6"
	"github.com/mdlayher/ndp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"touchdown/test/wait"
)

// addresses6 are the IPv6 addresses of a host's interface in a scope, those that its kernel has tried out.
func addresses6(t *testing.T, h *Host, scope netlink.Scope) []netlink.Addr {
	t.Helper()
	link, err := h.link.LinkByName(HostInterface)
	must(t, err)
	all, err := h.link.AddrList(link, netlink.FAMILY_V6)
	must(t, err)
	return slices.DeleteFunc(all, func(a netlink.Addr) bool {
		return a.Scope != int(scope) || a.Flags&unix.IFA_F_TENTATIVE != 0 && a.Flags&unix.IFA_F_DADFAILED == 0
	})
}

// has6 waits for them.
func has6(t *testing.T, h *Host, scope netlink.Scope) (all []netlink.Addr) {
	t.Helper()
	wait.Until(t, "an IPv6 address", func() bool {
		all = addresses6(t, h, scope)
		return len(all) > 0
	})
	return all
}

func hasDefaultRoute6(t *testing.T, h *Host) bool {
	t.Helper()
	routes, err := h.link.RouteList(nil, netlink.FAMILY_V6)
	must(t, err)
	return slices.ContainsFunc(routes, func(r netlink.Route) bool { return r.Gw != nil && r.Protocol == unix.RTPROT_RA })
}

func TestAutoconfiguration(t *testing.T) {
	t.Parallel()
	n := Edge()
	s, h := lan(t, n)
	time.Sleep(1200 * time.Millisecond) // nothing comes, longer than the kernel takes to try an address out
	if got := addresses6(t, h, netlink.SCOPE_UNIVERSE); len(got) > 0 {
		t.Fatalf("an address before there are advertisements: %v", got)
	}
	s.RA.On()
	got := has6(t, h, netlink.SCOPE_UNIVERSE)
	if len(got) != 1 || !ipNet(n.Prefix6).Contains(got[0].IP) {
		t.Errorf("the host's kernel made up %v", got)
	}
	if !hasDefaultRoute6(t, h) {
		t.Error("no default route")
	}
}

func TestDHCPv6(t *testing.T) {
	t.Parallel()
	n := Edge()
	s, h := lan(t, n)
	s.RA.Change(Managed)
	s.RA.On()
	s.DHCP6.On()
	client := client6(t, h)
	defer client.Close()
	adv, err := client.Solicit(wait.Within(t, 2*time.Second))
	must(t, err)
	reply, err := client.Request(wait.Within(t, 2*time.Second), adv)
	must(t, err)
	if a := reply.Options.OneIANA().Options.OneAddress().IPv6Addr.String(); a != n.Node6.String() {
		t.Errorf("DHCPv6 gives %s", a)
	}
	if d := reply.Options.DNS(); len(d) != 1 || d[0].String() != n.DNS6[0].String() {
		t.Errorf("DNS: %v", d)
	}
	if option := reply.GetOneOption(dhcpv6.OptionNTPServer); option == nil {
		t.Error("no NTP server")
	}
	s.DHCP6.Off()
	if _, err := client.Solicit(briefly(t)); err == nil {
		t.Error("a silent DHCPv6 answered")
	}
	if got := addresses6(t, h, netlink.SCOPE_UNIVERSE); len(got) > 0 {
		t.Errorf("the kernel made up an address where DHCPv6 is to be asked: %v", got)
	}
}

// client6 waits for the host's link-local address, which its kernel first checks for a second.
func client6(t *testing.T, h *Host) *nclient6.Client {
	t.Helper()
	has6(t, h, netlink.SCOPE_LINK)
	client, err := in(h.Namespace, func() (*nclient6.Client, error) { return nclient6.New(HostInterface) })
	must(t, err)
	return client
}

func TestAdvertisementThatLies(t *testing.T) {
	t.Parallel()
	s, h := lan(t, Edge())
	s.RA.Change(func(ra *ndp.RouterAdvertisement) { ra.RouterLifetime = 0 })
	s.RA.On()
	has6(t, h, netlink.SCOPE_UNIVERSE) // an advertisement came
	if hasDefaultRoute6(t, h) {
		t.Error("a router that is none became the default")
	}
}

// TestDuplicateAddressByTheKernelsOwnCheck has the host's kernel take the IPv6 address of another host with detection on.
func TestDuplicateAddressByTheKernelsOwnCheck(t *testing.T) {
	t.Parallel()
	n := Edge()
	s, h := lan(t, n)
	_, err := s.AddHost(n.Node6)
	must(t, err)
	link, err := h.link.LinkByName(HostInterface)
	must(t, err)
	must(t, h.link.AddrAdd(link, &netlink.Addr{IPNet: ipNet(n.prefixed(n.Node6))}))
	got := has6(t, h, netlink.SCOPE_UNIVERSE)
	if len(got) != 1 || got[0].Flags&unix.IFA_F_DADFAILED == 0 {
		t.Errorf("the duplicate was not found: %v", got)
	}
}
