package node

import (
	"bytes"
	"context"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"time"
)

// The kubelet's own certificates, each a file with the certificate and its key.
const (
	KubeletClient  = "/var/lib/kubelet/pki/kubelet-client-current.pem"
	KubeletServing = "/var/lib/kubelet/pki/kubelet-server-current.pem"
)

// signerPair is where the bench's control plane keeps what kube-controller-manager signs with.
const signerPair = "/var/lib/bench/controlplane/pki/csr-signer"

// ExpireKubeletCertificates gives the kubelet certificates like its own, by the same signer, that end at a moment: one in
// the past is a node that was in store for too long. A kubelet that runs notices only when it is started again.
func (m *Machine) ExpireKubeletCertificates(ctx context.Context, end time.Time) error {
	certPEM, err := m.ReadFile(signerPair + ".crt")
	if err != nil {
		return err
	}
	keyPEM, err := m.ReadFile(signerPair + ".key")
	if err != nil {
		return err
	}
	signer, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return fmt.Errorf("reading the signer of the kubelet's certificates: %w", err)
	}
	for _, name := range []string{KubeletClient, KubeletServing} {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("ending the kubelet's certificates: %w", err)
		}
		if err := m.endCertificate(name, signer, end); err != nil {
			return fmt.Errorf("ending %s: %w", name, err)
		}
	}
	return nil
}

func (m *Machine) endCertificate(name string, signer tls.Certificate, end time.Time) error {
	data, err := m.ReadFile(name)
	if err != nil {
		return err
	}
	block, rest := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE" {
		return fmt.Errorf("it does not begin with a certificate")
	}
	old, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return fmt.Errorf("parsing it: %w", err)
	}
	der, err := signAgain(old, end, signer.Leaf, old.PublicKey, signer.PrivateKey.(crypto.Signer))
	if err != nil {
		return fmt.Errorf("signing it again: %w", err)
	}
	var file bytes.Buffer
	if err := pem.Encode(&file, &pem.Block{Type: "CERTIFICATE", Bytes: der}); err != nil {
		return fmt.Errorf("encoding it: %w", err)
	}
	file.Write(rest)
	return m.replace(name, file.Bytes())
}

// replace writes over the file that a name leads to: the kubelet's current certificate is a link to one with a date.
func (m *Machine) replace(name string, data []byte) error {
	if m.isOn() {
		target, err := m.Run(context.Background(), "realpath", "--", name)
		if err != nil {
			return err
		}
		name = strings.TrimSpace(string(target))
		return m.WriteFile(name, data, 0o600)
	}
	target, err := m.realOffline(name)
	if err != nil {
		return err
	}
	return m.WriteFile(target, data, 0o600)
}
