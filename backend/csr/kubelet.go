package csr

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	"sigs.k8s.io/yaml"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
)

const (
	pki         = rhcos.KubeletPKI
	kubeletConf = "/etc/kubernetes/kubelet.conf"
)

// Kubelet is what the kubelet's files say of requests that are made with the bootstrap token. Every machine that ever asked
// for this cluster's ignition has that token, so the token alone proves nothing.
type Kubelet struct {
	// Good means that its client certificate is valid. Such a kubelet asks for the next one with that certificate, never with
	// the token: k8s.io/kubernetes cmd/kubelet/app/server.go, newClientsetFn, and bootstrap.go, LoadClientConfig.
	Good bool
	// since is when that certificate begins to be valid: a few minutes before it was issued.
	since time.Time
	// Key is what a kubelet without rotation asks for a certificate with, and keeps in a file until it has one (bootstrap.go,
	// LoadClientCert). With rotation, as on OpenShift, the key is in the kubelet's memory only (k8s.io/client-go
	// util/certificate/certificate_manager.go, rotateCerts) and this is nil.
	Key crypto.PublicKey
}

// ReadKubelet reads the kubelet's files; nil where no kubelet is on this machine.
func ReadKubelet(m *host.Machine, node string, now time.Time) *Kubelet {
	if !host.HasKubelet(m) {
		return nil
	}
	k := &Kubelet{}
	if b, err := m.ReadFile(pki + "/kubelet-client-current.pem"); err == nil && goodAt(b, now).String() == "" {
		for _, c := range certificates(b) {
			if c.Subject.CommonName == "system:node:"+node {
				k.Good, k.since = true, c.NotBefore
			}
		}
	}
	var conf struct {
		Rotate bool `json:"rotateCertificates"`
	}
	if b, err := m.ReadFile(kubeletConf); err != nil || yaml.Unmarshal(b, &conf) != nil || conf.Rotate {
		return k // a key file would be left over from another time
	}
	b, err := m.ReadFile(pki + "/kubelet-client.key.tmp")
	if err != nil {
		return k
	}
	if key, err := kube.PublicKey(b); err == nil {
		k.Key = key
	}
	return k
}

// asksWithToken says why a request that was made with the bootstrap token is not this kubelet's.
func (k *Kubelet) asksWithToken(r *x509.CertificateRequest) error {
	switch {
	case k == nil:
		return nil
	case k.Good:
		return errHasOne
	case k.Key != nil && !sameKey(k.Key, r.PublicKey):
		return errors.New("it is for another key than the kubelet's")
	}
	return nil
}

var errHasOne = errors.New("the kubelet has a valid client certificate and asks with that, not with the bootstrap token")

// backdate is how much earlier than it is issued a certificate begins to be valid: the controller manager's 5 minutes, and one
// for clocks that differ.
const backdate = 6 * time.Minute

// leftOver tells whether a request is from before the kubelet got its certificate: it asked more than once.
func (k *Kubelet) leftOver(r *certificatesv1.CertificateSigningRequest, why error) bool {
	return errors.Is(why, errHasOne) && r.CreationTimestamp.Time.Before(k.since.Add(backdate))
}

// Misled returns the client requests that were approved here and whose certificate the kubelet does not have, once it has a
// valid one: someone else who has the bootstrap token may have asked. The kubelet keeps the files of all its certificates.
func Misled(ctx context.Context, c *kube.Cluster, m *host.Machine, e Expect) ([]message.Text, error) {
	if k := ReadKubelet(m, e.Node, e.now()); k == nil || !k.Good {
		return nil, nil
	}
	own, err := keys(m)
	if err != nil {
		return nil, err
	}
	items, err := list(ctx, c)
	var all []message.Text
	for i := range items {
		r := &items[i]
		if r.Spec.SignerName != certificatesv1.KubeAPIServerClientKubeletSignerName || len(r.Status.Certificate) == 0 || !approvedByUs(r) {
			continue
		}
		request, err := parse(r.Spec.Request)
		if err != nil || !slices.ContainsFunc(own, func(key crypto.PublicKey) bool { return sameKey(key, request.PublicKey) }) {
			all = append(all, message.F("%s, asked for at %s", r.Name, r.CreationTimestamp.UTC().Format(time.RFC3339)))
		}
	}
	return all, err
}

// keys are those of all client certificates that the kubelet ever got.
func keys(m *host.Machine) ([]crypto.PublicKey, error) {
	files, err := m.Glob(pki + "/kubelet-client-*.pem")
	if err != nil {
		return nil, err
	}
	var all []crypto.PublicKey
	for _, file := range files {
		b, err := m.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, c := range certificates(b) {
			all = append(all, c.PublicKey)
		}
	}
	return all, nil
}

func sameKey(a, b crypto.PublicKey) bool {
	key, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(b)
}

// certificates are those of a file, without what else is in it.
func certificates(b []byte) []*x509.Certificate {
	var all []*x509.Certificate
	for {
		var block *pem.Block
		if block, b = pem.Decode(b); block == nil {
			return all
		}
		if c, err := x509.ParseCertificate(block.Bytes); block.Type == "CERTIFICATE" && err == nil {
			all = append(all, c)
		}
	}
}
