package domain_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"touchdown/backend/domain"
	"touchdown/backend/kube"
)

// A router that does not listen at the node's port 443 is told before anything is written. The statuses are as the ingress operator
// writes them.
func TestARouterAtAnotherPlace(t *testing.T) {
	for name, test := range map[string]struct{ strategy, says string }{
		"not told yet":          {`{}`, ""},
		"as installed":          {`{"endpointPublishingStrategy":{"type":"HostNetwork","hostNetwork":{"protocol":"TCP","httpPort":80,"httpsPort":443,"statsPort":1936}}}`, ""},
		"older, without ports":  {`{"endpointPublishingStrategy":{"type":"HostNetwork","hostNetwork":{"protocol":"TCP"}}}`, ""},
		"at other ports":        {`{"endpointPublishingStrategy":{"type":"HostNetwork","hostNetwork":{"httpPort":8080,"httpsPort":8443,"statsPort":1936}}}`, "(endpointPublishingStrategy HostNetwork, port 8443)"},
		"behind MetalLB":        {`{"endpointPublishingStrategy":{"type":"LoadBalancerService","loadBalancer":{"scope":"External"}}}`, "LoadBalancerService"},
		"at a port of the node": {`{"endpointPublishingStrategy":{"type":"NodePortService","nodePort":{"protocol":"TCP"}}}`, "NodePortService"},
	} {
		t.Run(name, func(t *testing.T) {
			api, c, n := plain(t)
			api.Put(defaultIC, `{"spec":{},"status":`+test.strategy+`}`)
			_, err := n.Fits(t.Context(), c)
			want := ""
			if test.says != "" {
				want = "RTR-443"
			}
			if code(err) != want || err != nil && (!strings.Contains(err.Error(), test.says) || !domain.Refuses(err)) {
				t.Errorf("%v", err)
			}
			if changes := api.Changes(); len(changes) > 0 {
				t.Errorf("something was written: %v", changes)
			}
		})
	}
}

// Where the DNS operator sends the new names past the node, to a server that does not know them, nothing is written: the login's
// operator would never find its host.
func TestNamesThatPodsWouldNotFind(t *testing.T) {
	knows := nameServer(t, "oauth-openshift."+domain.Apps(site)+".", domain.Console(site)+".", "downloads-openshift-console."+domain.Apps(site)+".")
	blind := nameServer(t)
	silent := "127.0.0.1:" + fmt.Sprint(closed(t))
	upstream := func(server string) string {
		host, port, _ := net.SplitHostPort(server)
		return fmt.Sprintf(`{"type":"Network","address":%q,"port":%s}`, host, port)
	}
	const node = `{"type":"SystemResolvConf"}`
	all := func(list ...string) string {
		return `{"upstreamResolvers":{"policy":"Sequential","upstreams":[` + strings.Join(list, ",") + `]}}`
	}
	zone := func(zone, server string) string {
		return fmt.Sprintf(`{"servers":[{"name":"a","zones":[%q],"forwardPlugin":{"upstreams":[%q]}}],"upstreamResolvers":{"upstreams":[%s]}}`, zone, server, node)
	}
	for name, test := range map[string]struct{ spec, says string }{
		"as installed":                {all(node), ""},
		"nothing said":                {`{}`, ""},
		"a server that knows them":    {all(upstream(knows)), ""},
		"one that does not":           {all(upstream(blind)), blind + ", which gives no address"},
		"one that is not there":       {all(upstream(silent)), silent + ", which gives no address"},
		"and the node's":              {all(upstream(silent), node), ""},
		"another zone's":              {zone("plant.example", blind), ""},
		"the zone of the new names":   {zone(strings.SplitN(site, ".", 2)[1], blind), blind},
		"that zone, by one that does": {zone(site, knows), ""},
		"all names, as a zone":        {zone(".", blind), blind},
		"by TLS":                      {`{"upstreamResolvers":{"transportConfig":{"transport":"TLS","tls":{"serverName":"dns.example"}},"upstreams":[` + upstream(blind) + `]}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			api, c, n := plain(t)
			secrets(t, api, n)
			api.Put(operatorAPI+"dnses/default", `{"spec":`+test.spec+`}`)
			api.Changes()
			_, err := domain.Apply(t.Context(), c, n, func(kube.Ref, []byte) error { return nil })
			if test.says == "" {
				fatal(t, err)
				return
			}
			if code(err) != "DNS-FWD" || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
			if changes := api.Changes(); len(changes) > 0 {
				t.Errorf("something was written: %v", changes)
			}
		})
	}
}

// nameServer answers with an address for some names, and knows no other.
func nameServer(t *testing.T, names ...string) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	fatal(t, err)
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		answer.Rcode = dns.RcodeNameError
		for _, name := range names {
			if q.Question[0].Name == name {
				answer.Rcode = dns.RcodeSuccess
				if q.Question[0].Qtype == dns.TypeA {
					answer.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(192, 0, 2, 10)}}
				}
			}
		}
		_ = w.WriteMsg(answer)
	})
	server := &dns.Server{PacketConn: conn, Handler: handler}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { _ = server.Shutdown() })
	return conn.LocalAddr().String()
}

// closed is a port at which nobody listens; it is kept so for the test's time by a socket that speaks TCP.
func closed(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	fatal(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}
