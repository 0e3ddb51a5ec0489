package probe

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// How long a DNS server may take. glibc's resolver gives up on a server after 5 s and asks twice; what needs more than a
// second makes everything on the node slow.
const (
	dnsWait  = 3 * time.Second
	dnsAgain = time.Second
	dnsSlow  = time.Second
)

const dnsPort = 53

// resolver asks the DNS servers and judges them, and looks names up with those that help.
type resolver struct {
	*ways
	t        *Target
	servers  []*server
	resolved chan struct{} // closed when all were asked
	say      func(check.Check)
}

// server is a DNS server and what it said.
type server struct {
	address netip.Addr
	why     *unreachable // nil: it was asked
	answers []answer
	around  around
}

// answer is one to one name. Both families are asked for in one.
type answer struct {
	name  string
	kind  dnsmessage.Type
	code  dnsmessage.RCode
	found []netip.Addr
	names []string // with PTR
	took  time.Duration
	err   error // nobody answered
}

// text tells it in one line, for an engineer.
func (a answer) text() message.Text {
	kind := strings.TrimPrefix(a.kind.String(), "Type")
	if a.err != nil {
		return message.F("%s %s: %s", a.name, kind, message.Detail(a.err))
	}
	found := fmt.Sprint(a.found)
	if a.kind == dnsmessage.TypePTR {
		found = fmt.Sprint(a.names)
	}
	return message.F("%s %s: %s %s in %d ms", a.name, kind, strings.TrimPrefix(a.code.String(), "RCode"), found, a.took.Milliseconds())
}

// wanted are the names that every server is asked for.
func (d *resolver) wanted() []string {
	var all []string
	// A proxy looks the registry up itself.
	endpoint := d.t.Registry
	if proxy := d.t.Proxy.host(endpoint); proxy != "" {
		endpoint = proxy
	}
	if host, _, err := splitPort(endpoint, 0); err == nil && host != "" {
		if _, err := netip.ParseAddr(host); err != nil {
			all = append(all, host)
		}
	}
	if d.t.Domain != "" {
		// A name that nobody has used: only a wildcard answers it.
		all = append(all, "api."+d.t.Domain, "touchdown-"+random()+".apps."+d.t.Domain)
	}
	if len(all) == 0 {
		all = []string{"."} // any answer shows that there is a DNS server
	}
	return all
}

func random() string {
	var b [4]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// kinds are the records of addresses that this machine can use.
func (d *resolver) kinds() (kinds []dnsmessage.Type) {
	for _, f := range d.families {
		if f.usable {
			kinds = append(kinds, map[string]dnsmessage.Type{"": dnsmessage.TypeA, "-ipv6": dnsmessage.TypeAAAA}[f.suffix])
		}
	}
	return kinds
}

// inside says why a server of the site cannot have an address in a network of the cluster: it may answer until the cluster starts.
func (d *resolver) inside(server netip.Addr) *unreachable {
	for _, in := range d.t.Inside {
		if in.Prefix.Contains(server) {
			return &unreachable{why: message.F("it is in %s network %s", in.Whose, in.Prefix)}
		}
	}
	return nil
}

// askServer asks one server for everything at once.
func (d *resolver) askServer(ctx context.Context, s *server) {
	if _, s.why = d.reach(s.address); s.why == nil {
		s.why = d.inside(s.address)
	}
	if s.why != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, dnsWait)
	defer cancel()
	kinds := d.kinds()
	answers := make(chan answer)
	n := 0
	for _, name := range d.wanted() {
		if name == "." {
			kinds = []dnsmessage.Type{dnsmessage.TypeNS}
		}
		for _, kind := range kinds {
			n++
			go func() { answers <- d.query(ctx, s.address, name, kind) }()
		}
	}
	for range n {
		s.answers = append(s.answers, <-answers)
	}
	slices.SortFunc(s.answers, func(a, b answer) int { return strings.Compare(a.name, b.name)*2 + int(a.kind) - int(b.kind) })
	d.judgeEarly(s)
}

