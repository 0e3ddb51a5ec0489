package value

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
)

// Serves tells why no client takes a server's chain, leaf first, whatever the time and the name: an authority behind it is for other names or
// other purposes, or has more authorities below it than it allows (RFC 5280, 4.2.1.9 to 4.2.1.12). The last certificate counts as trusted.
// It judges neither dates, which depend on the clock, nor a leaf alone.
func Serves(chain []*x509.Certificate) error {
	if len(chain) < 2 {
		return nil
	}
	options := x509.VerifyOptions{Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	options.Roots.AddCert(chain[len(chain)-1])
	for _, cert := range chain[1 : len(chain)-1] {
		options.Intermediates.AddCert(cert)
	}
	for _, cert := range chain {
		if cert.NotBefore.After(options.CurrentTime) {
			options.CurrentTime = cert.NotBefore
		}
	}
	for _, cert := range chain {
		if options.CurrentTime.After(cert.NotAfter) {
			return nil // there is no time at which all of them are valid, which is told elsewhere
		}
	}
	if own := chain[0].ExtKeyUsage; len(own) > 0 && !slices.Contains(own, x509.ExtKeyUsageServerAuth) {
		options.KeyUsages = []x509.ExtKeyUsage{x509.ExtKeyUsageAny} // the leaf's own purposes are told elsewhere
	}
	_, err := chain[0].Verify(options)
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return fmt.Errorf("verifying the chain: %w", invalid)
	}
	return nil
}
