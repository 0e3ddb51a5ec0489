package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"sigs.k8s.io/yaml"

	"touchdown/test/bench"
)

// landedAs reads from a status whether the job is done, and the new domain.
func landedAs(status []byte) (bool, string) {
	var s struct{ State, Cluster string }
	if json.Unmarshal(status, &s) != nil {
		return false, ""
	}
	return s.State == "done", s.Cluster
}

// proof is one name that was reached, or not.
type proof struct {
	text string
	err  error
}

// proofs reaches the API and the console's route of a domain with nothing but the kubeconfig's CA.
func proofs(ctx context.Context, cluster *bench.Cluster, domain string) []proof {
	roots, err := kubeconfigCA(cluster.Kubeconfig)
	if err != nil {
		return []proof{{err.Error(), err}}
	}
	var out []proof
	for _, p := range []struct{ host, port, path string }{
		{"api." + domain, "6443", "/readyz"},
		{"console-openshift-console.apps." + domain, "443", "/"},
	} {
		status, issuer, err := get(ctx, cluster.Address, p.host, p.port, p.path, roots)
		line := fmt.Sprintf("proof: https://%s:%s%s -> %s, certificate by %s", p.host, p.port, p.path, status, issuer)
		if err != nil {
			line = fmt.Sprintf("proof: https://%s:%s%s -> FAILED: %v", p.host, p.port, p.path, err)
		}
		out = append(out, proof{line, err})
	}
	return out
}

// get asks for one page by its public name, at the node's address: as `curl --connect-to` does.
func get(ctx context.Context, address, host, port, path string, roots *x509.CertPool) (status, issuer string, err error) {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: host},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(address, port))
		},
	}
	client := &http.Client{
		Transport: transport, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+net.JoinHostPort(host, port)+path, nil)
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

// kubeconfigCA reads the CA bundle that the installer left to the administrator.
func kubeconfigCA(path string) (*x509.CertPool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				CA string `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
	}
	if err := yaml.Unmarshal(data, &config); err != nil || len(config.Clusters) == 0 {
		return nil, fmt.Errorf("reading the kubeconfig: no cluster in it (%w)", err)
	}
	ca, err := base64.StdEncoding.DecodeString(config.Clusters[0].Cluster.CA)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig's CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("reading the kubeconfig's CA: no certificate in it")
	}
	return pool, nil
}
