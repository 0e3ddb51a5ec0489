package node

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// pkiFolder is where the bench's control plane keeps its certificates, each with its key beside it.
const pkiFolder = "/var/lib/bench/controlplane/pki/"

// certificateOf is a certificate of the cluster, and who signs it: nobody else where that is empty.
type certificateOf struct{ name, signer string }

// Requests are signed with these; their recovery controller is that of kube-controller-manager.
func requestSigners() []certificateOf {
	return []certificateOf{{"csr-signer-signer", ""}, {"csr-signer", "csr-signer-signer"}}
}

// controlPlane are those that kube-apiserver's recovery controller renews: all that live for two years or less, signers before what
// they sign.
func controlPlane() []certificateOf {
	return []certificateOf{
		{"kube-control-plane-signer", ""},
		{"kube-apiserver-to-kubelet-signer", ""},
		{"aggregator-client-signer", ""},
		{"stand-ins", "kube-control-plane-signer"},
		{"kubelet-client", "kube-apiserver-to-kubelet-signer"},
		{"aggregator-client", "aggregator-client-signer"},
		{"node-system-admin-client", "node-system-admin-signer"},
		{"external-loadbalancer-serving-certkey", "loadbalancer-serving-signer"},
		{"internal-loadbalancer-serving-certkey", "loadbalancer-serving-signer"},
		{"localhost-serving-cert-certkey", "localhost-serving-signer"},
		{"service-network-serving-certkey", "service-network-serving-signer"},
	}
}

// ExpireCluster ends the kubelet's certificates and all those of the control plane that live for less than ten years, the signers among
// them, as a time in storage does. The node is off. What is left to it are the ten years' certificates and the tokens.
func (m *Machine) ExpireCluster(ctx context.Context, end time.Time) error {
	if err := m.ExpireKubeletCertificates(ctx, end); err != nil {
		return err
	}
	if err := m.reissue(append(requestSigners(), controlPlane()...), end); err != nil {
		return err
	}
	return m.spread()
}

// RenewControlPlane plays the recovery controller beside kube-apiserver (openshift/cluster-kube-apiserver-operator,
// pkg/cmd/certregenerationcontroller) and the certificate syncers, which lay what it made: the node's clients and servers are good
// again, and nobody signs certificate requests yet.
func (m *Machine) RenewControlPlane(ctx context.Context) error { return m.renew(ctx, controlPlane()) }

// RenewRequestSigners plays the recovery controller beside kube-controller-manager (openshift/cluster-kube-controller-manager-operator,
// pkg/cmd/recoverycontroller).
func (m *Machine) RenewRequestSigners(ctx context.Context) error {
	return m.renew(ctx, requestSigners())
}

// renew starts the control plane again: unlike a real one it reads its own client certificate and the signers when it starts.
func (m *Machine) renew(ctx context.Context, all []certificateOf) error {
	if err := m.reissue(all, time.Now().Add(30*24*time.Hour)); err != nil {
		return err
	}
	if err := m.spread(); err != nil {
		return err
	}
	_, err := m.Run(ctx, "systemctl", "restart", "controlplane.service")
	return err
}

