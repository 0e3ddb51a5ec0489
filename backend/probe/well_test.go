package probe_test

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/probe"
	"touchdown/test/bench/site"
	"touchdown/test/race"
)

func TestAllIsWell(t *testing.T) {
	t.Parallel()
	for name, typed := range map[string]func(h *host, target *probe.Target){
		"static":     func(*host, *probe.Target) {},
		"dual stack": (*host).dual,
		"IPv6 alone": func(h *host, target *probe.Target) {
			h.dual(target)
			target.IPv4, target.DNS, target.NTP = probe.Settings{}, h.net.DNS6, []string{h.net.NTP6[0].String()}
		},
		"IPv6 gateway by its link-local address": func(h *host, target *probe.Target) {
			h.dual(target)
			h.sysctl("ipv6/conf/"+site.HostInterface+"/disable_ipv6", "1")
			target.IPv6.Gateway = netip.MustParseAddr("fe80::1")
		},
		"names for NTP": func(_ *host, target *probe.Target) { target.NTP = []string{site.NTPName} },
		"proxy": func(h *host, target *probe.Target) {
			h.site.Proxy.On()
			target.Proxy.HTTPS = "http://user:s3cret@" + h.net.Proxy().String()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := atSite(t)
			target := h.target()
			typed(h, &target)
			got := h.probeAs(target, func(o outcome) bool { return len(o.spoilt()) == 0 })
			got.good(t)
			got.wellFormed(t)
			if got.Result.OffsetOK == false || got.Result.Offset.Abs() > time.Second {
				t.Errorf("offset %s, known %t", got.Result.Offset, got.Result.OffsetOK)
			}
		})
	}
}

func TestOffersAreTriedOutAndNotTaken(t *testing.T) {
	t.Parallel()
	t.Run("DHCP", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		target := h.target()
		h.dhcp(&target)
		got := h.obey(order{Target: target, Times: 2}) // the same address again: nobody holds it
		got.good(t)
		got.want(t, "net-dhcp pass Offered: 198.51.100.10/24", "net-dns-1 pass", "net-ntp-1 pass")
		if o := got.Result.IPv4; o.Address.Addr() != h.net.Node4 || o.Gateway != h.net.Gateway4 || len(o.DNS) != 1 || len(o.NTP) != 1 || o.Lease == 0 {
			t.Errorf("offer %+v", o)
		}
	})
	t.Run("in a network of the cluster", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		target := h.target()
		h.dhcp(&target)
		target.Inside = []probe.Inside{{Whose: message.T("the cluster's"), Prefix: netip.MustParsePrefix("198.51.96.0/20")}}
		got := h.probe(target)
		got.want(t, "net-dhcp fail overlaps the cluster's network 198.51.96.0/20", "net-dns-1 fail it is in the cluster's network")
	})
	t.Run("announced in a network of the cluster", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		h.advertise(nil)
		target := h.target()
		h.autoconf(&target)
		target.Inside = []probe.Inside{{Whose: message.T("the services'"), Prefix: h.net.Prefix6}}
		got := h.probe(target)
		got.want(t, "net-router-ipv6 fail overlaps the services' network")
	})
	t.Run("autoconf", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		h.advertise(nil)
		target := h.target()
		h.autoconf(&target)
		target.External = []netip.Addr{h.net.Node6}
		got := h.probe(target)
		got.good(t, "net-ntp-1", "net-ptr-ipv6") // routers do not tell time servers; nobody names an address that a card made
		if a := got.Result.IPv6.Address; !h.net.Prefix6.Contains(a.Addr()) {
			t.Errorf("tried out with %s", a)
		}
	})
	t.Run("DHCPv6", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		h.advertise(site.Managed)
		h.site.DHCP6.On()
		target := h.target()
		h.autoconf(&target)
		target.IPv6.Method = probe.DHCP
		got := h.probe(target)
		got.good(t)
		got.want(t, "net-dhcp-ipv6 pass "+h.net.Node6.String())
	})
}

// configure gives the host the node's settings, as if they were applied.
func (h *host) configure(gateway string, lifetime int) {
	h.set(func(l netlink.Link) error {
		a := &netlink.Addr{IPNet: &net.IPNet{IP: h.net.Node4.AsSlice(), Mask: net.CIDRMask(24, 32)}, ValidLft: lifetime, PreferedLft: lifetime}
		if err := netlink.AddrReplace(l, a); err != nil {
			return err
		}
		return netlink.RouteReplace(&netlink.Route{LinkIndex: l.Attrs().Index, Gw: net.ParseIP(gateway)})
	})
	// What the machine's own network asks, it notes; the probe's own does not.
	h.busy = true
}

func TestAnAddressThatTheMachineHasAlready(t *testing.T) {
	t.Parallel()
	t.Run("and the way that was typed", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		h.configure("198.51.100.1", 0)
		got := h.probe(h.target())
		got.good(t)
		got.want(t, "net-duplicate pass This machine has 198.51.100.10 already")
		if e := strings.Join(message.English(got.check("net-registry").Evidence), "\n"); !strings.Contains(e, "machine's own network") {
			t.Errorf("asked otherwise:\n%s", e)
		}
	})
	t.Run("and another way", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		h.configure("198.51.100.99", 0)
		h.probe(h.target()).want(t, "net-gateway pass", "net-dns-1 pass", "net-registry skip after applying")
	})
	t.Run("and someone else too", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		h.configure("198.51.100.1", 0)
		h.addHost(h.net.Node4)
		h.probe(h.target()).want(t, "net-duplicate fail Another machine")
	})
}

