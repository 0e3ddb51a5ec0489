package ledger

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// signers are the cluster's own CAs: who has the key of one can be this cluster, or any of its clients.
var signers = []kube.Ref{
	kube.Secret("openshift-kube-apiserver-operator", "loadbalancer-serving-signer"),
	kube.Secret("openshift-kube-apiserver-operator", "localhost-serving-signer"),
	kube.Secret("openshift-kube-apiserver-operator", "service-network-serving-signer"),
	kube.Secret("openshift-kube-apiserver-operator", "localhost-recovery-serving-signer"),
	kube.Secret("openshift-kube-apiserver-operator", "node-system-admin-signer"),
	kube.Secret("openshift-ingress-operator", "router-ca"),
}

const hostKeys = "/etc/ssh/ssh_host_*_key.pub"

// Look reads what makes the node itself.
func Look(ctx context.Context, m *host.Machine, c *kube.Cluster, now time.Time) (Entry, error) {
	e := Entry{Format: format, Sealed: now.UTC().Truncate(time.Second), Serial: m.Serial(), Keys: map[string]string{}}
	if err := e.readCluster(ctx, c); err != nil {
		return e, err
	}
	if err := e.readHostKeys(m); err != nil {
		return e, err
	}
	if err := e.readPorts(m); err != nil {
		return e, err
	}
	e.readReportKey(m)
	if e.Serial == "" && len(e.MACs) == 0 {
		return e, &problem.Problem{
			Code: "FAC-NAME", Summary: message.T("This machine has neither a serial number nor a network port by which it can be identified."),
			Fix: message.T("Have the manufacturer write its serial number, or seal it without a ledger."),
		}
	}
	return e, nil
}

// readPorts reads the addresses of the machine's ports. One on the USB bus tells no machine from another: it is an adapter of the
// bench line, or the way to a service processor, which has the same address in all machines of a kind.
func (e *Entry) readPorts(m *host.Machine) error {
	ports, err := m.Glob("/sys/class/net/*/device") // only ports of the machine have one
	if err != nil {
		return fmt.Errorf("listing the network ports: %w", err)
	}
	for _, port := range ports {
		device, err := filepath.EvalSymlinks(m.Path(port))
		if err != nil || strings.Contains(device, "/usb") {
			continue
		}
		if mac, err := m.ReadFile(path.Join(path.Dir(port), "address")); err == nil {
			e.MACs = append(e.MACs, strings.TrimSpace(string(mac)))
		}
	}
	slices.Sort(e.MACs)
	return nil
}

func (e *Entry) readCluster(ctx context.Context, c *kube.Cluster) error {
	return c.Do(ctx, "reading the cluster's identity", func(ctx context.Context) error {
		version, err := c.Config.ClusterVersions().Get(ctx, "version", metav1.GetOptions{})
		if err != nil {
			return err
		}
		e.ClusterID = string(version.Spec.ClusterID)
		for _, ref := range signers {
			secret, err := c.Core.Secrets(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				continue // not every release has each
			}
			if err != nil {
				return err
			}
			if sum := publicKey(secret.Data[corev1.TLSCertKey]); sum != "" {
				e.Keys[caKey+ref.Name] = sum
			}
		}
		return nil
	})
}

// The names of keys in a ledger; of the first two the key's own name follows.
const (
	caKey     = "the CA key "
	hostKey   = "the SSH host key "
	reportKey = "the report key"
)

// readReportKey reads the public half of the key that signs the node's reports. It is made with the first report, just before the
// seal: a node that has it earlier was sealed before, or has the disk of one. A damaged one counts as none: the report makes it good.
func (e *Entry) readReportKey(m *host.Machine) {
	text, err := m.ReadFile(layout.ReportPublic)
	block, _ := pem.Decode(text)
	if err != nil || block == nil {
		return
	}
	sum := sha256.Sum256(block.Bytes)
	e.ReportKey = base64.StdEncoding.EncodeToString(block.Bytes)
	e.Keys[reportKey] = hex.EncodeToString(sum[:])
}

// publicKey is the SHA-256 of a certificate's public key, "" when there is none: a CA that was renewed with its old key is the same.
func publicKey(text []byte) string {
	block, _ := pem.Decode(text)
	if block == nil {
		return ""
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

func (e *Entry) readHostKeys(m *host.Machine) error {
	files, err := m.Glob(hostKeys)
	if err != nil {
		return fmt.Errorf("listing the SSH host keys: %w", err)
	}
	for _, file := range files {
		text, err := m.ReadFile(file)
		if err != nil {
			return err
		}
		key, _, _, _, err := ssh.ParseAuthorizedKey(text)
		if err != nil {
			return fmt.Errorf("reading the SSH host key %s: %w", file, err)
		}
		e.Keys[hostKey+path.Base(file)] = ssh.FingerprintSHA256(key)
	}
	return nil
}
