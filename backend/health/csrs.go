package health

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// signTime is how long a certificate request may wait.
const signTime = 2 * time.Minute

func judgeCSRs(s *State) check.Check {
	c := check.Check{
		ID: "csrs", Title: message.T("Certificate requests (CSRs)"), Expected: message.T("none of the node's own waits longer than 2 minutes"), Source: message.T("Touchdown: a node whose request stays unanswered drops out"),
		Fix: message.T("Retry: Touchdown approves the requests that are exactly the node's own; look at the others before anyone approves them."),
	}
	if c, no := unread(s, c, "csrs"); no {
		return c
	}
	var grave, light []message.Text
	for i := range s.CSRs {
		text := open(&s.CSRs[i])
		if text == (message.Text{}) {
			continue
		}
		switch {
		case !s.own(&s.CSRs[i]):
			// It does not hold up this node; someone should know, and nobody should approve it unseen.
			light = append(light, message.F("%s, and is not this node's", text))
		case s.age(s.CSRs[i].CreationTimestamp.Time) > signTime:
			grave = append(grave, text)
		default:
			light = append(light, text)
		}
	}
	if len(grave) == 0 {
		return found(c, check.Warn, light, message.T("none waits"))
	}
	return found(c, check.Fail, append(grave, light...), message.Text{})
}

// own reports whether a request is for the kubelet of one of the cluster's nodes.
func (s *State) own(csr *certificatesv1.CertificateSigningRequest) bool {
	name := csr.Spec.Username
	if block, _ := pem.Decode(csr.Spec.Request); block != nil {
		if r, err := x509.ParseCertificateRequest(block.Bytes); err == nil {
			name = r.Subject.CommonName
		}
	}
	return slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool { return name == "system:node:"+n.Name })
}

// open says what a request waits for, "" when it is decided.
func open(csr *certificatesv1.CertificateSigningRequest) message.Text {
	approved := false
	for _, cond := range csr.Status.Conditions {
		switch cond.Type {
		case certificatesv1.CertificateDenied, certificatesv1.CertificateFailed:
			return message.Text{}
		case certificatesv1.CertificateApproved:
			approved = true
		}
	}
	switch {
	case !approved:
		return message.F("%s of %s waits for approval", csr.Name, csr.Spec.Username)
	case len(csr.Status.Certificate) == 0 && strings.HasPrefix(csr.Spec.SignerName, "kubernetes.io/"):
		return message.F("%s is approved, but not signed", csr.Name)
	}
	return message.Text{}
}
