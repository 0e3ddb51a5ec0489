package site

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// DNSMode is how a DNS server answers.
type DNSMode int

// The answers of a DNS server. Silence and slowness are the service's own switches.
const (
	Answers  DNSMode = iota
	Lies             // every name has an address where nobody is
	NXDomain         // no name exists
	ServFail         // it cannot find out
	Refuses          // it does not serve this client
)

// DNS is one or several DNS servers with one mind: right answers for the node's names, the registry and the public NTP server.
type DNS struct {
	knob
	mode    DNSMode
	records map[string][]netip.Addr // by lower-case name with the final dot; *. stands for one or more labels
	extra   map[string][]netip.Addr
	servers []*dns.Server
}

// Set makes it answer so from now on.
func (d *DNS) Set(m DNSMode) { d.set(func() { d.mode = m }) }

// Record makes a name have these addresses, for a lie about one name only or a name more. Without addresses the name is gone.
func (d *DNS) Record(name string, addresses ...netip.Addr) {
	d.set(func() {
		if d.extra == nil {
			d.extra = map[string][]netip.Addr{}
		}
		d.extra[dns.CanonicalName(name)] = addresses
	})
}

// AddDNS plugs a second DNS server into the LAN, with its own faults.
func (s *Site) AddDNS(a netip.Addr) (*DNS, *Host, error) {
	h, err := s.AddHost(a)
	if err != nil {
		return nil, nil, err
	}
	d := &DNS{}
	d.serve(s.Network())
	if err := d.listen(h.Namespace, a); err != nil {
		h.Remove()
		return nil, nil, err
	}
	h.onRemove = d.close
	return d, h, nil
}

// serve takes over the names of a network.
func (d *DNS) serve(n Network) {
	node := both([]netip.Addr{n.Node4, n.Node6})
	d.set(func() {
		d.records = map[string][]netip.Addr{
			dns.CanonicalName("api." + n.Domain):    node,
			dns.CanonicalName("*.apps." + n.Domain): node,
			dns.CanonicalName(RegistryName):         {Registry4, Registry6},
			dns.CanonicalName(NTPName):              {NTP4, NTP6},
		}
	})
}

func (d *DNS) listen(in *Namespace, a netip.Addr) error {
	address := netip.AddrPortFrom(a, 53).String()
	packets, err := in.ListenPacket("udp", address)
	if err != nil {
		return fmt.Errorf("starting DNS: %w", err)
	}
	stream, err := in.Listen("tcp", address)
	if err != nil {
		packets.Close()
		return fmt.Errorf("starting DNS: %w", err)
	}
	for _, server := range []*dns.Server{{PacketConn: packets, Handler: d}, {Listener: stream, Handler: d}} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() { _ = server.ActivateAndServe() }() // ends with its connection
		<-started
		d.servers = append(d.servers, server)
	}
	return nil
}

func (d *DNS) close() {
	ended, cancel := context.WithCancel(context.Background())
	cancel() // do not wait for slow answers
	for _, server := range d.servers {
		_ = server.ShutdownContext(ended)
	}
	d.servers = nil
}

// ServeDNS answers one question.
func (d *DNS) ServeDNS(w dns.ResponseWriter, question *dns.Msg) {
	if !d.answers() || len(question.Question) != 1 {
		return
	}
	_ = w.WriteMsg(d.answer(question))
}

func (d *DNS) answer(question *dns.Msg) *dns.Msg {
	d.mu.Lock()
	defer d.mu.Unlock()
	reply := new(dns.Msg).SetReply(question)
	reply.RecursionAvailable = true
	codes := map[DNSMode]int{NXDomain: dns.RcodeNameError, ServFail: dns.RcodeServerFailure, Refuses: dns.RcodeRefused}
	if code, bad := codes[d.mode]; bad {
		reply.Rcode = code
		return reply
	}
	q := question.Question[0]
	if q.Qtype == dns.TypePTR {
		d.reverse(reply, q)
		return reply
	}
	addresses, known := d.find(dns.CanonicalName(q.Name))
	if d.mode == Lies {
		addresses, known = []netip.Addr{Nobody4, Nobody6}, true
	}
	if !known {
		reply.Rcode = dns.RcodeNameError
	}
	for _, a := range addresses {
		header := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET, Ttl: 1}
		switch {
		case q.Qtype == dns.TypeA && a.Is4():
			reply.Answer = append(reply.Answer, &dns.A{Hdr: header, A: a.AsSlice()})
		case q.Qtype == dns.TypeAAAA && a.Is6():
			reply.Answer = append(reply.Answer, &dns.AAAA{Hdr: header, AAAA: a.AsSlice()})
		}
	}
	return reply
}

// find looks a name up, its own entry first, then a star's.
func (d *DNS) find(name string) ([]netip.Addr, bool) {
	for star := name; ; {
		for _, table := range []map[string][]netip.Addr{d.extra, d.records} {
			if addresses, known := table[star]; known {
				return addresses, len(addresses) > 0
			}
		}
		_, parent, deeper := strings.Cut(strings.TrimPrefix(star, "*."), ".")
		if !deeper || parent == "" {
			return nil, false
		}
		star = "*." + parent
	}
}

// reverse answers with the names that are not a star's.
func (d *DNS) reverse(reply *dns.Msg, q dns.Question) {
	for name, addresses := range d.records {
		for _, a := range addresses {
			arpa, err := dns.ReverseAddr(a.String())
			if err == nil && arpa == dns.CanonicalName(q.Name) && !strings.HasPrefix(name, "*") {
				header := dns.RR_Header{Name: q.Name, Rrtype: dns.TypePTR, Class: dns.ClassINET, Ttl: 1}
				reply.Answer = append(reply.Answer, &dns.PTR{Hdr: header, Ptr: name})
			}
		}
	}
	if len(reply.Answer) == 0 {
		reply.Rcode = dns.RcodeNameError
	}
}
