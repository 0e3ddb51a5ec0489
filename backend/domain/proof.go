package domain

import (
	"context"
	"crypto/x509"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// Proof is one name that the cluster must answer to.
type Proof struct {
	ID          string // of the check
	Name        string // asked for by SNI and Host
	Address     string // host:port that serves it
	Fingerprint string // of the certificate it must show
	Roots       *x509.CertPool
	Path        string // also asked for over HTTP when not empty
}

// Prove asks for each name until it answers with its certificate, and returns a verdict on each. It fails when one does not in
// time; servers load a new certificate a few seconds after their operator says that it is done, and after a power cut the router, the console
// and the login start minutes after the API.
func Prove(ctx context.Context, c *kube.Cluster, proofs []Proof, now func() time.Time, p Timeouts) ([]check.Check, error) {
	var checks []check.Check
	w := kube.Wait{
		What: message.T("the check of the new names"), Limit: p.Answer, Usual: 30 * time.Second, Code: "CERT-SRV",
		Fix: message.T("Retry; if a name still shows another certificate, undo puts the old names back."),
	}
	err := c.Until(ctx, w, func(ctx context.Context) (kube.Progress, bool, error) {
		checks = checks[:0]
		good, waiting := int64(0), message.Text{}
		for _, proof := range proofs {
			ch := proof.look(ctx, now())
			checks = append(checks, ch)
			switch {
			case ch.Status != check.Fail:
				good++
			case waiting == (message.Text{}):
				waiting = message.F("%s: %s", proof.Name, ch.Observed)
			}
		}
		progress := kube.Progress{Done: good, Total: int64(len(proofs)), Unit: "names", Waiting: waiting}
		return progress, good == int64(len(proofs)), nil
	})
	return checks, err
}

func (p Proof) look(ctx context.Context, now time.Time) check.Check {
	ch := check.Check{
		ID: p.ID, Title: message.F("%s answers with its certificate", p.Name), Status: check.Fail,
		Expected: message.F("certificate %s", shortPrint(p.Fingerprint)), Source: message.T("the secret that was read back"),
		Fix: message.T("Look at the operators kube-apiserver and ingress."),
	}
	served, err := kube.Probe(ctx, p.Address, p.Name, p.Roots, now)
	if err != nil {
		ch.Observed = message.T("no answer")
		ch.Evidence = []message.Text{message.Detail(err)}
		return ch
	}
	ch.Observed = message.F("certificate %s", shortPrint(served.Fingerprint()))
	ch.Evidence = []message.Text{message.F("SHA-256 %s", served.Fingerprint()), message.F("not after %s", served.Leaf().NotAfter.UTC().Format(time.RFC3339))}
	if served.Fingerprint() != p.Fingerprint {
		return ch
	}
	if p.Path != "" {
		status, _, err := kube.Get(ctx, p.Address, p.Name, p.Path)
		if err != nil || status >= 400 {
			ch.Observed = message.F("the right certificate, but status %d", status)
			if err != nil {
				ch.Observed, ch.Evidence = message.T("the right certificate, but no answer"), append(ch.Evidence, message.Detail(err))
			}
			return ch
		}
		ch.Observed = message.F("%s, status %d", ch.Observed, status)
	}
	ch.Status, ch.Fix = check.Pass, message.Text{}
	if p.Roots != nil && served.Trust != nil {
		ch.Status = check.Warn
		ch.Observed = message.F("%s, which the cluster's own CAs do not vouch for", ch.Observed)
		ch.Fix = message.T("Give the clients the CA that signed it.")
		ch.Evidence = append(ch.Evidence, message.Detail(served.Trust))
	}
	return ch
}

// shortPrint is enough of a fingerprint to compare over the phone.
func shortPrint(fingerprint string) string { return fingerprint[:min(16, len(fingerprint))] }
