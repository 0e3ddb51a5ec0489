package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"touchdown/backend/kube"
	"touchdown/backend/report"
	"touchdown/steps/view"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// Where the objects are that the product changes.
const (
	apiServer  = "/apis/config.openshift.io/v1/apiservers/cluster"
	ingress    = "/apis/config.openshift.io/v1/ingresses/cluster"
	router     = "/apis/operator.openshift.io/v1/namespaces/openshift-ingress-operator/ingresscontrollers/default"
	routes     = "/apis/route.openshift.io/v1/routes"
	requests   = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	secrets    = "/api/v1/namespaces/%s/secrets"
	pullSecret = "/api/v1/namespaces/openshift-config/secrets/pull-secret"
)

// api is a plain client of the cluster: what it does is not counted as the product's, and its faults do not meet it.
type api struct {
	t       testing.TB
	address string
	roots   *x509.CertPool
	http    *http.Client
}

func openAPI(t testing.TB, c *bench.Cluster) *api {
	t.Helper()
	var config struct {
		Clusters []struct {
			Cluster struct {
				CA []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Cert []byte `json:"client-certificate-data"`
				Key  []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	data, err := os.ReadFile(c.Kubeconfig)
	if err == nil {
		err = yaml.Unmarshal(data, &config)
	}
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(config.Users[0].User.Cert, config.Users[0].User.Key)
	if err != nil {
		t.Fatal(err)
	}
	a := &api{t: t, address: c.Address, roots: x509.NewCertPool()}
	a.roots.AppendCertsFromPEM(config.Clusters[0].Cluster.CA)
	a.http = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: a.roots, Certificates: []tls.Certificate{pair}, ServerName: "api." + c.Domain}, DisableKeepAlives: true,
	}}
	return a
}

type object = map[string]any

// do makes one request, again and again while the API is away.
func (a *api) do(method, path, kind string, body []byte) (out object) {
	a.t.Helper()
	wait.Until(a.t, method+" "+path, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, method, "https://"+net.JoinHostPort(a.address, "6443")+path, bytes.NewReader(body))
		if err != nil {
			return wait.Final(err)
		}
		request.Header.Set("Content-Type", kind)
		response, err := a.http.Do(request)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(response.Body)
		response.Body.Close()
		switch {
		case err != nil:
			return err
		case response.StatusCode >= http.StatusInternalServerError:
			return fmt.Errorf("%s: %s", response.Status, data)
		case response.StatusCode >= http.StatusBadRequest:
			return wait.Final(fmt.Errorf("%s: %s", response.Status, data))
		}
		return wait.Final(json.Unmarshal(data, &out))
	})
	return out
}

func (a *api) get(path string) object { a.t.Helper(); return a.do(http.MethodGet, path, "", nil) }

// merge changes an object behind the product's back.
func (a *api) merge(path string, patch object) {
	a.t.Helper()
	a.do(http.MethodPatch, path, "application/merge-patch+json", []byte(text(patch)))
}

func (a *api) items(path string) []object {
	a.t.Helper()
	var out []object
	items, _ := a.get(path)["items"].([]any)
	for _, i := range items {
		out = append(out, i.(object))
	}
	return out
}

// at walks into an object; nil where there is nothing.
func at(o any, keys ...string) any {
	for _, k := range keys {
		m, _ := o.(object)
		o = m[k]
	}
	return o
}

func name(o object) string {
	out := fmt.Sprint(at(o, "metadata", "name"))
	if namespace := at(o, "metadata", "namespace"); namespace != nil {
		out = fmt.Sprint(namespace) + "/" + out
	}
	return out
}

func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// specs is all that the product may change, to the byte.
func (n *node) specs() map[string]string {
	n.t.Helper()
	out := map[string]string{}
	for _, path := range []string{apiServer, ingress, router} {
		out[path] = text(n.api.get(path)["spec"])
	}
	for _, r := range n.api.items(routes) {
		out["route "+name(r)] = text(r["spec"])
	}
	for _, namespace := range []string{"openshift-config", "openshift-ingress"} {
		for _, s := range n.api.items(fmt.Sprintf(secrets, namespace)) {
			out["secret "+name(s)] = text([]any{s["type"], s["data"]})
		}
	}
	return out
}

