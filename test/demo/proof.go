package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
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

// proofs reaches the API and the console's page from a laptop on the site's LAN that trusts nothing but what the cluster
// hands out: under the new names as the site's DNS has them, and under the old ones at the same address.
func proofs(ctx context.Context, l *landing.Landing, domain string) []proof {
	roots, err := trusted(ctx, l)
	if err != nil {
		return []proof{{err.Error(), err}}
	}
	addresses, err := l.Site.Client().Lookup(ctx, "api."+domain)
	if err != nil || len(addresses) == 0 {
		err = fmt.Errorf("the site's DNS has no api.%s: %w", domain, err)
		return []proof{{err.Error(), err}}
	}
	var out []proof
	for _, name := range []string{domain, site.Factory().Domain} {
		for _, p := range [][3]string{{"api." + name, "6443", "/readyz"}, {"console-openshift-console.apps." + name, "443", "/"}} {
			at := ""
			if name != domain {
				at = addresses[0].String() // nobody at the site knows the old names
			}
			out = append(out, prove(ctx, l, p, at, roots))
		}
	}
	return out
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

// prove asks for one page by its name, at the address at where that is set, as `curl --connect-to` does.
func prove(ctx context.Context, l *landing.Landing, page [3]string, at string, roots *x509.CertPool) proof {
	host, port, path := page[0], page[1], page[2]
	url := "https://" + net.JoinHostPort(host, port) + path
	status, issuer, err := get(ctx, &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: host},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if at != "" {
				address = net.JoinHostPort(at, port)
			}
			return l.Site.Client().DialContext(ctx, network, address)
		},
	}, url)
	if err != nil {
		return proof{fmt.Sprintf("proof: %s -> FAILED: %v", url, err), err}
	}
	return proof{fmt.Sprintf("proof: %s -> %s, certificate by %s", url, status, issuer), nil}
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
