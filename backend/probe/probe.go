// Package probe asks a network, before anything is applied, whether the settings that a technician typed would work
// there. It has its own TCP/IP stack on the physical port, so that the machine's settings stay unchanged.
package probe

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Method is how a family gets its address.
type Method string

// The methods, as in the site config.
const (
	Disabled Method = "disabled"
	Static   Method = "static"
	DHCP     Method = "dhcp"
	Autoconf Method = "autoconf" // IPv6 only: by a router's advertisement
)

// Settings are those of one family.
type Settings struct {
	Method  Method       // empty: Disabled
	Address netip.Prefix // with Static: the address and its prefix length
	Gateway netip.Addr   // with Static: not valid where there is none
}

// Target is what to probe. Everything but Ports may be left out.
type Target struct {
	Ports []string // physical ports; several are those of one bond: frames go out of the first that has a link
	VLAN  int      // 802.1Q tag; 0: none
	MTU   int      // bytes; 0: what the port has

	IPv4, IPv6 Settings
	DNS        []netip.Addr // empty: those that the network offers
	NTP        []string     // names or addresses; empty: those that the network offers

	Registry string         // host or host:port of the image registry; the port's default is 443
	Roots    *x509.CertPool `json:"-"` // who may sign the registry's certificate; nil: whom the machine trusts
	Proxy    Proxy

	Inside []Inside // networks that the site's must not overlap, whoever gives the address

	Domain   string       // the cluster's new name and base domain: api.Domain and *.apps.Domain are looked up
	External []netip.Addr // where these must lead; empty: to the probed addresses

	Interface string           // After only: the interface that has the addresses now, br-ex
	Now       func() time.Time `json:"-"` // the machine's clock; nil: time.Now
}

// Inside is a network inside the node or its cluster: what is asked for there never comes to the site.
type Inside struct {
	Whose  message.Text // before the word "network"
	Prefix netip.Prefix
}

// Result is what was found. Checks are in the order in which they are shown.
type Result struct {
	Checks     []check.Check
	IPv4, IPv6 Offer         // with DHCP or Autoconf: what the network offers; zero where it offers nothing
	Offset     time.Duration // what the machine's clock lacks to the time servers' time
	OffsetOK   bool          // Offset is known: a time server answered and no other one contradicts it
}

// Whole is how long all probes together may take, whatever happens. Each has its own shorter deadline: with typed
// addresses they come to 10 s at most, with DHCP to 5 s more; the rest is for a busy processor, on which what was asked and not yet read
// would count as not answered. A network that answers is through in less than 3 s.
const Whole = 30 * time.Second

// Run probes t without changing anything on the machine and tells every check as soon as it is known, one at a time.
//
// A check that fails is one that must hold before the settings may be kept unasked: a link, an address that nobody
// else has, a gateway that answers where one was given, one DNS server that answers. All else that is wrong warns: it can
// be put right after the node has moved. The error is a Problem when nothing could be probed at all, or the end of ctx.
func Run(ctx context.Context, t Target, tell func(check.Check)) (Result, error) {
	return start(ctx, t, tell, false)
}

// After is Run with the settings that are applied by now: everything is asked through the machine's own network.
func After(ctx context.Context, t Target, tell func(check.Check)) (Result, error) {
	return start(ctx, t, tell, true)
}

// run is one going through all probes.
type run struct {
	t     Target
	wire  *wire
	own   []net.HardwareAddr // of this machine's cards
	links []netlink.Link

	*ways
	dns    *resolver
	clocks *clocks

	outer context.Context //nolint:containedctx // whether the caller still listens
	mu    sync.Mutex
	tell  func(check.Check)
	told  map[string]check.Check
}

func start(ctx context.Context, t Target, tell func(check.Check), live bool) (Result, error) {
	return startOver(ctx, t, tell, live, (*run).open)
}

