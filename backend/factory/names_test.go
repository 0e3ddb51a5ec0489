package factory

import (
	"net"
	"net/netip"
	"testing"

	"github.com/miekg/dns"

	"touchdown/backend/check"
	"touchdown/backend/host"
)

// TestNamesBesideASilentServer: on a node that came back from a site the question for the other family goes to the name server of that
// site, and nobody answers it. Another address is not a pass, nor is none.
func TestNamesBesideASilentServer(t *testing.T) {
	for answer, want := range map[string]check.Status{"127.0.0.1": check.Pass, "127.0.0.9": check.Fail, "": check.Fail} {
		socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := &dns.Server{PacketConn: socket, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, asked *dns.Msg) {
			q := asked.Question[0]
			if q.Qtype != dns.TypeA {
				return
			}
			m := new(dns.Msg).SetReply(asked)
			if answer != "" {
				m.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 1}, A: net.ParseIP(answer)}}
			}
			_ = w.WriteMsg(m)
		})}
		go func() { _ = server.ActivateAndServe() }()
		_, port, _ := net.SplitHostPort(socket.LocalAddr().String())
		c := names(t.Context(), Cluster{Domain: "sno.factory.example", Own: host.Own{netip.MustParseAddr("127.0.0.1")}}, port)
		if c.Status != want {
			t.Errorf("%q: %s, %s", answer, c.Status, c.Observed)
		}
		_ = socket.Close()
	}
}
