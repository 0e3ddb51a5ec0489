package health

import (
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// signTime is how long a certificate request may wait.
const signTime = 2 * time.Minute

func judgeCSRs(s *State, o Options) check.Check {
	c := check.Check{
		ID: "csrs", Title: message.T("Certificate requests (CSRs)"), Expected: message.T("none of the node's own waits longer than 2 minutes"), Source: message.T("Touchdown: a node whose request stays unanswered drops out"),
		Fix: message.T("None needed for this node. Look at the requests of others before anyone approves them; the cluster removes one that waits for a day."),
	}
	if c, no := unread(s, c, "csrs"); no {
		return c
	}
	waits := map[string]message.Text{}
	for i := range s.CSRs {
		if text := open(&s.CSRs[i]); text != (message.Text{}) {
			waits[s.CSRs[i].Name] = text
		}
	}
	var needless map[string]message.Text
	if len(waits) > 0 && o.Needless != nil {
		needless = o.Needless(s.Nodes, s.CSRs)
	}
	var f faults
	for i := range s.CSRs {
		text, is := waits[s.CSRs[i].Name]
		if !is {
			continue
		}
		if why, not := needless[s.CSRs[i].Name]; not { // someone should know, and nobody should approve it unseen
			f.add(false, message.F("%s, and this node does not wait for it: %s", text, why))
			continue
		}
		f.add(s.age(s.CSRs[i].CreationTimestamp.Time) > signTime, text)
	}
	if len(f.grave) > 0 {
		c.Fix = message.T("Approve the node's own requests (oc adm certificate approve NAME); the cluster signs what is approved. Look at the others before anyone approves them. Then retry.")
	}
	return f.judge(c, message.T("none waits"))
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
