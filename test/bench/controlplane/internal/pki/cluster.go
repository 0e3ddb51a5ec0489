package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"touchdown/test/bench/controlplane/internal/durable"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// Cluster is every pair of one cluster by the name of the Secret that holds it in life.
type Cluster map[string]*Pair

// Names are what the certificates of a cluster are made out to.
type Names struct {
	Domain  string // cluster name and base domain
	Address string // of the node
}

type plan struct {
	name, signer string // no signer: self-signed
	authority    bool
	Spec
}

// plans lists the certificates, signers before what they sign. Lifetimes are those of a cluster past its first rotation.
func plans(n Names) []plan {
	at := func(operator, signer string) string {
		return fmt.Sprintf("%s_%s@%d", operator, signer, time.Now().Unix())
	}
	root := func(name, cn string, life time.Duration) plan {
		return plan{name: name, authority: true, Spec: Spec{Name: cn, Life: life}}
	}
	server := func(name, signer, cn string, life time.Duration, hosts ...string) plan {
		return plan{name: name, signer: signer, Spec: Spec{Name: cn, Hosts: hosts, Life: life}}
	}
	client := func(name, signer, cn string, life time.Duration, groups ...string) plan {
		return plan{name: name, signer: signer, Spec: Spec{Name: cn, Groups: groups, Life: life}}
	}
	const kas, kcm = "openshift-kube-apiserver-operator", "openshift-kube-controller-manager-operator"
	router := fmt.Sprintf("ingress-operator@%d", time.Now().Unix())
	csr := root("csr-signer", at("kube-csr-signer", ""), 30*day)
	csr.signer = "csr-signer-signer"
	return []plan{
		root("loadbalancer-serving-signer", "kube-apiserver-lb-signer", 10*year),
		root("localhost-serving-signer", "kube-apiserver-localhost-signer", 10*year),
		root("service-network-serving-signer", "kube-apiserver-service-network-signer", 10*year),
		root("localhost-recovery-serving-signer", at(kas, "localhost-recovery-serving-signer"), 10*year),
		root("kube-control-plane-signer", at(kas, "kube-control-plane-signer"), 60*day),
		root("kube-apiserver-to-kubelet-signer", at(kas, "kube-apiserver-to-kubelet-signer"), year),
		root("node-system-admin-signer", at(kas, "node-system-admin-signer"), 3*year),
		root("aggregator-client-signer", at(kas, "aggregator-client-signer"), 30*day),
		root("admin-kubeconfig-signer", "admin-kubeconfig-signer", 10*year),
		root("csr-signer-signer", at(kcm, "csr-signer-signer"), 60*day),
		csr,
		root("router-ca", router, 2*year),
		root("signing-key", "openshift-service-serving-signer@1", 790*day),
		server("external-loadbalancer-serving-certkey", "loadbalancer-serving-signer", "api."+n.Domain, 30*day, "api."+n.Domain),
		server("internal-loadbalancer-serving-certkey", "loadbalancer-serving-signer", "api-int."+n.Domain, 30*day, "api-int."+n.Domain),
		server("localhost-serving-cert-certkey", "localhost-serving-signer", "127.0.0.1", 30*day, "localhost", "127.0.0.1", n.Address),
		server("localhost-recovery-serving-certkey", "localhost-recovery-serving-signer", "localhost-recovery", 10*year, "localhost-recovery"),
		server("service-network-serving-certkey", "service-network-serving-signer", "172.30.0.1", 30*day,
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "openshift.default.svc", "172.30.0.1"),
		server("router-certs-default", "router-ca", "*.apps."+n.Domain, 2*year, "*.apps."+n.Domain),
		client("admin", "admin-kubeconfig-signer", "system:admin", 10*year, "system:masters"),
		client("node-system-admin-client", "node-system-admin-signer", "system:admin", 2*year, "system:masters"),
		client("aggregator-client", "aggregator-client-signer", "system:openshift-aggregator", 30*day),
		client("kubelet-client", "kube-apiserver-to-kubelet-signer", "system:kube-apiserver", 30*day, "kube-master"),
		client("stand-ins", "kube-control-plane-signer", "system:bench-stand-ins", 30*day, "system:masters"),
	}
}

// New makes all certificates of a cluster, several at a time because RSA keys take long.
func New(n Names) (Cluster, error) {
	c := Cluster{}
	todo := plans(n)
	for len(todo) > 0 {
		var ready, later []plan
		for _, p := range todo {
			if _, ok := c[p.signer]; ok || p.signer == "" {
				ready = append(ready, p)
			} else {
				later = append(later, p)
			}
		}
		if err := c.make(ready); err != nil {
			return nil, err
		}
		todo = later
	}
	return c, nil
}

func (c Cluster) make(plans []plan) error {
	pairs, errs := make([]*Pair, len(plans)), make([]error, len(plans))
	var all sync.WaitGroup
	for i, p := range plans {
		all.Go(func() { pairs[i], errs[i] = issue(c[p.signer], p.Spec, p.authority) })
	}
	all.Wait()
	for i, p := range plans {
		c[p.name] = pairs[i]
	}
	return errors.Join(errs...)
}

// Save writes every pair to dir as NAME.crt and NAME.key.
func (c Cluster) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("saving certificates: %w", err)
	}
	for name, p := range c {
		if err := SavePair(dir, name, p.CertPEM, p.KeyPEM); err != nil {
			return err
		}
	}
	return nil
}

// SavePair writes NAME.crt and NAME.key, each in one step so that neither a reader nor a power cut finds half a file.
func SavePair(dir, name string, cert, key []byte) error {
	for file, data := range map[string][]byte{name + ".crt": cert, name + ".key": key} {
		if err := durable.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
			return fmt.Errorf("saving certificate %s: %w", name, err)
		}
	}
	return nil
}

// Load reads what Save wrote.
func Load(dir string) (Cluster, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.crt"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("loading certificates from %s: none found (%w)", dir, err)
	}
	c := Cluster{}
	for _, file := range files {
		name := filepath.Base(file[:len(file)-len(".crt")])
		if c[name], err = load(file[:len(file)-len(".crt")]); err != nil {
			return nil, fmt.Errorf("loading certificate %s: %w", name, err)
		}
	}
	return c, nil
}

func load(base string) (*Pair, error) {
	cert, err := os.ReadFile(base + ".crt")
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(base + ".key")
	if err != nil {
		return nil, err
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		return nil, err
	}
	block, _ := pem.Decode(cert)
	keyBlock, _ := pem.Decode(key)
	p := &Pair{CertPEM: cert, KeyPEM: key}
	if p.Cert, err = x509.ParseCertificate(block.Bytes); err != nil {
		return nil, err
	}
	p.key, err = x509.ParsePKCS1PrivateKey(keyBlock.Bytes)
	return p, err
}

// Bundle joins the certificates of the named signers.
func (c Cluster) Bundle(names ...string) []byte {
	var all bytes.Buffer
	for _, name := range names {
		all.Write(c[name].CertPEM)
	}
	return all.Bytes()
}