// TestANodeThatForwards has the kernel of an OpenShift node, which forwards what is not for itself, and the factory's
// settings on the port: what comes for the probed address is nothing to it.
func TestANodeThatForwards(t *testing.T) {
	t.Parallel()
	for name, now := range map[string]string{"another network": "192.0.2.10/24", "the same network": "198.51.100.20/24"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := atSite(t)
			at := netip.MustParsePrefix(now)
			h.sysctl("ipv4/ip_forward", "1")
			h.set(func(l netlink.Link) error {
				if err := netlink.AddrReplace(l, &netlink.Addr{IPNet: &net.IPNet{IP: at.Addr().AsSlice(), Mask: net.CIDRMask(at.Bits(), 32)}}); err != nil {
					return err
				}
				return netlink.RouteReplace(&netlink.Route{LinkIndex: l.Attrs().Index, Gw: at.Masked().Addr().Next().AsSlice()})
			})
			h.busy = true // its kernel looks for the neighbour to whom it would forward
			got := h.obey(order{Target: h.target(), Times: 3})
			got.good(t)
		})
	}
}

// TestAPortThatABridgeHas is how the port of an OpenShift node is: br-ex takes its frames and has its MAC and the addresses.
func TestAPortThatABridgeHas(t *testing.T) {
	t.Parallel()
	h := atSite(t)
	h.busy = true
	h.sysctl("ipv6/conf/default/disable_ipv6", "1")
	h.set(func(port netlink.Link) error {
		bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "br-ex", HardwareAddr: port.Attrs().HardwareAddr}}
		factory := &net.IPNet{IP: net.IPv4(192, 0, 2, 10), Mask: net.CIDRMask(24, 32)}
		return errors.Join(netlink.LinkAdd(bridge), netlink.LinkSetMaster(port, bridge), netlink.LinkSetUp(bridge),
			netlink.AddrAdd(bridge, &netlink.Addr{IPNet: factory}))
	})
	h.shows("mtu 1500 flags 0x11043 promiscuous 0") // br-ex is up
	before := h.probe(h.target())
	before.good(t)
	before.want(t, "net-duplicate pass No other machine")
	h.set(func(netlink.Link) error {
		bridge, err := netlink.LinkByName("br-ex")
		if err != nil {
			return err
		}
		site := &net.IPNet{IP: h.net.Node4.AsSlice(), Mask: net.CIDRMask(24, 32)}
		return errors.Join(netlink.AddrAdd(bridge, &netlink.Addr{IPNet: site}),
			netlink.RouteAdd(&netlink.Route{LinkIndex: bridge.Attrs().Index, Gw: h.net.Gateway4.AsSlice()}))
	})
	target := h.target()
	target.Interface = "br-ex"
	after := h.obey(order{Target: target, After: true})
	after.good(t)
	after.want(t, "net-address pass br-ex has 198.51.100.10/24")
}

func TestAfterApplying(t *testing.T) {
	t.Parallel()
	after := func(h *host, change func(*probe.Target)) outcome {
		target := h.target()
		target.Interface = site.HostInterface
		change(&target)
		return h.obey(order{Target: target, After: true})
	}
	t.Run("static", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		h.configure("198.51.100.1", 0)
		got := after(h, func(*probe.Target) {})
		got.good(t)
		got.want(t, "net-address pass 198.51.100.10/24")
	})
	t.Run("DHCP", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		h.configure("198.51.100.1", 3600)
		got := after(h, func(target *probe.Target) { target.IPv4 = probe.Settings{Method: probe.DHCP} })
		got.good(t)
		got.want(t, "net-dhcp pass 198.51.100.10/24", "net-gateway pass 198.51.100.1")
	})
	t.Run("no address came", func(t *testing.T) {
		t.Parallel()
		got := after(atSite(t), func(target *probe.Target) { target.IPv4 = probe.Settings{Method: probe.DHCP} })
		got.want(t, "net-dhcp fail", "net-gateway skip", "net-dns-1 skip")
	})
	t.Run("port switched off", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		h.set(netlink.LinkSetDown)
		h.rest(site.HostInterface)
		after(h, func(*probe.Target) {}).want(t, "net-carrier fail switched off", "net-gateway skip")
	})
	t.Run("gateway went away", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		h.configure("198.51.100.1", 0)
		h.must(h.site.Gateway.Set(site.Dead))
		after(h, func(*probe.Target) {}).want(t, "net-gateway fail", "net-dns-1 pass", "net-registry skip")
	})
	t.Run("DNS silent", func(t *testing.T) {
		t.Parallel()
		h := atSite(t)
		h.configure("198.51.100.1", 0)
		h.site.DNS.Off()
		after(h, func(*probe.Target) {}).want(t, "net-gateway pass", "net-dns-1 fail", "net-registry warn")
	})
}

func TestCutShort(t *testing.T) {
	t.Parallel()
	h := atSite(t)
	h.site.DNS.Off()
	got := h.obey(order{Target: h.target(), Cancel: 1500 * time.Millisecond})
	if !strings.Contains(got.Err, "canceled") {
		t.Errorf("error %q", got.Err)
	}
	for _, c := range got.Told {
		if c.Status == check.Fail || c.Status == check.Skip {
			t.Errorf("a probe that was cut short says %s %s: %s", c.ID, c.Status, c.Observed)
		}
	}
	if got.Routines > 2 {
		t.Errorf("%d goroutines are left", got.Routines)
	}
}

func TestManyProbesLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	h := atSite(t)
	got := h.obey(order{Target: h.target(), Times: 8})
	if got.Routines > 2 || got.Peak > peakKiB*race.Memory {
		t.Errorf("%d goroutines left, %d KiB resident at most", got.Routines, got.Peak)
	}
	t.Logf("8 probes: %d KiB resident at most", got.Peak)
}
