// Package health judges the cluster: one look gives a list of checks, a wait wants them good without a break.
package health

import (
	"context"
	"crypto/x509"
	"math"
	"net/netip"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// Options say what the cluster should look like.
type Options struct {
	Domain     string                                  // the cluster's new domain, "edge1.example.org"; "" when it did not move
	Kept       []string                                // hosts of the console and the login that the cluster's owner chose: they need not lie below Domain
	Roots      []*x509.Certificate                     // trusted beside the kubeconfig's CAs: those of certificates that the site brought or the owner keeps
	Ingress    string                                  // host:port of the router; "" is port 443 of the node's internal address
	API        string                                  // host:port of the API; "" is the kubeconfig's server
	DNS        string                                  // host:port of the cluster's DNS service; "" is what the DNS operator says
	Prometheus string                                  // host:port of the cluster's Prometheus; "" is that of its pod
	Site       func(context.Context) []netip.Addr      // the site's name servers, which pods shall reach; nil: nobody asks
	Pods       string                                  // folder of the pods' network namespaces; "" is podNetworks
	Units      func(context.Context) ([]string, error) // the node's failed systemd units; nil: nobody asks
	Database   func() error                            // why the cluster's database on this node does not start, where it does not; nil: nobody asks
	OwnTime    bool                                    // the site has no time server: the node keeps its own time, which is not a fault
	Waived     func(id string) bool                    // whether a person took responsibility for a check; nil: for none
	Paused     bool                                    // the work has paused the node's pool and has not ended that
	Follows    bool                                    // whoever looks stays: what is being changed deserves attention, and fails when it takes longer than usual
	Now        func() time.Time                        // nil: time.Now
	// Needless says of those certificate requests that this node's kubelet does not wait for why it does not, by name; nil: it waits for all.
	Needless func(nodes []corev1.Node, all []certificatesv1.CertificateSigningRequest) map[string]message.Text
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

func (o Options) waived(id string) bool { return o.Waived != nil && o.Waived(id) }

// Judge turns a look into checks, the most basic first. It is pure, but for what Options.Needless reads of the kubelet's files.
func Judge(s *State, o Options) []check.Check {
	checks := []check.Check{
		judgeAPI(s),
		judgeAccess(s),
		judgeVersion(s, o),
		judgeOperators(s, o),
		judgeOptionalOperators(s),
		judgeOperatorVersions(s),
		judgeNode(s),
		judgeGateway(s),
		judgeWayOut(s),
		judgePressure(s),
		judgeSchedulable(s),
		judgePools(s, o),
		judgeEtcd(s, o),
		judgeStaticPods(s, o),
		judgePods(s),
		judgeImages(s),
		judgeCSRs(s, o),
		judgeRoutes(s, o),
		judgeNames(s),
	}
	for _, site := range sites {
		checks = append(checks, judgeSite(s, site))
	}
	return append(checks,
		judgeControllers(s),
		judgeStorage(s),
		judgeRouters(s),
		judgeAPIServices(s),
		judgeWebhooks(s),
		judgeLatency(s),
		judgeNamesAgree(s, o),
		judgeAddressesAgree(s),
		judgeUnits(s),
		judgeOLM(s),
		judgeOptional(s),
		judgeEvents(s),
		judgeAlerts(s),
		judgeServed(s, "cert-api", message.T("Certificate of the API's own name")),
		judgeServed(s, "cert-api-new", message.T("Certificate of the API's new name")),
		judgeServed(s, "cert-apps", message.T("Certificate of the web consoles (*.apps)")),
		judgeRotating(s),
	)
}

// Bad returns the checks that stand in the way: those that failed and that nobody took responsibility for.
func Bad(checks []check.Check, o Options) []check.Check {
	var bad []check.Check
	for _, c := range checks {
		if c.Status == check.Fail && !o.waived(c.ID) {
			bad = append(bad, c)
		}
	}
	return bad
}

// ahead is how far apart the clocks of a healthy cluster and of whoever looks at it may be.
const ahead = 5 * time.Minute

const forever = time.Duration(math.MaxInt64)

// age is how long ago something was. What is said to be further in the future is from before the clock was set back: how long ago that
// was is not known, and counts as forever.
func (s *State) age(t time.Time) time.Duration {
	age := s.At.Sub(t)
	if age < -ahead {
		return forever
	}
	return max(0, age)
}

// unread is the verdict on what could not be read. Behind an API that does not answer all else is a consequence and
// only skipped; so is what this cluster does not have.
func unread(s *State, c check.Check, what string) (check.Check, bool) {
	err := s.Errors[what]
	switch {
	case s.Away != nil:
		c.Status, c.Observed, c.Fix = check.Skip, message.T("not checked: the cluster's API does not answer"), message.Text{}
	case err == nil:
		return c, false
	case missing(err):
		c.Status, c.Observed, c.Fix = check.Skip, message.T("not checked: this cluster has none"), message.Text{}
	default:
		c.Status, c.Observed = check.Fail, message.F("could not be read: %s", message.Detail(err))
		c.Fix = message.T("Wait until the cluster's API answers steadily, then look again.")
	}
	return c, true
}

// found gives c the status bad when there is something to find fault with.
func found(c check.Check, bad check.Status, faults []message.Text, fine message.Text) check.Check {
	if len(faults) == 0 {
		c.Status, c.Observed, c.Fix = check.Pass, fine, message.Text{}
		return c
	}
	c.Status, c.Observed = bad, shortList(faults)
	c.Evidence = append(c.Evidence, faults...)
	return c
}

// faults are what speaks against a cluster: what stands in the way, and what only deserves attention.
type faults struct{ grave, light []message.Text }

// add notes a fault.
func (f *faults) add(grave bool, text message.Text) {
	if grave {
		f.grave = append(f.grave, text)
	} else {
		f.light = append(f.light, text)
	}
}

// judge fails or warns for the worst of the faults; fine is said when there is none.
func (f *faults) judge(c check.Check, fine message.Text) check.Check {
	sorted(f.grave)
	sorted(f.light)
	if len(f.grave) == 0 {
		return found(c, check.Warn, f.light, fine)
	}
	return found(c, check.Fail, append(f.grave, f.light...), message.Text{})
}

// judgeOf is judge for n objects; where there are none, this cluster lacks them.
func (f *faults) judgeOf(c check.Check, n int, fine message.Text) check.Check {
	if n == 0 {
		return absent(c)
	}
	return f.judge(c, message.F("%d, %s", n, fine))
}

// shortList keeps a line readable; the whole list is evidence.
func shortList(items []message.Text) message.Text {
	const most = 3
	if len(items) <= most {
		return message.Join(items, "; ")
	}
	return message.F("%s; and %d more", message.Join(items[:most], "; "), len(items)-most)
}

// names are a list of names as shortList takes it.
func names(all []string) []message.Text {
	texts := make([]message.Text, len(all))
	for i, name := range all {
		texts[i] = message.Data(name)
	}
	return texts
}

// sorted puts texts in the order of their English.
func sorted(texts []message.Text) {
	message.Sort(texts)
}

// with is a text with what the cluster says about it.
func with(text message.Text, said string) message.Text {
	if said = strings.TrimRight(strings.TrimSpace(said), ": "); said == "" {
		return text
	}
	return message.F("%s: %s", text, said)
}

// said is the first line of what an error says.
func said(err error) message.Text { return message.Detail(err).Map(firstLine) }

func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(text); len(r) > 200 {
		return string(r[:200])
	}
	return text
}
