package probe_test

import (
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mdlayher/ndp"
	"github.com/vishvananda/netlink"

	"touchdown/backend/check"
	"touchdown/backend/probe"
	"touchdown/test/bench/site"
	"touchdown/test/race"
	"touchdown/test/wait"
)

// peakKiB is what the process may have resident. The engine, which does all else as well, may have 48 MiB.
const peakKiB = 24 << 10

// fault is one thing that is wrong at the site or was mistyped, and what the checks say.
type fault struct {
	name string
	site func(h *host)
	typo func(h *host, t *probe.Target)
	want []string
	kept bool // no check fails: the settings may be kept unasked
	luck bool // kept or not: it depends on who comes first
}

func nobody(a string) netip.Addr { return netip.MustParseAddr(a) }

var faults = []fault{
	{
		name: "gateway silent", site: func(h *host) { h.must(h.site.Gateway.Set(site.Dead)) },
		want: []string{"net-gateway fail Nothing answers at 198.51.100.1", "net-dns-1 pass", "net-ntp-1 pass", "net-registry skip behind the gateway", "net-mtu skip"},
	},
	{
		name: "gateway forwards nothing", site: func(h *host) { h.must(h.site.Gateway.Set(site.Blackhole)) }, kept: true,
		want: []string{"net-gateway pass", "net-dns-1 pass", "net-registry warn does not answer", "net-mtu pass"},
	},
	{
		name: "gateway ignores ping", site: func(h *host) { h.must(h.site.Gateway.Set(site.IgnorePing)) }, kept: true,
		want: []string{"net-gateway pass", "net-mtu skip", "net-registry pass"},
	},
	{
		name: "no gateway typed", typo: func(_ *host, t *probe.Target) { t.IPv4.Gateway = netip.Addr{} }, kept: true,
		want: []string{"net-gateway warn a machine answers at 198.51.100.1", "net-dns-1 pass", "net-registry warn another network"},
	},
	{
		name: "DNS lies", site: func(h *host) { h.site.DNS.Set(site.Lies) }, kept: true,
		want: []string{
			"net-dns-1 warn instead of 198.51.100.10", "net-registry warn", "net-api-int skip which is not this node",
			"net-ptr skip calls 198.51.100.10 by the name api.sno.site.example, which does not lead back",
		},
	},
	{
		name: "DNS knows nothing", site: func(h *host) { h.site.DNS.Set(site.NXDomain) }, kept: true,
		want: []string{
			"net-dns-1 warn does not know api.sno.site.example yet", "net-registry warn address of registry.example.net",
			"net-api-int skip Absent, not needed", "net-ptr skip Absent, not needed",
		},
	},
	{
		name: "DNS has no record of ours yet", kept: true,
		site: func(h *host) {
			h.site.DNS.Record("api." + h.net.Domain)
			h.site.DNS.Record("*.apps." + h.net.Domain)
		},
		want: []string{"net-dns-1 warn *.apps.sno.site.example yet", "net-registry pass"},
	},
	{
		name: "DNS refuses", site: func(h *host) { h.site.DNS.Set(site.Refuses) },
		want: []string{"net-dns-1 fail refuses", "net-ntp-1 pass", "net-registry warn could not be found"},
	},
	{
		name: "DNS slow", site: func(h *host) { h.site.DNS.Slow(1200 * time.Millisecond) }, kept: true,
		want: []string{"net-dns-1 warn slow", "net-registry pass"},
	},
	{
		name: "DNS silent", site: func(h *host) { h.site.DNS.Off() },
		want: []string{"net-dns-1 fail does not answer", "net-ptr skip no DNS server answers", "net-registry warn could not be found"},
	},
	{
		name: "one DNS server of two silent", typo: func(_ *host, t *probe.Target) { t.DNS = append(t.DNS, nobody("198.51.100.77")) }, kept: true,
		want: []string{"net-dns-1 pass", "net-dns-2 warn No machine on this network has the address 198.51.100.77", "net-registry pass"},
	},
	{
		name: "no DNS server there", typo: func(h *host, t *probe.Target) { t.DNS = h.net.NTP4 },
		want: []string{"net-dns-1 fail not a DNS server"},
	},
	{
		name: "no DNS server typed", typo: func(_ *host, t *probe.Target) { t.DNS = nil }, kept: true,
		want: []string{"net-dns-1 skip Absent, not needed", "net-api-int skip Absent, not needed", "net-ptr skip Absent, not needed"},
	},
	{
		name: "DNS knows api-int, too", site: func(h *host) { h.site.DNS.Record("api-int."+h.net.Domain, h.net.Node4) }, kept: true,
		want: []string{"net-dns-1 pass", "net-api-int pass leads to this node", "net-ptr pass leads back to it"},
	},
	{
		name: "DNS server of the other family", typo: func(h *host, t *probe.Target) { t.DNS = h.net.DNS6 },
		want: []string{"net-dns-1 fail IPv4 or IPv6"},
	},
	{
		name: "prefix too short", typo: func(h *host, t *probe.Target) {
			t.IPv4.Address = netip.PrefixFrom(h.net.Node4, 8)
			t.DNS = []netip.Addr{nobody("198.51.101.53")}
		},
		want: []string{"net-gateway pass", "net-dns-1 fail No machine on this network"},
	},
	{
		name: "address of another network", typo: func(_ *host, t *probe.Target) {
			t.IPv4.Address, t.IPv4.Gateway = netip.MustParsePrefix("192.0.2.10/24"), nobody("192.0.2.1")
		},
		want: []string{"net-duplicate pass", "net-gateway fail Nothing answers at 192.0.2.1", "net-dns-1 skip", "net-ntp-1 skip", "net-registry skip"},
	},
	{
		name: "VLAN that the site does not have", typo: func(_ *host, t *probe.Target) { t.VLAN = 77 },
		want: []string{"net-carrier pass", "net-gateway fail Nothing answers", "net-registry warn"},
	},
	{
		name: "NTP off by 3 days", site: func(h *host) { h.site.NTP.Offset(-3 * 24 * time.Hour) }, kept: true,
		// By that time, the registry's certificate, a month old and valid for a day, still counts.
		want: []string{"net-ntp-1 warn differ by 3 days", "net-registry pass"},
	},
	{
		name: "NTP silent", site: func(h *host) { h.site.NTP.Off() }, kept: true,
		want: []string{"net-ntp-1 warn does not answer", "net-registry pass"},
	},
	{
		name: "NTP does not know the time itself", site: func(h *host) { h.site.NTP.Set(site.Unsynchronised) }, kept: true,
		want: []string{"net-ntp-1 warn It answers, but reports that it is unsynchronised"},
	},
	{
		name: "NTP servers contradict each other", kept: true,
		site: func(h *host) { h.site.WorldNTP.Offset(time.Hour) },
		typo: func(_ *host, t *probe.Target) { t.NTP = append(t.NTP, site.NTPName) },
		want: []string{"net-ntp-1 warn contradict", "net-ntp-2 warn contradict"},
	},
	{
		name: "no NTP server", typo: func(_ *host, t *probe.Target) { t.NTP = nil }, kept: true,
		want: []string{"net-ntp-1 skip"},
	},
	{
		name: "registry with another name", site: func(h *host) { h.site.Registry.Set(site.WrongName) }, kept: true,
		want: []string{"net-registry warn other.example.net"},
	},
	{
		name: "registry of an unknown CA", site: func(h *host) { h.site.Registry.Set(site.UnknownCA) }, kept: true,
		want: []string{`net-registry warn signed by "someone's CA"`},
	},
	{
		name: "registry expired", site: func(h *host) { h.site.Registry.Set(site.ExpiredCert) }, kept: true,
		want: []string{"net-registry warn valid from"},
	},
	{
		name: "registry silent", site: func(h *host) { h.site.Registry.Off() }, kept: true,
		want: []string{"net-registry warn then says nothing"},
	},
	{
		name: "registry refuses", typo: func(_ *host, t *probe.Target) { t.Registry = site.RegistryName + ":444" }, kept: true,
		want: []string{"net-registry warn refuses the connection"},
	},
	{
		name: "registry speaks no TLS", kept: true, site: func(h *host) { h.site.Proxy.On() },
		typo: func(h *host, t *probe.Target) { t.Registry = h.net.Proxy().String() },
		want: []string{"net-registry warn no TLS at this port"},
	},
	{
		name: "no registry", typo: func(_ *host, t *probe.Target) { t.Registry = "" }, kept: true,
		want: []string{"net-registry skip Absent, not needed"},
	},
	{
		name: "duplicate address", site: func(h *host) { h.addHost(h.net.Node4) },
		want: []string{"net-duplicate fail Another machine has", "net-gateway skip", "net-dns-1 skip", "net-ntp-1 skip", "net-registry skip"},
	},
	{
		name: "duplicate IPv6 address", site: func(h *host) { h.addHost(h.net.Node6) }, typo: (*host).dual,
		want: []string{"net-duplicate-ipv6 fail Another machine has", "net-gateway-ipv6 skip", "net-duplicate pass", "net-gateway pass"},
	},
	{
		name: "IPv6 gateway silent", typo: func(h *host, t *probe.Target) {
			h.dual(t)
			t.IPv6.Gateway = nobody("2001:db8:51::ffff")
		},
		want: []string{"net-gateway-ipv6 fail Nothing answers at", "net-gateway pass"},
	},
	{
		name: "no DHCP", site: func(h *host) { h.site.DHCP4.Off() }, typo: (*host).dhcp,
		want: []string{"net-dhcp fail No DHCP server", "net-duplicate skip", "net-gateway skip", "net-dns-1 skip", "net-registry skip"},
	},
	{
		name: "two DHCP servers", typo: (*host).dhcp, luck: true,
		site: func(h *host) {
			_, _, err := h.site.AddDHCP4(func(o *site.Offer) {
				o.Address, o.Gateway = netip.MustParsePrefix("192.0.2.77/24"), nobody("192.0.2.1")
			})
			h.must(err)
		},
		want: []string{"net-dhcp warn contradict each other"},
	},
	{
		name: "no router", typo: (*host).autoconf,
		want: []string{"net-router-ipv6 fail No IPv6 router", "net-gateway-ipv6 skip", "net-dns-1 skip"},
	},
	{
		name: "a router that gives no addresses", typo: (*host).autoconf,
		site: func(h *host) { h.advertise(site.Managed) },
		want: []string{"net-router-ipv6 fail offers no addresses"},
	},
	{
		name: "unplugged", site: func(h *host) { h.must(h.Unplug()); h.rest(site.HostInterface) },
		want: []string{"net-carrier fail eth0 has no link", "net-duplicate skip there is no link", "net-gateway skip", "net-dns-1 skip", "net-ntp-1 skip", "net-registry skip"},
	},
	{
		name: "one port of a bond without a cable", kept: true,
		site: func(h *host) {
			cable, err := h.site.Attach(h.Namespace, "eth1")
			h.must(err)
			h.sysctl("ipv6/conf/eth1/disable_ipv6", "1") // else the kernel adds a route some time later
			h.must(cable.Unplug())
			h.set(func(netlink.Link) error {
				second, err := netlink.LinkByName("eth1")
				if err != nil {
					return err
				}
				return netlink.LinkSetUp(second)
			})
			h.rest("eth1")
		},
		typo: func(_ *host, t *probe.Target) { t.Ports = []string{"eth1", site.HostInterface} },
		want: []string{"net-carrier warn eth1 has no link", "net-duplicate pass", "net-gateway pass", "net-dns-1 pass", "net-registry pass"},
	},
	{
		name: "no port", typo: func(_ *host, t *probe.Target) { t.Ports = nil },
		want: []string{"net-carrier fail No port was chosen", "net-gateway skip"},
	},
	{
		name: "no such port", typo: func(_ *host, t *probe.Target) { t.Ports = []string{"eth9"} },
		want: []string{"net-carrier fail eth9 does not exist", "net-gateway skip"},
	},
	{
		name: "port switched off", kept: true,
		site: func(h *host) { h.set(netlink.LinkSetDown); h.rest(site.HostInterface) },
		want: []string{"net-carrier warn switched off", "net-gateway skip switched off"},
	},
	{
		name: "large packets lost", kept: true,
		site: func(h *host) { h.set(func(l netlink.Link) error { return netlink.LinkSetMTU(l, 9000) }) },
		want: []string{"net-mtu warn not one of 9000 bytes", "net-registry pass"},
	},
	{
		name: "larger packets than the port is set to", typo: func(_ *host, t *probe.Target) { t.MTU = 9000 }, kept: true,
		want: []string{"net-mtu skip after applying"},
	},
	{
		name: "proxy that does not run", kept: true,
		typo: func(h *host, t *probe.Target) { t.Proxy.HTTPS = "http://user:s3cret@" + h.net.Proxy().String() },
		want: []string{"net-registry warn"},
	},
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			h := atSite(t)
			target := h.target()
			if f.site != nil {
				f.site(h)
			}
			if f.typo != nil {
				f.typo(h, &target)
			}
			got := h.probeAs(target, func(o outcome) bool { return len(o.lacks(f.want...)) == 0 })
			got.want(t, f.want...)
			if kept := check.Worst(got.Result.Checks) != check.Fail; kept != f.kept && !f.luck {
				t.Errorf("kept unasked: %t, want %t\n%s", kept, f.kept, got.table())
			}
			if got.Took > time.Minute {
				t.Errorf("the probe took %s", got.Took)
			}
			got.wellFormed(t)
		})
	}
}

