package steps

import (
	"context"
	"fmt"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/csr"
	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/kubelet"
	"touchdown/backend/message"
)

// nodeCSRs approves the kubelet's certificate requests when the node's certificates have expired in storage. Nothing else in
// the cluster would: its approver refuses a node that exists already.
type nodeCSRs struct {
	Limit time.Duration // zero: 20 minutes; a control plane with expired certificates takes up to ten to recover
}

var (
	_ Inspector = (*nodeCSRs)(nil)
	_ Planner   = (*nodeCSRs)(nil)
)

// ID names the step in the journal.
func (*nodeCSRs) ID() string { return "csrs" }

// Title says what the step does.
func (*nodeCSRs) Title() message.Text { return message.T("Renew the node's certificates") }

// Inspect tells whether the node's certificates are good, and who else asks for one.
func (s *nodeCSRs) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	ch := check.Check{ID: "node-certs", Title: message.T("Certificates of the node"), Status: check.Pass, Observed: message.T("good")}
	if !host.HasKubelet(node.Host) {
		ch.Status, ch.Observed = check.Skip, message.T("this machine is not the cluster's node")
	} else if why := csr.Files(node.Host, node.Now()); why.String() != "" {
		ch.Status, ch.Observed = check.Warn, why
		ch.Fix = message.T("None needed: Touchdown approves the node's own requests. Check that the clock is right.")
	}
	report.Check(ch)
	c := node.Kube.Within(formTimeout)
	if e, err := s.self(ctx, node, c); err == nil {
		if _, left, err := csr.Look(ctx, c, e); err == nil {
			report.Check(strangers(left))
		}
	}
	return nil
}

// Plan tells that requests will be approved, which cannot be taken back.
func (s *nodeCSRs) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	if why := csr.Files(node.Host, node.Now()); why.String() != "" {
		return Plan{
			Changes:   []Change{{What: message.T("Certificates of the node"), Old: why, New: message.T("renewed")}},
			Permanent: []message.Text{message.T("An approved certificate request stays approved.")}, Seconds: renewSeconds,
		}, nil
	}
	return Plan{}, nil
}

// Run approves until the kubelet has good certificates on disk, none of its own requests waits, and the node works: a kubelet asks
// again after it is Ready.
func (s *nodeCSRs) Run(ctx context.Context, node *backend.Node, report Report) error {
	c := node.Kube.WithProgress(report.Progress)
	limit := s.Limit
	if limit == 0 {
		limit = 20 * time.Minute
	}
	c = c.Within(max(limit, c.Pace.Limit))
	w := kube.Wait{
		What: message.T("renewing the node's certificates"), Limit: limit, Usual: 10 * time.Minute, Code: "CSR-LATE",
		Fix: message.T("Check the node's clock and that the service kubelet runs. If a request is still to be signed, leave the node on: the cluster renews its own signer. Then retry."),
	}
	approved := int64(0)
	err := c.Until(ctx, w, func(ctx context.Context) (kube.Progress, bool, error) {
		e, err := s.self(ctx, node, c)
		if err != nil {
			return kube.Progress{}, false, err
		}
		out, err := csr.Approve(ctx, c, e)
		if err != nil {
			return kube.Progress{}, false, fmt.Errorf("approving certificate requests: %w", err)
		}
		for _, name := range out.Approved {
			report.Say(message.F("Approved the node's own certificate request %s.", name))
		}
		approved += int64(len(out.Approved))
		report.Check(strangers(out.Left))
		p := kube.Progress{Done: approved, Unit: "requests"}
		waiting, err := s.waiting(ctx, node, c, e, len(out.Approved) > 0)
		p.Waiting = waiting
		return p, err == nil && p.Waiting.String() == "", err
	})
	if err != nil || approved == 0 {
		return err
	}
	return s.misled(ctx, node, c, report)
}

