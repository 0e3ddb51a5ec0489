package health_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/backend/kube"
)

// named is a name server that knows what zone has: an address, "" for no address, nothing for no such name.
func named(t *testing.T, zone map[string]string) string {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: socket, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		name := strings.TrimSuffix(q.Question[0].Name, ".")
		ip, known := zone[name]
		switch {
		case !known:
			answer.Rcode = dns.RcodeNameError
		case ip == "refused":
			answer.Rcode = dns.RcodeRefused
		case ip != "" && q.Question[0].Qtype == dns.TypeA && !strings.Contains(ip, ":"):
			rr, err := dns.NewRR(fmt.Sprintf("%s. 30 IN A %s", name, ip))
			if err != nil {
				t.Error(err)
			}
			answer.Answer = append(answer.Answer, rr)
		case q.Question[0].Qtype == dns.TypeAAAA && strings.Contains(ip, ":"):
			rr, err := dns.NewRR(fmt.Sprintf("%s. 30 IN AAAA %s", name, ip))
			if err != nil {
				t.Error(err)
			}
			answer.Answer = append(answer.Answer, rr)
		}
		_ = w.WriteMsg(answer)
	})}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { _ = server.Shutdown() })
	return socket.LocalAddr().String()
}

// dnsCluster is a cluster with one node and a DNS operator of this status; without one when status is empty.
func dnsCluster(t *testing.T, status string) *kube.Cluster {
	t.Helper()
	cluster, _ := api(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/readyz":
			_, _ = io.WriteString(w, "ok")
		case r.URL.Path == "/api/v1/nodes":
			_, _ = io.WriteString(w, `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n","annotations":{
				"k8s.ovn.org/host-cidrs":"[\"192.168.127.10/24\",\"192.0.2.10/24\",\"2001:db8::10/64\"]"}},
				"status":{"addresses":[{"type":"InternalIP","address":"192.168.127.10"},{"type":"Hostname","address":"n"}]}}]}`)
		case r.URL.Path == "/apis/operator.openshift.io/v1/dnses/default" && status != "":
			_, _ = io.WriteString(w, `{"kind":"DNS","apiVersion":"operator.openshift.io/v1","metadata":{"name":"default"},`+status+`}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		}
	})
	return cluster
}

// TestNamesInsideTheCluster: a cluster whose pods do not find the names of the new domain is not well, whatever answers outside.
func TestNamesInsideTheCluster(t *testing.T) {
	const login, api = "oauth-openshift.apps.edge1.example.org", "api.edge1.example.org"
	for name, c := range map[string]struct {
		zone map[string]string
		want check.Status
		says string
	}{
		"known":         {map[string]string{login: "192.168.127.10", api: "192.168.127.10"}, check.Pass, "is 192.168.127.10"},
		"by OVN's list": {map[string]string{login: "192.0.2.10", api: "2001:db8::10"}, check.Pass, "2001:db8::10"},
		"unknown":       {map[string]string{api: "192.168.127.10"}, check.Fail, login + ": no such name"},
		"elsewhere":     {map[string]string{login: "192.168.127.10", api: "198.51.100.7"}, check.Fail, "198.51.100.7, which is not this node"},
		"no address":    {map[string]string{login: "192.168.127.10", api: ""}, check.Fail, api + " has no address"},
		"refused":       {map[string]string{login: "192.168.127.10", api: "refused"}, check.Fail, "REFUSED"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := dnsCluster(t, `"status":{"clusterIP":"172.30.0.10"}`)
			o := health.Options{Domain: "edge1.example.org", DNS: named(t, c.zone)}
			for _, k := range health.Judge(health.Look(t.Context(), cluster, o), o) {
				if k.ID == "cluster-dns" && (k.Status != c.want || !strings.Contains(k.Observed.String(), c.says)) {
					t.Errorf("%s: %s", k.Status, k.Observed)
				}
			}
		})
	}
}

func TestNoDNSServiceIsSkipped(t *testing.T) {
	for _, status := range []string{`"status":{}`, ""} {
		cluster := dnsCluster(t, status)
		o := health.Options{Domain: "edge1.example.org"}
		for _, k := range health.Judge(health.Look(t.Context(), cluster, o), o) {
			if k.ID == "cluster-dns" && (k.Status != check.Skip || !strings.Contains(k.Observed.String(), "no DNS service")) {
				t.Errorf("%q: %s: %s", status, k.Status, k.Observed)
			}
		}
	}
}

// shows is a server that shows a certificate.
func shows(t *testing.T, certificate tls.Certificate) (address string) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// TestLoadBalancerBeforeTheNode: where the API's name leads elsewhere, what answers there decides: the node's own certificate comes from the
// node, another one that is good for the name deserves attention, and all else is another machine.
func TestLoadBalancerBeforeTheNode(t *testing.T) {
	const login, api = "oauth-openshift.apps.edge1.example.org", "api.edge1.example.org"
	own, ownPEM := served(t, api)
	good, goodPEM := served(t, api)
	stranger, _ := served(t, api)
	var roots []*x509.Certificate
	for _, text := range []string{ownPEM, goodPEM} {
		block, _ := pem.Decode([]byte(text))
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, cert)
	}
	for name, c := range map[string]struct {
		there tls.Certificate
		want  check.Status
		says  string
	}{
		"passes on":       {own, check.Pass, "127.0.0.1, which passes on to this node"},
		"its certificate": {good, check.Warn, "good for the name"},
		"another machine": {stranger, check.Fail, "127.0.0.1, which is not this node"},
	} {
		t.Run(name, func(t *testing.T) {
			_, port, err := net.SplitHostPort(shows(t, c.there))
			if err != nil {
				t.Fatal(err)
			}
			s := &health.State{At: time.Now(), Errors: map[string]error{}, Nodes: healthy().Nodes, Infra: healthy().Infra}
			s.Infra.Status.APIServerURL = "https://" + net.JoinHostPort(api, port)
			o := health.Options{Domain: "edge1.example.org", DNS: named(t, map[string]string{login: "192.168.127.10", api: "127.0.0.1"}), API: shows(t, own), Roots: roots}
			s.AskNames(t.Context(), dnsCluster(t, ""), o)
			for _, k := range health.Judge(s, o) {
				if k.ID == "cluster-dns" && (k.Status != c.want || !strings.Contains(k.Observed.String(), c.says)) {
					t.Errorf("%s: %s %q", k.Status, k.Observed, k.Evidence)
				}
			}
		})
	}
}
