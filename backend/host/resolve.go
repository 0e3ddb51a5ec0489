package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// Resolve asks one name server, host:port, for the addresses of a name, as a pod would; each of the two questions has 3 s. It tells of the
// last failure where there are none.
func Resolve(ctx context.Context, server, name string) ([]netip.Addr, error) {
	var all []netip.Addr
	var failed error
	for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA} {
		client := &dns.Client{Timeout: 3 * time.Second}
		answer, _, err := client.ExchangeContext(ctx, new(dns.Msg).SetQuestion(dns.Fqdn(name), kind), server)
		switch {
		case err != nil:
			failed = err
			continue
		case answer.Rcode == dns.RcodeNameError:
			failed = errors.New("no such name")
			continue
		case answer.Rcode != dns.RcodeSuccess:
			failed = fmt.Errorf("the name server answers %s", dns.RcodeToString[answer.Rcode])
			continue
		}
		for _, rr := range answer.Answer {
			var ip net.IP
			switch rr := rr.(type) {
			case *dns.A:
				ip = rr.A
			case *dns.AAAA:
				ip = rr.AAAA
			}
			if addr, ok := netip.AddrFromSlice(ip); ok {
				all = append(all, addr.Unmap())
			}
		}
	}
	if len(all) > 0 {
		return all, nil // a server that has no answer of one kind only
	}
	return nil, failed
}