// same tells each difference between two moments.
func same(t testing.TB, before, after map[string]string) {
	t.Helper()
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if before[key] != after[key] {
			t.Errorf("%s was\n%s\nand is\n%s", key, before[key], after[key])
		}
	}
}

// landed is what counts after a move, without what is random: names, hosts, approvals, who serves what, and the report.
func (n *node) landed() string {
	n.t.Helper()
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	spec := n.api.get(ingress)["spec"]
	line("namedCertificates %s", text(at(n.api.get(apiServer), "spec", "servingCerts", "namedCertificates")))
	line("componentRoutes %s", text(at(spec, "componentRoutes")))
	line("appsDomain %s", text(at(spec, "appsDomain")))
	line("defaultCertificate %s", text(at(n.api.get(router), "spec", "defaultCertificate")))
	for _, r := range n.api.items(routes) {
		line("route %s %v", name(r), at(r, "spec", "host"))
	}
	for _, namespace := range []string{"openshift-config", "openshift-ingress"} {
		for _, s := range n.api.items(fmt.Sprintf(secrets, namespace)) {
			line("secret %s", name(s))
		}
	}
	line("pull secret %x", sha256.Sum256([]byte(text(n.api.get(pullSecret)["data"]))))
	for _, r := range n.api.items(requests) {
		line("request %s of %v %s", name(r), at(r, "spec", "username"), decision(r))
	}
	for _, domain := range []string{"shop.example.org", n.cluster.Domain} {
		line("api.%s: %v", domain, n.trusted("api."+domain, "6443"))
		line("console of %s: %v", domain, n.trusted("console-openshift-console.apps."+domain, "443"))
	}
	line("job %s", n.lives().State)
	_, err := (report.Folder{Dir: n.state()}).Open()
	line("report %v", err)
	return out.String()
}

func decision(request object) string {
	conditions, _ := at(request, "status", "conditions").([]any)
	var types []string
	for _, c := range conditions {
		types = append(types, fmt.Sprint(at(c, "type")))
	}
	return strings.Join(types, ",")
}

// trusted reaches a name as a client that knows nothing but the kubeconfig's CA.
func (n *node) trusted(host, port string) error {
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: wait.Timeout(5 * time.Second)}, Config: &tls.Config{ServerName: host, RootCAs: n.api.roots}}
	conn, err := dialer.DialContext(n.t.Context(), "tcp", net.JoinHostPort(n.cluster.Address, port))
	if err != nil {
		return err
	}
	return conn.Close()
}

// servedUntil is how long the certificate is good that the API shows under a name.
func (n *node) servedUntil(t *testing.T, host string) time.Time {
	t.Helper()
	served, err := kube.Probe(t.Context(), net.JoinHostPort(n.cluster.Address, "6443"), host, n.api.roots, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return served.Leaf().NotAfter
}

// writes counts the calls by which the product changed the cluster.
func (n *node) writes() int {
	n.t.Helper()
	state, err := n.cluster.State()
	if err != nil {
		n.t.Fatal(err)
	}
	return state.WriteTotal
}

// fault makes something go wrong from now on.
func (n *node) fault(f bench.Fault) {
	n.t.Helper()
	if err := n.cluster.SetFault(f); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) repair() {
	n.t.Helper()
	if err := n.cluster.ClearFaults(); err != nil {
		n.t.Fatal(err)
	}
}

// held waits until the engine stands behind the event it was told, and returns how to let it go on.
func (n *node) held() (release func()) {
	n.t.Helper()
	wait.Until(n.t, "the engine to come to the event", func() error {
		_, err := os.Stat(n.hold())
		return err
	})
	return func() {
		if err := os.Remove(n.hold()); err != nil {
			n.t.Error(err)
		}
	}
}

// holds makes the next engine wait behind events.
func (n *node) holds(event string) {
	n.env = append(n.env, holdBehind+"="+event, holdFile+"="+n.hold())
}

// journal returns the events on the disk.
func (n *node) journal() []string {
	n.t.Helper()
	data, err := os.ReadFile(filepath.Join(n.state(), "journal.jsonl"))
	if err != nil {
		n.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")[1:]
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// landing is a job that runs to its end while the test looks on.
func landing(s *view.Snapshot) bool { return s.State == view.Working }
