package remote

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
)

// dialTime is how long a registry may take to take a connection; a site's own one is milliseconds away.
const dialTime = 5 * time.Second

// certDirs hold what a registry's certificate is checked with, besides the system's authorities. The first that exists for a
// registry counts.
var certDirs = []string{"/etc/containers/certs.d", rhcos.RegistryCerts}

// proxyFile is where OpenShift puts the cluster's proxy for services of the node, CRI-O among them.
const proxyFile = rhcos.Proxy

// client makes the client for one registry.
func (r *Reader) client(registry string, insecure bool) *http.Client {
	transport := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: dialTime}).DialContext,
		TLSClientConfig:        tlsFor(r.machine, registry, insecure),
		TLSHandshakeTimeout:    dialTime,
		ResponseHeaderTimeout:  r.timeouts.answer,
		MaxResponseHeaderBytes: headerLimit,
		DisableCompression:     true, // a digest is of the bytes as they are
		MaxIdleConnsPerHost:    workers,
		IdleConnTimeout:        10 * time.Second,
		Proxy:                  func(req *http.Request) (*url.URL, error) { return r.proxy(req.URL) },
	}
	return &http.Client{Transport: transport, Timeout: r.timeouts.answer, CheckRedirect: checkRedirect}
}

// checkRedirect keeps a registry from leading out of TLS, or round in circles. net/http drops the credentials automatically when the
// host changes.
func checkRedirect(req *http.Request, via []*http.Request) error {
	web := req.URL.Scheme == "https" || req.URL.Scheme == "http" && via[0].URL.Scheme == "http"
	if len(via) >= 5 || !web || req.URL.Host == "" {
		return http.ErrUseLastResponse
	}
	return nil
}

// tlsFor adds the authorities that the node has for a registry, and a client certificate where there is one.
func tlsFor(m *host.Machine, registry string, insecure bool) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: insecure} // as registries.conf says for this one
	dir := ""
	for _, base := range certDirs {
		if path := base + "/" + registry; dir == "" && m.Exists(path) {
			dir = path
		}
	}
	if dir == "" {
		return config
	}
	if files, err := m.Glob(dir + "/*.crt"); err == nil {
		for _, path := range files {
			if pem, err := m.ReadFile(path); err == nil {
				config.RootCAs = certPool(config.RootCAs)
				config.RootCAs.AppendCertsFromPEM(pem)
			}
		}
	}
	if files, err := m.Glob(dir + "/*.cert"); err == nil {
		for _, path := range files {
			certificate, errC := m.ReadFile(path)
			key, errK := m.ReadFile(strings.TrimSuffix(path, filepath.Ext(path)) + ".key")
			if pair, err := tls.X509KeyPair(certificate, key); errC == nil && errK == nil && err == nil {
				config.Certificates = append(config.Certificates, pair)
			}
		}
	}
	return config
}

func certPool(p *x509.CertPool) *x509.CertPool {
	if p != nil {
		return p
	}
	if system, err := x509.SystemCertPool(); err == nil {
		return system
	}
	return x509.NewCertPool()
}

// readProxy returns the proxy of the node's services; none where the file is not there.
func readProxy(m *host.Machine) func(*url.URL) (*url.URL, error) {
	var config httpproxy.Config
	b, _, _ := m.ReadHead(proxyFile, 64<<10)
	for line := range bytes.Lines(b) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), "=")
		value = strings.Trim(value, `"'`)
		switch strings.ToUpper(strings.TrimPrefix(name, "export ")) {
		case "HTTP_PROXY":
			config.HTTPProxy = value
		case "HTTPS_PROXY":
			config.HTTPSProxy = value
		case "NO_PROXY":
			config.NoProxy = value
		}
	}
	return config.ProxyFunc()
}
