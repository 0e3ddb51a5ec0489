package host_test

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"touchdown/backend/host"
)

// nameServer is a name server on the loopback that gives the answers of the test.
func nameServer(t *testing.T, answer func(q dns.Question) *dns.Msg) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, asked *dns.Msg) {
		if m := answer(asked.Question[0]); m != nil {
			rcode := m.Rcode // which SetReply sets back
			_ = w.WriteMsg(m.SetRcode(asked, rcode))
			return
		}
		_, _ = w.Write([]byte("\x00nonsense"))
	})}
	go func() { _ = s.ActivateAndServe() }()
	t.Cleanup(func() { _ = conn.Close() })
	return conn.LocalAddr().String()
}

// records are an answer with the records of the kind that was asked for.
func records(q dns.Question, lines ...string) *dns.Msg {
	m := new(dns.Msg)
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			panic(err)
		}
		if t := rr.Header().Rrtype; t == q.Qtype || t == dns.TypeCNAME {
			m.Answer = append(m.Answer, rr)
		}
	}
	return m
}

// TestResolve: addresses of both families are taken through an alias; one family alone is enough, whatever becomes of the question for the
// other; a server that refuses, knows no such name, or answers nonsense gives no address and says why.
func TestResolve(t *testing.T) {
	four, six := "api.sno.example. 5 IN A 192.0.2.7", "api.sno.example. 5 IN AAAA 2001:db8::7"
	code := func(c int) *dns.Msg { return &dns.Msg{MsgHdr: dns.MsgHdr{Rcode: c}} }
	for what, c := range map[string]struct {
		answer func(dns.Question) *dns.Msg
		want   string
		why    string
	}{
		"both":  {func(q dns.Question) *dns.Msg { return records(q, four, six) }, "[192.0.2.7 2001:db8::7]", ""},
		"alias": {func(q dns.Question) *dns.Msg { return records(q, "api.sno.example. 5 IN CNAME node.example.", four) }, "[192.0.2.7]", ""},
		"no IPv6 zone": {func(q dns.Question) *dns.Msg {
			if q.Qtype == dns.TypeAAAA {
				return code(dns.RcodeServerFailure)
			}
			return records(q, four)
		}, "[192.0.2.7]", ""},
		"nothing of the name": {func(q dns.Question) *dns.Msg { return records(q) }, "[]", ""},
		"no such name":        {func(dns.Question) *dns.Msg { return code(dns.RcodeNameError) }, "[]", "no such name"},
		"refused":             {func(dns.Question) *dns.Msg { return code(dns.RcodeRefused) }, "[]", "REFUSED"},
		"nonsense":            {func(dns.Question) *dns.Msg { return nil }, "[]", "dns:"},
	} {
		got, err := host.Resolve(t.Context(), nameServer(t, c.answer), "api.sno.example")
		if fmt.Sprint(got) != c.want || (err != nil) != (c.why != "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	// An IPv4 address in IPv6's form is one of IPv4: what compares it with the node's own must find it.
	got, err := host.Resolve(t.Context(), nameServer(t, func(q dns.Question) *dns.Msg { return records(q, "api.sno.example. 5 IN AAAA ::ffff:192.0.2.7") }), "api.sno.example")
	if err != nil || len(got) != 1 || got[0] != netip.MustParseAddr("192.0.2.7") {
		t.Errorf("%v, %v", got, err)
	}
}
