package probe

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/test/matrix"
)

// targetAt is what the answers of a site promise, as the steps hand it over.
func targetAt(s matrix.Site, trust authority) Target {
	t := Target{Ports: []string{"cable"}, NTP: s.Sources(), Registry: s.Mirror(), Roots: trust.roots, Domain: matrix.Domain}
	for _, f := range s.Families() {
		settings := []*Settings{&t.IPv4, &t.IPv6}[f]
		if *settings = (Settings{Method: []Method{DHCP, Autoconf}[f]}); s.Static() {
			settings.Method = Static
			settings.Address = netip.PrefixFrom(netip.MustParseAddr(matrix.Node[f]), matrix.Prefix[f])
			settings.Gateway, _ = netip.ParseAddr(s.Router(f))
		}
	}
	if s.Static() {
		for _, server := range s.Servers() {
			t.DNS = append(t.DNS, netip.MustParseAddr(server))
		}
	}
	return t
}

// told is what the checks are to say of a site: their status by their ID.
func told(s matrix.Site) map[string]check.Status {
	want := map[string]check.Status{"net-carrier": check.Pass, "net-mtu": check.Skip}
	want["net-api-int"] = check.Skip
	if s.DNS == matrix.Present && s.DHCP != matrix.Wrong {
		want["net-api-int"] = check.Pass
	}
	at := func(has matrix.Has, wrong check.Status) check.Status {
		if s.DHCP == matrix.Wrong { // nothing can be asked without an address
			return check.Skip
		}
		return []check.Status{check.Pass, check.Skip, wrong}[has]
	}
	for i, f := range s.Families() {
		suffix := []string{"", "-ipv6"}[f]
		if !s.Static() {
			want[[]string{"net-dhcp", "net-router-ipv6"}[f]] = []check.Status{matrix.Present: check.Pass, matrix.Wrong: check.Fail}[s.DHCP]
		}
		want["net-duplicate"+suffix] = at(matrix.Present, "")
		want["net-gateway"+suffix] = at(s.Gateway, check.Fail)
		want["net-ptr"+suffix] = at(s.DNS, check.Skip)
		if i == 0 || s.DNS != matrix.Absent && s.DHCP != matrix.Wrong {
			want[fmt.Sprintf("net-dns-%d", i+1)] = at(s.DNS, check.Fail)
		}
		if i == 0 || s.NTP != matrix.Absent {
			want[fmt.Sprintf("net-ntp-%d", i+1)] = at(s.NTP, check.Warn)
		}
	}
	if s.Gateway == matrix.Present {
		want["net-mtu"] = at(matrix.Present, "")
	}
	want["net-registry"] = at(s.Registry, check.Warn)
	if s.Family == "IPv6" && s.Registry != matrix.Absent && s.DNS != matrix.Present && s.DHCP != matrix.Wrong {
		want["net-registry"] = check.Warn // its name cannot be looked up
	}
	return want
}

// TestEverySiteIsTold lets the probes loose on each site, on a cable in this process: what is absent is said to be so and not
// needed, what is wrong is named, and whether the settings may be kept follows from that.
func TestEverySiteIsTold(t *testing.T) {
	trust := newAuthority(t)
	// Most of the time of each is waiting for who does not answer. On a busy machine who does may be too late among so many: the
	// first of the sites where that can be are looked at again, a few at once.
	sites := matrix.All()
	if testing.Short() {
		sites = matrix.Third()
	}
	again, _ := probed(t, trust, sites, 243)
	if _, faults := probed(t, trust, again[:min(len(again), 24)], 4); len(faults) > 0 {
		t.Errorf("%d sites of %d, and of the first %d again:\n%s", len(again), len(sites), len(faults), strings.Join(faults, "\n"))
	}
}

// TestAForgottenGateway has a router on the cable that a typed site config does not name: that is a warning, which says where the
// router was seen.
func TestAForgottenGateway(t *testing.T) {
	trust := newAuthority(t)
	typed := matrix.Site{Family: "dual stack", DNS: matrix.Absent, NTP: matrix.Absent, Gateway: matrix.Absent, DHCP: matrix.Absent, Registry: matrix.Absent}
	there := typed
	there.Gateway, there.DHCP = matrix.Present, matrix.Present // its router advertises
	l := newLAN(t, there, trust)
	defer l.close()
	got, err := startOver(t.Context(), targetAt(typed, trust), func(check.Check) {}, false, l.opened)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, c := range got.Checks {
		sign, of := map[string]string{"net-gateway": matrix.Gateway[0], "net-gateway-ipv6": "advertises itself"}[c.ID]
		if !of {
			continue
		}
		if seen++; c.Status != check.Warn || !strings.Contains(c.Observed.String(), sign) || c.Fix.String() == "" {
			t.Errorf("%s is %s: %q, fix %q", c.ID, c.Status, c.Observed, c.Fix)
		}
	}
	if seen != 2 {
		t.Errorf("%d gateways are told of: %+v", seen, got.Checks)
	}
}

