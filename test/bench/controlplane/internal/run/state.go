package run

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"touchdown/test/bench/controlplane/internal/cluster"
	"touchdown/test/bench/controlplane/internal/durable"
	"touchdown/test/bench/controlplane/internal/operators"
	"touchdown/test/bench/controlplane/internal/pki"
	"touchdown/test/bench/controlplane/internal/seed"
)

// identity is what a state folder remembers of itself.
type identity struct {
	Address string   `json:"address"`
	Domain  string   `json:"domain"`
	Seeded  bool     `json:"seeded"`
	SNI     []string `json:"sni,omitempty"`
}

func loadIdentity(dir string) (identity, error) {
	var id identity
	data, err := os.ReadFile(filepath.Join(dir, "cluster.json"))
	if err != nil {
		return id, fmt.Errorf("reading the state's identity: %w", err)
	}
	if err := json.Unmarshal(data, &id); err != nil {
		return id, fmt.Errorf("parsing the state's identity: %w", err)
	}
	return id, nil
}

func (id identity) save(dir string) error {
	data, err := json.Marshal(id)
	if err != nil {
		return fmt.Errorf("encoding the state's identity: %w", err)
	}
	if err := durable.WriteFile(filepath.Join(dir, "cluster.json"), data, 0o600); err != nil {
		return fmt.Errorf("writing the state's identity: %w", err)
	}
	return nil
}

// clientCAs is the file of the CAs whose client certificates kube-apiserver accepts.
const clientCAs = "client-ca.pem"

// makeState fills an empty state folder with certificates and kubeconfigs.
func makeState(dir string, id identity, local string) (pki.Cluster, error) {
	pairs, err := pki.New(pki.Names{Domain: id.Domain, Address: id.Address})
	if err != nil {
		return nil, fmt.Errorf("making certificates: %w", err)
	}
	certs := filepath.Join(dir, "pki")
	if err := pairs.Save(certs); err != nil {
		return nil, err
	}
	if err := durable.WriteFile(filepath.Join(certs, clientCAs), pairs.Bundle(seed.ClientSigners()...), 0o600); err != nil {
		return nil, fmt.Errorf("writing the client CAs: %w", err)
	}
	if err := saveAccountKey(certs); err != nil {
		return nil, err
	}
	return pairs, writeKubeconfigs(dir, id, local, pairs)
}

// ownClientCAs are the CAs of clients but for administrators' kubeconfigs, and the file with all.
func (b *bench) ownClientCAs() (operators.ClientCAs, error) {
	certs := filepath.Join(b.State, "pki")
	all := operators.ClientCAs{File: filepath.Join(certs, clientCAs)}
	for _, signer := range seed.ClientSigners() {
		if signer == seed.AdminSigner {
			continue
		}
		ca, err := os.ReadFile(filepath.Join(certs, signer+".crt"))
		if err != nil {
			return all, fmt.Errorf("reading the client CAs: %w", err)
		}
		all.Own = append(all.Own, ca...)
	}
	return all, nil
}

// saveAccountKey makes the pair that signs service account tokens.
func saveAccountKey(dir string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("making the service account key: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return fmt.Errorf("encoding the service account key: %w", err)
	}
	for name, block := range map[string]*pem.Block{
		"service-account.key": {Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)},
		"service-account.pub": {Type: "PUBLIC KEY", Bytes: public},
	} {
		if err := durable.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return fmt.Errorf("writing the service account key: %w", err)
		}
	}
	return nil
}

// writeKubeconfigs writes the administrator's, the node's own and the stand-ins' kubeconfig.
func writeKubeconfigs(dir string, id identity, local string, pairs pki.Cluster) error {
	for name, k := range map[string]struct {
		pair, host string
		signers    []string
	}{
		// The installer's kubeconfig trusts these four.
		"kubeconfig":           {"admin", id.Address, []string{"loadbalancer-serving-signer", "localhost-serving-signer", "service-network-serving-signer", "router-ca"}},
		"localhost.kubeconfig": {"node-system-admin-client", id.Address, []string{"localhost-serving-signer"}},
		"stand-ins.kubeconfig": {"stand-ins", local, seed.ServerSigners()},
	} {
		p := pairs[k.pair]
		config := cluster.Kubeconfig{Server: "https://" + net.JoinHostPort(k.host, "6443"), CA: pairs.Bundle(k.signers...), User: k.pair, Cert: p.CertPEM, Key: p.KeyPEM}
		if err := config.Write(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
