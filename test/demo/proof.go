package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/site"
)

// proof is one name that was reached, or not.
type proof struct {
	text string
	err  error
}

// record is a DNS record that the report asks the site's administrator to make.
type record struct{ Name, Type, Value string }

// proofs makes the DNS records that the report asks for, and no others, as the site's administrator would. Then it reaches the
// API and the console's page from a laptop on the site's LAN that trusts nothing but what the cluster hands out: under the new
// names at each address that the DNS gives for them, and under the old names at the same addresses.
func proofs(ctx context.Context, l *landing.Landing, domain string) []proof {
	failed := func(err error) []proof { return []proof{{err.Error(), err}} }
	roots, err := trusted(ctx, l)
	if err != nil {
		return failed(err)
	}
	data, err := l.Node.ReadFile("/var/lib/touchdown/report.json")
	if err != nil {
		return failed(fmt.Errorf("fetching the report: %w", err))
	}
	var report struct{ DNS []record }
	if err := json.Unmarshal(data, &report); err != nil {
		return failed(fmt.Errorf("reading the report: %w", err))
	}
	if err := makeRecords(l.Site.DNS, domain, report.DNS); err != nil {
		return failed(err)
	}
	var out []proof
	for _, service := range [][3]string{{"api.", "6443", "/readyz"}, {"console-openshift-console.apps.", "443", "/"}} {
		addresses, err := l.Site.Client().Lookup(ctx, service[0]+domain)
		if err != nil {
			out = append(out, failed(fmt.Errorf("proof: %s -> FAILED: the report has no DNS record for it: %w", service[0]+domain, err))...)
		}
		for _, name := range []string{domain, site.Factory().Domain} { // the site's DNS does not have the old names
			for _, at := range addresses {
				out = append(out, prove(ctx, l, [3]string{service[0] + name, service[1], service[2]}, at.String(), roots))
			}
		}
	}
	return out
}

// makeRecords gives the site's DNS exactly these records of a domain.
func makeRecords(names *site.DNS, domain string, records []record) error {
	addresses := map[string][]netip.Addr{"api." + domain: nil, "*.apps." + domain: nil}
	for _, r := range records {
		a, err := netip.ParseAddr(r.Value)
		if err != nil || a.Is4() != (r.Type == "A") {
			return fmt.Errorf("the report's DNS record is not one: %s %s %s", r.Name, r.Type, r.Value)
		}
		addresses[r.Name] = append(addresses[r.Name], a)
	}
	for name, list := range addresses {
		names.Record(name, list...)
	}
	return nil
}

// trusted are the CAs of the administrator's kubeconfig and of the cluster's ingress, which OpenShift publishes for this.
func trusted(ctx context.Context, l *landing.Landing) (*x509.CertPool, error) {
	config, err := l.Node.Kubernetes()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("preparing for the node's API: %w", err)
	}
	ingress, err := client.CoreV1().ConfigMaps("openshift-config-managed").Get(ctx, "default-ingress-cert", metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the CA of the cluster's ingress: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.CAData)
	roots.AppendCertsFromPEM([]byte(ingress.Data["ca-bundle.crt"]))
	return roots, nil
}

// prove asks for one page by its name at an address, as `curl --connect-to` does.
func prove(ctx context.Context, l *landing.Landing, page [3]string, at string, roots *x509.CertPool) proof {
	host, port, path := page[0], page[1], page[2]
	url := "https://" + net.JoinHostPort(host, port) + path
	status, issuer, err := get(ctx, &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: host},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return l.Site.Client().DialContext(ctx, network, net.JoinHostPort(at, port))
		},
	}, url)
	if err != nil {
		return proof{fmt.Sprintf("proof: %s at %s -> FAILED: %v", url, at, err), err}
	}
	return proof{fmt.Sprintf("proof: %s at %s -> %s, certificate by %s", url, at, status, issuer), nil}
}

func get(ctx context.Context, transport *http.Transport, url string) (status, issuer string, err error) {
	client := &http.Client{
		Transport: transport, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", "", err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusInternalServerError {
		return "", "", fmt.Errorf("answered %s", response.Status)
	}
	return response.Status, response.TLS.PeerCertificates[0].Issuer.CommonName, nil
}
