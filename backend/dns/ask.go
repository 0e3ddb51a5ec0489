package dns

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Usual is how long dnsmasq takes at most from its start to its first answer.
const Usual = 10 * time.Second

// Held tells whether an interface of this machine has the address that the name server answers at.
func (z Zone) Held() bool {
	all, err := net.InterfaceAddrs()
	return err != nil || len(z.Addresses) == 0 || slices.ContainsFunc(all, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr().Unmap() == z.Addresses[0]
	})
}

// Names returns what the node has to answer for a domain; a random one stands for all below apps.
func Names(domain string) []string {
	return []string{"api." + domain, "api-int." + domain, strings.ToLower(rand.Text()[:8]) + ".apps." + domain}
}

// Prove asks the node's own name server for each name and wants the zone's addresses. server is its host:port; "" is port 53 of
// the node's first address. It asks again until the timeout.
func Prove(ctx context.Context, z Zone, names []string, server string, timeout time.Duration) error {
	if server == "" {
		server = netip.AddrPortFrom(z.Addresses[0], 53).String()
	}
	start := time.Now()
	for {
		err := z.ask(ctx, names, server)
		if err == nil {
			return nil
		}
		if time.Since(start) >= timeout {
			return &problem.Problem{
				Code: "DNS-SELF", Summary: message.T("The node does not answer for the cluster's names."),
				Fix: message.T("Look at the log of dnsmasq in the support bundle; retry."), Err: err,
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("asking the node's name server: %w", context.Cause(ctx))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (z Zone) ask(ctx context.Context, names []string, server string) error {
	for _, name := range names {
		var got []netip.Addr
		for _, kind := range z.kinds() {
			addrs, err := lookup(ctx, name, kind, server)
			if err != nil {
				return err
			}
			got = append(got, addrs...)
		}
		for _, want := range z.Addresses {
			if !slices.Contains(got, want) {
				return fmt.Errorf("%s is %v, not %s", name, got, want)
			}
		}
	}
	return nil
}

// kinds are the record types of the zone's addresses.
func (z Zone) kinds() []uint16 {
	var out []uint16
	for _, a := range z.Addresses {
		kind := dns.TypeAAAA
		if a.Is4() {
			kind = dns.TypeA
		}
		if !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return out
}

func lookup(ctx context.Context, name string, kind uint16, server string) ([]netip.Addr, error) {
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	client := &dns.Client{Timeout: 2 * time.Second}
	answer, _, err := client.ExchangeContext(ctx, q, server)
	if err == nil && answer.Rcode != dns.RcodeSuccess {
		err = errors.New(dns.RcodeToString[answer.Rcode])
	}
	if err != nil {
		return nil, fmt.Errorf("asking %s for %s: %w", server, name, err)
	}
	return addresses(answer), nil
}

func addresses(answer *dns.Msg) []netip.Addr {
	var out []netip.Addr
	for _, rr := range answer.Answer {
		switch rr := rr.(type) {
		case *dns.A:
			if a, ok := netip.AddrFromSlice(rr.A.To4()); ok {
				out = append(out, a)
			}
		case *dns.AAAA:
			if a, ok := netip.AddrFromSlice(rr.AAAA); ok {
				out = append(out, a)
			}
		}
	}
	return out
}