// startOver is start over the wire that open opens.
func startOver(ctx context.Context, t Target, tell func(check.Check), live bool, open func(*run) (message.Text, error)) (Result, error) {
	if t.Now == nil {
		t.Now = time.Now
	}
	r := &run{t: t, ways: &ways{live: live}, outer: ctx, tell: tell, told: map[string]check.Check{}}
	r.dns = &resolver{ways: r.ways, t: &r.t, resolved: make(chan struct{}), say: r.say}
	r.clocks = &clocks{resolver: r.dns}
	r.families = []*family{{name: "IPv4", set: t.IPv4}, {name: "IPv6", suffix: "-ipv6", set: t.IPv6}}
	r.families = slices.DeleteFunc(r.families, func(f *family) bool { return f.set.Method == "" || f.set.Method == Disabled })
	ctx, cancel := context.WithTimeout(ctx, Whole)
	defer cancel()
	why, err := open(r)
	if err == nil && why == (message.Text{}) {
		err = r.all(ctx)
	}
	r.close()
	if r.outer.Err() != nil {
		return Result{}, fmt.Errorf("probing the network: %w", context.Cause(r.outer))
	}
	if err != nil {
		return Result{}, unable(err)
	}
	return r.result(why), nil
}

// unable says why nothing could be probed.
func unable(err error) error {
	p := &problem.Problem{
		Code: "NET-TRY", Summary: message.T("The network could not be tried out."),
		Fix: message.T("Retry; if it fails again, go on without the test and look whether the node can be reached."), Err: err,
	}
	if errors.Is(err, unix.EPERM) {
		p.Summary = message.T("The network could not be tried out: this needs root.")
		p.Fix = message.T("Run Touchdown as root.")
	}
	return p
}

// open looks at the ports; why says what keeps all probes from being made.
func (r *run) open() (why message.Text, err error) {
	usable, why, err := r.carrier()
	if err != nil || why != (message.Text{}) {
		return why, err
	}
	all, err := netlink.LinkList()
	if err != nil {
		return message.Text{}, fmt.Errorf("listing the machine's cards: %w", err)
	}
	r.links = all
	for _, l := range all {
		if mac := l.Attrs().HardwareAddr; len(mac) == 6 {
			r.own = append(r.own, mac)
		}
	}
	if r.wire, err = openWire(usable, r.t.VLAN); err != nil {
		return message.Text{}, err
	}
	r.user, err = newUserStack(r.wire)
	return message.Text{}, err
}

func (r *run) close() {
	if r.user != nil {
		r.user.close()
	}
	if r.wire != nil {
		r.wire.close()
	}
}

// all is the order of the probes: what does not need another one's result goes on beside it.
func (r *run) all(ctx context.Context) error {
	var together sync.WaitGroup
	failed := make(chan error, len(r.families))
	for _, f := range r.families {
		together.Go(func() { failed <- r.family(ctx, f) })
	}
	together.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			return err
		}
	}
	r.names()
	for _, s := range r.dns.servers {
		together.Go(func() { r.dns.askServer(ctx, s) })
	}
	var asked, around sync.WaitGroup
	for _, s := range r.dns.servers {
		around.Go(func() { r.dns.askAround(ctx, s) })
	}
	asked.Go(func() {
		together.Wait()
		r.dns.judgeServers()
		close(r.dns.resolved)
		around.Wait()
		r.dns.judgeAround()
	})
	for _, s := range r.clocks.sources {
		asked.Go(func() { r.clocks.askSource(ctx, s) })
	}
	var shaken handshake
	asked.Go(func() { shaken = registry{r.clocks}.shake(ctx) })
	asked.Go(func() { r.packets(ctx) })
	asked.Wait()
	r.clocks.judgeSources()
	registry{r.clocks}.judge(shaken)
	return nil
}

// names makes the lists of whom to ask, which for DHCP are known only now.
func (r *run) names() {
	servers, sources := r.t.DNS, r.t.NTP
	for _, f := range r.families {
		if len(r.t.DNS) == 0 {
			servers = append(servers, f.offer.DNS...)
		}
		if len(r.t.NTP) == 0 {
			for _, a := range f.offer.NTP {
				sources = append(sources, a.String())
			}
		}
	}
	for _, a := range servers {
		if !slices.ContainsFunc(r.dns.servers, func(s *server) bool { return s.address == a }) {
			r.dns.servers = append(r.dns.servers, &server{address: a})
		}
	}
	for _, name := range sources {
		r.clocks.sources = append(r.clocks.sources, &source{name: name})
	}
}

// say tells a check, unless nobody listens any more: a probe that was cut short knows nothing.
func (r *run) say(c check.Check) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.outer.Err() != nil {
		return
	}
	r.told[c.ID] = c
	r.tell(c)
}