// TestATimeServerInsideTheCluster: one that answers from a network of the cluster does so only until the cluster starts. That is told of one
// that was typed, and of one that the site gave by DHCP.
func TestATimeServerInsideTheCluster(t *testing.T) {
	trust := newAuthority(t)
	for _, dhcp := range []matrix.Has{matrix.Absent, matrix.Present} {
		s := matrix.Site{Family: "IPv4", DNS: matrix.Present, NTP: matrix.Present, Gateway: matrix.Present, DHCP: dhcp, Registry: matrix.Absent}
		l := newLAN(t, s, trust)
		target := targetAt(s, trust)
		target.Inside = []Inside{{Whose: message.T("the cluster's"), Prefix: netip.MustParsePrefix(matrix.NTP[0] + "/32")}}
		got, err := startOver(t.Context(), target, func(check.Check) {}, false, l.opened)
		l.close()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(got.Checks, func(c check.Check) bool { return c.ID == "net-ntp-1" })
		if at < 0 {
			t.Fatalf("DHCP %v: %+v", dhcp, got.Checks)
		}
		if c := got.Checks[at]; c.Status != check.Warn || !strings.Contains(c.Observed.String(), "cannot be asked: it is in the cluster's network "+matrix.NTP[0]+"/32") || c.Fix.String() == "" {
			t.Errorf("DHCP %v: %+v", dhcp, c)
		}
	}
}

func TestEndsOfASubnet(t *testing.T) {
	for node, want := range map[string]string{
		"198.51.100.10/24": "[198.51.100.1 198.51.100.254]", "198.51.100.1/30": "[198.51.100.2]", "198.51.100.1/31": "[]", "10.1.2.3/8": "[10.0.0.1 10.255.255.254]",
	} {
		if got := fmt.Sprint(ends(netip.MustParsePrefix(node))); got != want {
			t.Errorf("%s: %s, want %s", node, got, want)
		}
	}
}

// probed probes sites, some at once, and tells which are not told what they should be.
func probed(t *testing.T, trust authority, sites []matrix.Site, atOnce int) (wrong []matrix.Site, faults []string) {
	places := make(chan struct{}, atOnce)
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, s := range sites {
		places <- struct{}{}
		l := newLAN(t, s, trust)
		all.Go(func() {
			defer func() { <-places }()
			defer l.close()
			got, err := startOver(t.Context(), targetAt(s, trust), func(check.Check) {}, false, l.opened)
			fault := judged(s, got.Checks)
			if err != nil {
				fault = err.Error()
			}
			if fault == "" {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			wrong, faults = append(wrong, s), append(faults, s.String()+": "+fault)
		})
	}
	all.Wait()
	return wrong, faults
}

// opened is open over the cable.
func (l *lan) opened(r *run) (message.Text, error) {
	r.say(check.Check{ID: "net-carrier", Status: check.Pass})
	r.wire = l.node
	var err error
	r.user, err = newUserStack(l.node)
	return message.Text{}, err
}

// judged compares what was told of a site with what should be; "" when it is the same.
func judged(s matrix.Site, checks []check.Check) (fault string) {
	got, outcome := map[string]check.Status{}, matrix.Lands
	for _, c := range checks {
		got[c.ID] = c.Status
		fault += fmt.Sprintf("\n%-16s %-5s %s -> %s", c.ID, c.Status, c.Observed, c.Fix)
		switch {
		case c.Status == check.Fail:
			outcome = matrix.Refused
		case c.Status == check.Warn && outcome == matrix.Lands:
			outcome = matrix.Warned
		}
	}
	if want := told(s); !maps.Equal(got, want) || outcome != s.Outcome() {
		return fmt.Sprintf("%s, want %s%s\nwant %v", outcome, s.Outcome(), fault, want)
	}
	absent := map[string]matrix.Has{
		"net-dns-1": s.DNS, "net-ntp-1": s.NTP, "net-registry": s.Registry, "net-gateway": s.Gateway,
		"net-ptr": s.DNS, "net-ptr-ipv6": s.DNS, "net-api-int": s.DNS,
		"net-gateway-ipv6": s.Gateway,
	}
	for _, c := range checks {
		has, of := absent[c.ID]
		said := strings.HasPrefix(c.Observed.String(), "Absent, not needed")
		if of && s.DHCP != matrix.Wrong && said != (has == matrix.Absent) || c.Fix.String() == "" && (c.Status == check.Fail || c.Status == check.Warn) {
			return fmt.Sprintf("%s says %q, fix %q", c.ID, c.Observed, c.Fix)
		}
	}
	return ""
}