// reissue makes certificates again that end at a moment. A signer gets a new key, as by library-go's rotation.
func (m *Machine) reissue(all []certificateOf, end time.Time) error {
	for _, c := range all {
		old, err := m.pair(c.name)
		if err != nil {
			return err
		}
		key, ok := old.PrivateKey.(crypto.Signer)
		if !ok {
			return fmt.Errorf("making %s again: its key is a %T", c.name, old.PrivateKey)
		}
		if old.Leaf.IsCA {
			made, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				return fmt.Errorf("making the key of %s: %w", c.name, err)
			}
			key = made
			block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(made)}
			if err := m.WriteFile(pkiFolder+c.name+".key", pem.EncodeToMemory(block), 0o600); err != nil {
				return err
			}
		}
		var signer *x509.Certificate // none: it signs itself
		signed, chain := key, []byte(nil)
		if c.signer != "" {
			above, err := m.pair(c.signer)
			if err != nil {
				return err
			}
			signer, signed = above.Leaf, above.PrivateKey.(crypto.Signer)
			if !old.Leaf.IsCA {
				chain = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: above.Certificate[0]})
			}
		}
		der, err := signAgain(old.Leaf, end, signer, key.Public(), signed)
		if err != nil {
			return fmt.Errorf("signing %s again: %w", c.name, err)
		}
		text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), chain...)
		if err := m.WriteFile(pkiFolder+c.name+".crt", text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// signAgain makes a certificate like another one that ends at a moment. Without a signer it signs itself.
func signAgain(old *x509.Certificate, end time.Time, signer *x509.Certificate, key crypto.PublicKey, with crypto.Signer) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("choosing a serial number: %w", err)
	}
	changed := *old
	changed.SerialNumber, changed.NotBefore, changed.NotAfter = serial, end.Add(-60*24*time.Hour), end
	changed.SignatureAlgorithm, changed.SubjectKeyId, changed.AuthorityKeyId = x509.UnknownSignatureAlgorithm, nil, nil
	changed.PublicKey = key
	if signer == nil {
		signer = &changed
	}
	der, err := x509.CreateCertificate(rand.Reader, &changed, signer, key, with)
	if err != nil {
		return nil, fmt.Errorf("signing it: %w", err)
	}
	return der, nil
}

func (m *Machine) pair(name string) (tls.Certificate, error) {
	cert, err := m.ReadFile(pkiFolder + name + ".crt")
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := m.ReadFile(pkiFolder + name + ".key")
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return pair, fmt.Errorf("reading %s: %w", name, err)
	}
	return pair, nil
}

// spread lays the certificates where they are used: the bundles of client CAs, the stand-ins' kubeconfig and those of the node.
func (m *Machine) spread() error {
	var bundle bytes.Buffer
	for _, name := range []string{"csr-signer", "kube-control-plane-signer", "kube-apiserver-to-kubelet-signer", "node-system-admin-signer", "admin-kubeconfig-signer"} {
		text, err := m.ReadFile(pkiFolder + name + ".crt")
		if err != nil {
			return err
		}
		bundle.Write(text)
	}
	for _, file := range []string{pkiFolder + "client-ca.pem", "/etc/kubernetes/kubelet-ca.crt"} {
		if err := m.WriteFile(file, bundle.Bytes(), 0o644); err != nil {
			return err
		}
	}
	clients := map[string]string{path.Join(path.Dir(path.Clean(pkiFolder)), "stand-ins.kubeconfig"): "stand-ins"}
	for _, name := range []string{"localhost", "localhost-recovery", "lb-int", "lb-ext"} {
		clients[path.Join(path.Dir(AdminKubeconfig), name+".kubeconfig")] = "node-system-admin-client"
	}
	for file, name := range clients {
		if err := m.signIn(file, name); err != nil {
			return err
		}
	}
	return nil
}

// signIn writes a client certificate into a kubeconfig.
func (m *Machine) signIn(file, name string) error {
	text, err := m.ReadFile(file)
	if err != nil {
		return err
	}
	config, err := clientcmd.Load(text)
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	cert, err := m.ReadFile(pkiFolder + name + ".crt")
	if err != nil {
		return err
	}
	for _, user := range config.AuthInfos {
		user.ClientCertificateData = cert
	}
	changed, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return m.WriteFile(file, changed, 0o600)
}

// RecoveryFiles are the node's kubeconfigs and what its cluster's recovery signs in with, by their paths below the folder of the
// static pods' resources.
func (m *Machine) RecoveryFiles(ctx context.Context) (map[string][]byte, error) {
	const root = "/etc/kubernetes/static-pod-resources/"
	out, err := m.Shell(ctx, "cd "+root+" && find kube-apiserver-certs kube-apiserver-pod-* -type f")
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, name := range slices.Sorted(strings.FieldsSeq(out)) {
		if all[name], err = m.ReadFile(root + name); err != nil {
			return nil, err
		}
	}
	return all, nil
}
