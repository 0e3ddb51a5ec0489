package network_test

import (
	"math"
	"strings"
	"time"

	"github.com/mdlayher/ndp"

	"touchdown/backend/network"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// endlessly makes the servers of a site give addresses without an end, as many routers do for a reservation.
func endlessly(s *site.Site) {
	s.DHCP4.Change(func(o *site.Offer) { o.Lease = math.MaxUint32 * time.Second })
	s.RA.Change(func(ra *ndp.RouterAdvertisement) {
		for _, o := range ra.Options {
			if prefix, is := o.(*ndp.PrefixInformation); is {
				prefix.ValidLifetime, prefix.PreferredLifetime = ndp.Infinity, ndp.Infinity
			}
		}
	})
}

// leaseForEver is read as another, and does not become a fixed address of the profile when settings are put back without a checkpoint.
func leaseForEver(b *bench) {
	const given = hasFactory + " && ip -o address show br-ex | grep -q '192.0.2.10/24.*valid_lft forever'"
	endlessly(b.site)
	b.shell("nmcli connection up ovs-if-br-ex")
	b.await(15*time.Second, given)
	read(b)
	originals := b.must("originals", request{}).Originals
	b.must("apply", request{Settings: edge(), Originals: originals, Rollback: trial})
	b.shell("systemctl kill -s KILL NetworkManager; sleep 0.5; systemctl is-active NetworkManager || systemctl start NetworkManager")
	b.await(10*time.Second, "nmcli -t general status")
	b.must("putback", request{Originals: originals})
	b.await(15*time.Second, given)
	b.asInFactory()
	if got := b.shell("nmcli -g ipv4.addresses connection show ovs-if-br-ex"); got != "192.168.127.10/24" {
		b.Errorf("the profile has the addresses %q", got)
	}
	b.site.DHCP4.Change(nil)
	b.site.RA.Change(nil)
	b.shell("nmcli connection up ovs-if-br-ex")
	b.asInFactory()
}

// leasesOfTheSite are tried and kept, after static settings with the same address too; without a server, a static address is not a lease.
func leasesOfTheSite(b *bench) {
	if b.site.Network().Name != site.Edge().Name {
		if err := b.site.Switch(site.Edge()); err != nil {
			b.Fatal(err)
		}
	}
	b.site.RA.On()
	endlessly(b.site)
	originals := b.must("originals", request{}).Originals
	four, six, off := network.Family{Method: network.DHCP}, network.Family{Method: network.Autoconf}, network.Family{Method: network.Disabled}
	for _, s := range []network.Settings{{IPv4: four, IPv6: six}, edge(), {IPv4: four, IPv6: off}, {IPv4: off, IPv6: six}, edge()} {
		b.must("apply", request{Settings: s, Originals: originals, Rollback: trial})
		a := b.must("await", request{Settings: s, Originals: originals, Rollback: wait.Timeout(15 * time.Second)})
		b.must("keep", request{Settings: s, Originals: originals})
		if a := b.must("inforce", request{Settings: s, Originals: originals}); !a.Done {
			b.Errorf("what was kept is not in force: %+v", s)
		}
		now := b.must("read", request{}).Current
		b.Logf("after %.1f s %s and %s", a.Seconds, now.IPv4.Address, now.IPv6.Address)
		if has := now.IPv4.Address == "198.51.100.10"; has != (s.IPv4 != off) {
			b.Errorf("%+v: the address is %q", s, now.IPv4.Address)
		}
		if has := strings.HasPrefix(now.IPv6.Address, "2001:db8:51:"); has != (s.IPv6 != off) {
			b.Errorf("%+v: the address is %q", s, now.IPv6.Address)
		}
	}
	b.site.DHCP4.Off()
	s := network.Settings{IPv4: four, IPv6: off}
	a := b.ask("apply", request{Settings: s, Originals: originals, Rollback: trial})
	b.Logf("DHCP without a server: applied in %.1f s, %s", a.Seconds, a.Error)
	if a.Error == "" {
		a = b.ask("await", request{Settings: s, Originals: originals, Rollback: wait.Timeout(5 * time.Second)})
	}
	if a.Code != "NET-DEAD" {
		b.Errorf("a lease in the place of a static address: %+v", a)
	}
}