// wellFormed holds every run to what screens rely on: each check once, told and returned alike, secrets in none.
func (o outcome) wellFormed(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range o.Result.Checks {
		if seen[c.ID] || c.Title.String() == "" || c.Observed.String() == "" {
			t.Errorf("%+v twice, or without words", c)
		}
		seen[c.ID] = true
		if !slices.ContainsFunc(o.Told, func(told check.Check) bool { return told.ID == c.ID && told.Observed == c.Observed }) {
			t.Errorf("%s was not told", c.ID)
		}
	}
	if len(o.Told) != len(o.Result.Checks) {
		t.Errorf("%d told, %d returned", len(o.Told), len(o.Result.Checks))
	}
	if strings.Contains(o.table(), "s3cret") {
		t.Errorf("the proxy's password is shown:\n%s", o.table())
	}
	if o.Routines > 2 {
		t.Errorf("%d goroutines are left", o.Routines)
	}
	if o.Peak > peakKiB*race.Memory {
		t.Errorf("%d KiB resident", o.Peak)
	}
}

func (h *host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// rest waits until the kernel has seen that a port has no link, and has drawn its conclusions: nothing changes any more.
func (h *host) rest(port string) {
	h.t.Helper()
	wait.Until(h.t, port+" to be without a link", func() (without bool) {
		h.must(h.Do(func() error {
			l, err := netlink.LinkByName(port)
			without = err == nil && l.Attrs().OperState != netlink.OperUp
			return err
		}))
		return without
	})
	for before := ""; before != h.state(); time.Sleep(200 * time.Millisecond) { // a gap: no event says that nothing follows
		before = h.state()
	}
}

func (h *host) addHost(a netip.Addr) {
	_, err := h.site.AddHost(a)
	h.must(err)
}

func (h *host) set(f func(netlink.Link) error) {
	h.must(h.Do(func() error {
		l, err := netlink.LinkByName(site.HostInterface)
		if err != nil {
			return err
		}
		return f(l)
	}))
}

func (h *host) dual(t *probe.Target) {
	t.IPv6 = probe.Settings{Method: probe.Static, Address: netip.PrefixFrom(h.net.Node6, h.net.Prefix6.Bits()), Gateway: h.net.Gateway6}
	t.DNS = append(t.DNS, h.net.DNS6...)
}

func (h *host) dhcp(t *probe.Target) {
	t.IPv4, t.DNS, t.NTP = probe.Settings{Method: probe.DHCP}, nil, nil
}

func (h *host) autoconf(t *probe.Target) {
	t.IPv4, t.IPv6, t.DNS, t.NTP = probe.Settings{}, probe.Settings{Method: probe.Autoconf}, nil, nil
}

// advertise lets the router speak. The host's kernel does not listen: it notes routers among its neighbours.
func (h *host) advertise(change func(*ndp.RouterAdvertisement)) {
	h.sysctl("ipv6/conf/"+site.HostInterface+"/disable_ipv6", "1")
	h.site.RA.Change(change)
	h.site.RA.On()
}

func (h *host) sysctl(name, value string) {
	h.must(h.Do(func() error { return os.WriteFile("/proc/sys/net/"+name, []byte(value), 0o644) }))
}
