package clock

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"time"

	"sigs.k8s.io/yaml"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
)

// The node's own certificates. Each was made in the past, and the long-lived ones end the time in which this cluster can work
// at all: the kubelet's bootstrap credential and the CA of its clients. ca.crt is laid up to OpenShift 4.17 only
// (openshift/machine-config-operator templates/common/_base/files/root-ca.yaml).
var (
	shortLived = []string{rhcos.KubeletPKI + "/kubelet-client-current.pem", rhcos.KubeletPKI + "/kubelet-server-current.pem"}
	longLived  = []string{rhcos.KubeletCA, "/etc/kubernetes/ca.crt"}
)

const bootstrap = "/etc/kubernetes/kubeconfig"

// Signed reads the bounds from the node's certificates. left is when the machine left the factory; zero where that is not known.
func Signed(m *host.Machine, left time.Time) Bounds {
	b := Bounds{NotBefore: left, After: message.T("this machine left the factory")}
	certs := func(path string) []*x509.Certificate {
		data, err := m.ReadFile(path)
		if err != nil {
			return nil
		}
		return parse(data)
	}
	for _, path := range append(shortLived, longLived...) {
		b.made(certs(path))
	}
	var long []*x509.Certificate
	for _, path := range longLived {
		long = append(long, certs(path)...)
	}
	if data, err := m.ReadFile(bootstrap); err == nil {
		client := inKubeconfig(data)
		b.made(client)
		long = append(long, client...)
	}
	// A bundle holds old and new authorities: the last one to end decides.
	for _, cert := range long {
		if cert.NotAfter.After(b.NotAfter) {
			b.NotAfter, b.Until = cert.NotAfter, message.T("the last of the cluster's authorities ends")
		}
	}
	return b
}

func (b *Bounds) made(certs []*x509.Certificate) {
	for _, cert := range certs {
		if cert.NotBefore.After(b.NotBefore) {
			b.NotBefore, b.After = cert.NotBefore, message.T("a certificate of this node was made")
		}
	}
}

func parse(data []byte) []*x509.Certificate {
	var out []*x509.Certificate
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return out
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			out = append(out, cert)
		}
	}
}

// inKubeconfig returns the client certificates that a kubeconfig holds within itself.
func inKubeconfig(data []byte) []*x509.Certificate {
	var config struct {
		Users []struct {
			User struct {
				Certificate string `json:"client-certificate-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if yaml.Unmarshal(data, &config) != nil {
		return nil
	}
	var out []*x509.Certificate
	for _, u := range config.Users {
		if data, err := base64.StdEncoding.DecodeString(u.User.Certificate); err == nil {
			out = append(out, parse(data)...)
		}
	}
	return out
}