// query asks one question, again after a second: a packet may get lost.
func (d *resolver) query(ctx context.Context, of netip.Addr, name string, kind dnsmessage.Type) answer {
	a := answer{name: name, kind: kind}
	began := time.Now()
	id, ask, err := question53(name, kind)
	if err != nil {
		a.err = err
		return a
	}
	c, err := d.dial(ctx, "udp", netip.AddrPortFrom(of, dnsPort))
	if err != nil {
		a.err = err
		return a
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	b := make([]byte, 1500)
	for a.err = errSilent; ctx.Err() == nil; {
		if _, err := c.Write(ask); err != nil {
			a.err = err
			pause(ctx, dnsAgain)
			continue
		}
		_ = c.SetReadDeadline(time.Now().Add(dnsAgain))
		for {
			n, err := c.Read(b)
			if err != nil {
				if !timedOut(err) && ctx.Err() == nil {
					a.err = err
					return a
				}
				break
			}
			if a.read(b[:n], id) {
				a.took, a.err = time.Since(began), nil
				return a
			}
		}
	}
	return a
}

var errSilent = errors.New("no answer")

func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

func question53(name string, kind dnsmessage.Type) (id uint16, packed []byte, err error) {
	full, err := dnsmessage.NewName(strings.TrimSuffix(name, ".") + ".")
	if err != nil {
		return 0, nil, fmt.Errorf("asking for %s: %w", name, err)
	}
	var b [2]byte
	rand.Read(b[:])
	id = binary.BigEndian.Uint16(b[:])
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: id, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: full, Type: kind, Class: dnsmessage.ClassINET}},
	}
	packed, err = m.Pack()
	if err != nil {
		return 0, nil, fmt.Errorf("asking for %s: %w", name, err)
	}
	return id, packed, nil
}

// read takes what a server sent; false when it is not an answer to this question.
func (a *answer) read(b []byte, id uint16) bool {
	var p dnsmessage.Parser
	h, err := p.Start(b)
	if err != nil || !h.Response || h.ID != id || p.SkipAllQuestions() != nil {
		return false
	}
	a.code = h.RCode
	for {
		record, err := p.Answer()
		if err != nil {
			return true // at the end, or behind what is broken
		}
		switch body := record.Body.(type) {
		case *dnsmessage.AResource:
			a.found = append(a.found, netip.AddrFrom4(body.A))
		case *dnsmessage.AAAAResource:
			a.found = append(a.found, netip.AddrFrom16(body.AAAA))
		case *dnsmessage.PTRResource:
			a.names = append(a.names, printable(strings.TrimSuffix(body.PTR.String(), ".")))
		}
	}
}

// printable is a name without what no host name has: whoever answers may put any bytes into it.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '?'
	}, name)
}

// lookup finds the addresses of a host as the node will: the first server that answers is believed.
func (d *resolver) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	select {
	case <-d.resolved:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for _, s := range d.servers {
		if !s.helps() {
			continue
		}
		var found []netip.Addr
		for _, f := range d.families {
			kind := dnsmessage.TypeA
			if f.suffix != "" {
				kind = dnsmessage.TypeAAAA
			}
			if f.usable {
				found = append(found, s.recall(host, kind, func() answer { return d.query(ctx, s.address, host, kind) })...)
			}
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("the DNS server %s knows no address of %s", s.address, host)
		}
		return found, nil
	}
	return nil, fmt.Errorf("no DNS server could tell the address of %s", host)
}

// recall takes an answer that is there already.
func (s *server) recall(host string, kind dnsmessage.Type, ask func() answer) []netip.Addr {
	for _, a := range s.answers {
		if a.name == host && a.kind == kind {
			return a.found
		}
	}
	return ask().found
}

// asks tells whether any DNS server could be asked, whatever it said.
func (d *resolver) asks() bool {
	return slices.ContainsFunc(d.servers, func(s *server) bool { return s.why == nil || !s.why.follows })
}