// misled tells of approved requests that were perhaps not the kubelet's: its key is in its memory only, and every machine that
// has the bootstrap token can ask for the same while the node's certificate is expired.
func (s *nodeCSRs) misled(ctx context.Context, node *backend.Node, c *kube.Cluster, report Report) error {
	e, err := s.self(ctx, node, c)
	if err != nil {
		return err
	}
	all, err := csr.Misled(ctx, c, node.Host, e)
	if err != nil {
		return fmt.Errorf("comparing the kubelet's certificates with the approved requests: %w", err)
	}
	ch := check.Check{ID: "csr-key", Title: message.T("Approved certificate requests"), Status: check.Pass, Observed: message.T("the kubelet has their certificates")}
	if len(all) > 0 {
		ch.Status, ch.Observed = check.Warn, message.F("%d of them are for a key that the kubelet does not have", len(all))
		ch.Fix = message.T("If the kubelet did not restart meanwhile, someone else holds a certificate of this node: have the cluster's signer of client certificates renewed.")
		ch.Evidence = firstOf(all)
	}
	report.Check(ch)
	return nil
}

// waiting names what the node lacks; "" when it works with good certificates and asks for no more.
func (s *nodeCSRs) waiting(ctx context.Context, node *backend.Node, c *kube.Cluster, e csr.Expect, approved bool) (message.Text, error) {
	if why := csr.Files(node.Host, node.Now()); why.String() != "" {
		unsigned, err := csr.Unsigned(ctx, c, e)
		if err != nil {
			return message.Text{}, fmt.Errorf("looking for requests that are not signed: %w", err)
		}
		if unsigned.String() != "" {
			return unsigned, nil
		}
		return message.F("new certificates: %s", why), nil
	}
	if approved {
		return message.T("the kubelet to take its certificates"), nil
	}
	return kubelet.Unready(ctx, c, e.Node, node.Now())
}

func (s *nodeCSRs) self(ctx context.Context, node *backend.Node, c *kube.Cluster) (csr.Expect, error) {
	hostname, err := node.Host.Hostname()
	if err != nil {
		return csr.Expect{}, fmt.Errorf("reading the node's name: %w", err)
	}
	e, _, err := csr.Self(ctx, c, hostname)
	if err != nil {
		return csr.Expect{}, fmt.Errorf("looking for this node: %w", err)
	}
	return expecting(node, e), nil
}

// expecting adds what the node itself knows.
func expecting(node *backend.Node, e csr.Expect) csr.Expect {
	e.Now = node.Now()
	e.Kubelet = csr.ReadKubelet(node.Host, e.Node, e.Now)
	return e
}

// needless tells, of what a look at the cluster's health found, which requests Run leaves alone: they are in nobody's way.
func needless(node *backend.Node) func([]corev1.Node, []certificatesv1.CertificateSigningRequest) map[string]message.Text {
	return func(nodes []corev1.Node, all []certificatesv1.CertificateSigningRequest) map[string]message.Text {
		hostname, err := node.Host.Hostname()
		if err != nil {
			return nil
		}
		e, _ := csr.SelfOf(nodes, hostname)
		return csr.Needless(all, expecting(node, e))
	}
}

// strangers lists the requests that are not this node's own.
func strangers(left []csr.Left) check.Check {
	ch := check.Check{ID: "csr-left", Title: message.T("Certificate requests of others"), Status: check.Pass, Observed: message.T("none")}
	if len(left) == 0 {
		return ch
	}
	ch.Status, ch.Observed = check.Warn, message.N(len(left), "%d waits and is left alone", "%d wait and are left alone")
	ch.Fix = message.T("Ask the cluster's administrator to look at them, and to deny any that have no explanation.")
	var all []message.Text
	for _, l := range left {
		all = append(all, message.F("%s: %s", l.Name, l.Reason))
	}
	ch.Evidence = firstOf(all)
	return ch
}

// firstOf keeps a list that strangers can make as long as they like short.
func firstOf(all []message.Text) []message.Text {
	const most = 20
	if len(all) <= most {
		return all
	}
	return append(all[:most:most], message.F("and %d more", len(all)-most))
}
