package health

import (
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

const (
	notAfter  = "auth.openshift.io/certificate-not-after"
	notBefore = "auth.openshift.io/certificate-not-before"

	day         = 24 * time.Hour
	soon        = 30 * day // a certificate that nobody renews warns from here on
	short       = 62 * day // those that live shorter than this the cluster renews at half of their life
	sourceCerts = "Touchdown: less than 30 days left; the cluster renews its 30 and 60 day ones at half of their life"
)

// life judges a certificate's validity at a moment. A short-lived one is fine until half of its life, which is when
// the cluster renews it, and a bit.
func life(from, to, at time.Time) (check.Status, message.Text) {
	until := message.F("valid until %s", to.UTC().Format(time.DateOnly))
	switch whole, left := to.Sub(from), to.Sub(at); {
	case left <= 0:
		return check.Fail, message.F("expired on %s", to.UTC().Format(time.DateOnly))
	case !from.IsZero() && at.Before(from):
		return check.Fail, message.F("not valid before %s", from.UTC().Format("2006-01-02 15:04 UTC"))
	case !from.IsZero() && whole <= short:
		if left < whole*45/100 {
			return check.Warn, message.F("valid until %s, renewal is overdue", to.UTC().Format(time.DateOnly))
		}
	case left < soon:
		return check.Warn, until
	}
	return check.Pass, until
}

func judgeServed(s *State, id string, title message.Text) check.Check {
	c := check.Check{
		ID: id, Title: title, Expected: message.T("valid, for this name, from a CA that the kubeconfig trusts"), Source: message.T(sourceCerts + "; TLS to the node"),
		Fix: message.T("Wait: a new certificate is served a few minutes after the change; else check its names and dates, and replace it: touchdown certificates replace."),
	}
	if c, no := unread(s, c, ""); no {
		return c
	}
	shown := s.Served[id]
	switch {
	case shown.Skip != (message.Text{}):
		c.Status, c.Observed, c.Fix = check.Skip, message.F("not checked: %s", shown.Skip), message.Text{}
		return c
	case shown.Err != nil:
		c.Status, c.Observed = check.Fail, message.F("%s: %s", shown.Name, said(shown.Err))
		return c
	case shown.Leaf == nil:
		return absent(c)
	}
	status, text := life(shown.Leaf.NotBefore, shown.Leaf.NotAfter, s.At)
	c.Evidence = []message.Text{
		message.F("subject %s", shown.Leaf.Subject.String()), message.F("issuer %s", shown.Leaf.Issuer.String()), message.F("names %s", strings.Join(shown.Leaf.DNSNames, " ")),
	}
	if err := shown.Leaf.VerifyHostname(shown.Name); err != nil {
		status, text = check.Fail, message.F("is for other names: %s", strings.Join(shown.Leaf.DNSNames, ", "))
	} else if shown.Trust != nil && status != check.Fail {
		status, text = distrust(id), message.F("%s, %s", text, doubt(shown))
	}
	c.Status, c.Observed = status, message.F("%s: %s", shown.Name, text)
	if status == check.Pass {
		c.Fix = message.Text{}
	}
	return c
}

func doubt(shown Shown) message.Text {
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](shown.Trust); unknown {
		return message.F("from a CA that the kubeconfig does not trust: %s", shown.Leaf.Issuer.CommonName)
	}
	return message.F("not trusted: %s", said(shown.Trust))
}

// distrust is how bad an unknown CA is. The factory's router has its own CA, which no kubeconfig of the node
// knows; for the API, kubeconfigs would stop working.
func distrust(id string) check.Status {
	if id == "cert-apps" {
		return check.Warn
	}
	return check.Fail
}

// judgeRotating looks at the certificates that the cluster renews automatically, by what it notes at their secrets.
func judgeRotating(s *State) check.Check {
	c := check.Check{
		ID: "certs", Title: message.T("Certificates that the cluster renews itself"), Expected: message.T("none expired, renewal not overdue"), Source: message.T(sourceCerts),
		Fix: message.T("Leave the node running: it renews them within minutes; check its clock if it does not."),
	}
	if c, no := unread(s, c, "secrets"); no {
		return c
	}
	var grave, light []message.Text
	var first time.Time
	name := ""
	for i := range s.Secrets {
		m := &s.Secrets[i]
		to, err := time.Parse(time.RFC3339, m.Annotations[notAfter])
		if err != nil || copied(m) {
			continue
		}
		// Without its beginning a certificate is judged by the days that are left.
		from, _ := time.Parse(time.RFC3339, m.Annotations[notBefore])
		if name == "" || to.Before(first) {
			first, name = to, m.Namespace+"/"+m.Name
		}
		switch status, text := life(from, to, s.At); status {
		case check.Fail:
			grave = append(grave, message.F("%s %s", m.Namespace+"/"+m.Name, text))
		case check.Warn:
			light = append(light, message.F("%s %s", m.Namespace+"/"+m.Name, text))
		}
	}
	sorted(grave)
	sorted(light)
	switch {
	case name == "":
		c.Status, c.Observed, c.Fix = check.Skip, message.T("not checked: the cluster notes no dates"), message.Text{}
		return c
	case len(grave) > 0:
		return found(c, check.Fail, append(grave, light...), message.Text{})
	}
	return found(c, check.Warn, light, message.F("all valid; first to end: %s on %s", name, first.UTC().Format(time.DateOnly)))
}

// copied tells the copies that a static pod's revision keeps: they stay as they were.
func copied(m *metav1.PartialObjectMetadata) bool {
	return slices.ContainsFunc(m.OwnerReferences, ofRevision)
}

func ofRevision(o metav1.OwnerReference) bool { return strings.HasPrefix(o.Name, "revision-status-") }
