package kube

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// probeTime is how long one probe may take.
const probeTime = 10 * time.Second

// served is what a server showed for a name.
type served struct {
	Chain []*x509.Certificate // leaf first
	Trust error               // why the chain is not good for the name and the CAs; nil when it is
}

// Leaf is the server's own certificate.
func (s served) Leaf() *x509.Certificate { return s.Chain[0] }

// Fingerprint is the SHA-256 of the server's own certificate, in hex.
func (s served) Fingerprint() string {
	sum := sha256.Sum256(s.Chain[0].Raw)
	return hex.EncodeToString(sum[:])
}

// Probe asks address (host:port) for the certificate that it serves to name, and judges it by roots at the time now. It
// fails only where no certificate came.
func Probe(ctx context.Context, address, name string, roots *x509.CertPool, now time.Time) (served, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{
		ServerName:         name,
		InsecureSkipVerify: true, // the chain is what is looked at; Verify below judges it
	}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return served{}, fmt.Errorf("probing %s for %s: %w", address, name, err)
	}
	defer conn.Close()
	tlsConn, ok := conn.(*tls.Conn)
	if !ok || len(tlsConn.ConnectionState().PeerCertificates) == 0 {
		return served{}, fmt.Errorf("probing %s for %s: %w", address, name, errors.New("no certificate"))
	}
	s := served{Chain: tlsConn.ConnectionState().PeerCertificates}
	s.Trust = verify(s.Chain, name, roots, now)
	return s, nil
}

func verify(chain []*x509.Certificate, name string, roots *x509.CertPool, now time.Time) error {
	between := x509.NewCertPool()
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: between, CurrentTime: now})
	return err
}

// Get asks address (host:port) for https://name/path and returns the status and the beginning of the body. Redirects are not
// followed. The certificate is not judged here: that is Probe's.
func Get(ctx context.Context, address, name, path string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		},
		TLSClientConfig:   &tls.Config{ServerName: name, InsecureSkipVerify: true}, // see above
		DisableKeepAlives: true,
	}
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+name+path, http.NoBody)
	if err != nil {
		return 0, nil, fmt.Errorf("asking %s for %s%s: %w", address, name, path, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("asking %s for %s%s: %w", address, name, path, err)
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return 0, nil, fmt.Errorf("asking %s for %s%s: %w", address, name, path, err)
	}
	return resp.StatusCode, body, nil
}
