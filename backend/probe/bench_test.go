package probe_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"touchdown/backend/check"
	"touchdown/backend/probe"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// A probe runs in its own process, this test's program started again inside the host's network namespace: all of
// its sockets are then where the machine's would be.
const orderEnv = "PROBE_ORDER"

type order struct {
	Target probe.Target
	CA     []byte
	After  bool
	Cancel time.Duration // end the probe after that long
	Times  int           // more than one run, to see what is left behind
}

type outcome struct {
	Result   probe.Result
	Told     []check.Check // in the order in which they were told
	Err      string
	Took     time.Duration
	Peak     int64 // KiB resident at most
	Routines int   // left after the probe
}

func TestMain(m *testing.M) {
	if text := os.Getenv(orderEnv); text != "" {
		obey(text)
		return
	}
	// Probes wait for answers that do not come; the machine has nothing to do meanwhile.
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// host is a machine on a site, with nothing configured.
type host struct {
	*site.Host
	t    *testing.T
	site *site.Site
	net  site.Network
	busy bool // its own network is used: neighbours come and go
}

func atSite(t *testing.T) *host {
	t.Helper()
	n := site.Edge()
	s := site.New(t, site.Options{Network: n})
	h, err := s.Host()
	if err != nil {
		t.Fatal(err)
	}
	out := &host{Host: h, t: t, site: s, net: n}
	// What the kernel does unasked, looking for its link-local address elsewhere and taking what routers offer, would
	// look as if the probe had done it.
	conf := "ipv6/conf/" + site.HostInterface + "/"
	for _, set := range []string{"accept_ra=0", "accept_dad=0", "disable_ipv6=1", "disable_ipv6=0"} {
		name, value, _ := strings.Cut(set, "=")
		out.sysctl(conf+name, value)
	}
	out.shows("/128 via <nil> table 255\nroute ff00::/8")
	return out
}

// shows waits until the kernel has done what it does in its own time.
func (h *host) shows(lines string) {
	h.t.Helper()
	wait.Until(h.t, "the host's kernel", func() error {
		if state := h.state(); !strings.Contains(state, lines) {
			return fmt.Errorf("it does not show %q:\n%s", lines, state)
		}
		return nil
	})
}

// target is what a technician types who makes no mistake.
func (h *host) target() probe.Target {
	return probe.Target{
		Ports: []string{site.HostInterface},
		IPv4:  probe.Settings{Method: probe.Static, Address: netip.PrefixFrom(h.net.Node4, h.net.Prefix4.Bits()), Gateway: h.net.Gateway4},
		DNS:   slices.Clone(h.net.DNS4), NTP: []string{h.net.NTP4[0].String()},
		Registry: fmt.Sprintf("%s:%d", site.RegistryName, site.RegistryPort), Domain: h.net.Domain,
	}
}

func (h *host) probe(t probe.Target) outcome { return h.obey(order{Target: t}) }

// probeAs probes, and once more where the first outcome is not right: the site's servers are on the machine of the test, and answer late
// while it is starved. The product looks again too.
func (h *host) probeAs(t probe.Target, right func(outcome) bool) outcome {
	got := h.probe(t)
	if right(got) {
		return got
	}
	h.t.Logf("probed once more, after:\n%s", got.table())
	return h.probe(t)
}

// obey runs the order in the host and makes sure that nothing on the host changed by it.
func (h *host) obey(o order) outcome {
	h.t.Helper()
	o.CA = h.site.Registry.CA()
	text, err := json.Marshal(o)
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.CommandContext(wait.Within(h.t, time.Minute), os.Args[0])
	// The limit under which the engine runs.
	cmd.Env = append(os.Environ(), orderEnv+"="+string(text), "GOMEMLIMIT=32MiB")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	before := h.state()
	if err := h.Start(cmd); err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		h.t.Fatalf("%v\n%s%s", err, out.Bytes(), errs.Bytes())
	}
	if after := h.state(); before != after {
		h.t.Errorf("the probe changed the machine. Before:\n%s\nafter:\n%s", before, after)
	}
	var got outcome
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		h.t.Fatalf("%v\n%s", err, out.Bytes())
	}
	if testing.Verbose() {
		h.t.Logf("%.2f s, %d KiB, %d routines %s\n%s", got.Took.Seconds(), got.Peak, got.Routines, got.Err, got.table())
	}
	return got
}

// state is all that a probe could change: links, addresses, routes, neighbours.
func (h *host) state() string {
	h.t.Helper()
	var b strings.Builder
	err := h.Do(func() error {
		links, err := netlink.LinkList()
		if err != nil {
			return err
		}
		for _, l := range links {
			a := l.Attrs()
			fmt.Fprintf(&b, "link %s %s mtu %d flags %#x promiscuous %d all multicast %d\n", a.Name, a.HardwareAddr, a.MTU, a.RawFlags, a.Promisc, a.Allmulti)
		}
		addresses, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
		if err != nil {
			return err
		}
		for _, a := range addresses {
			fmt.Fprintf(&b, "address %s\n", a.IPNet)
		}
		for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
			routes, err := netlink.RouteListFiltered(family, &netlink.Route{}, netlink.RT_FILTER_TABLE)
			if err != nil {
				return err
			}
			for _, r := range routes {
				fmt.Fprintf(&b, "route %s via %s table %d\n", r.Dst, r.Gw, r.Table)
			}
			neighbours, err := netlink.NeighList(0, family)
			if err != nil {
				return err
			}
			for _, n := range neighbours {
				if n.State&netlink.NUD_NOARP == 0 && !h.busy {
					fmt.Fprintf(&b, "neighbour %s %s\n", n.IP, n.HardwareAddr)
				}
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func obey(text string) {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	o.Target.Roots = x509.NewCertPool()
	o.Target.Roots.AppendCertsFromPEM(o.CA)
	var got outcome
	for range max(1, o.Times) {
		ctx, cancel := context.WithCancel(context.Background())
		if o.Cancel > 0 {
			time.AfterFunc(o.Cancel, cancel)
		}
		run := probe.Run
		if o.After {
			run = probe.After
		}
		began := time.Now()
		var err error
		got.Result, err = run(ctx, o.Target, func(c check.Check) { got.Told = append(got.Told, c) })
		got.Took = time.Since(began)
		if err != nil {
			got.Err = err.Error()
		}
		cancel()
	}
	got.measure()
	_ = json.NewEncoder(os.Stdout).Encode(got)
}
