package bench

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// NodeKubeconfig is the node's own kubeconfig as kube-apiserver's installer leaves it, with the files of the cluster's recovery
// around it. It is there on a cluster that has no bench node.
func (c *Cluster) NodeKubeconfig() string {
	return filepath.Join(c.nodeKubeconfigs(), "localhost.kubeconfig")
}

func (c *Cluster) nodeKubeconfigs() string {
	return filepath.Join(c.Dir, "static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs")
}

// RenewNodeClient signs the node's client certificate again, for a life of that length, and writes it into all kubeconfigs of the
// node, as the kube-apiserver operator and its certificate syncer do.
func (c *Cluster) RenewNodeClient(life time.Duration) error {
	signer, err := tls.LoadX509KeyPair(filepath.Join(c.Dir, "pki/node-system-admin-signer.crt"), filepath.Join(c.Dir, "pki/node-system-admin-signer.key"))
	if err != nil {
		return fmt.Errorf("reading the signer of the node's client certificate: %w", err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("making the node's client key: %w", err)
	}
	now := time.Now()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "system:admin", Organization: []string{"system:masters"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, signer.Leaf, &key.PublicKey, signer.PrivateKey)
	if err != nil {
		return fmt.Errorf("signing the node's client certificate: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(c.nodeKubeconfigs(), "*.kubeconfig"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("finding the node's kubeconfigs in %s: %d files, %w", c.nodeKubeconfigs(), len(files), err)
	}
	for _, file := range files {
		config, err := clientcmd.LoadFromFile(file)
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		for _, user := range config.AuthInfos {
			user.ClientCertificateData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
			user.ClientKeyData = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
		}
		// The syncer replaces the file in one step.
		if err := clientcmd.WriteToFile(*config, file+".new"); err != nil {
			return fmt.Errorf("writing %s: %w", file, err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			return fmt.Errorf("replacing %s: %w", file, err)
		}
	}
	return nil
}
