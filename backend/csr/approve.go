package csr

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// Left is a pending request that was not approved.
type Left struct {
	Name   string
	Reason message.Text
}

// Outcome is what one look at the requests led to.
type Outcome struct {
	Approved []string
	Left     []Left
}

// Self returns what this node's requests look like, from the cluster's one Node. hostname decides where there are several or
// none yet.
func Self(ctx context.Context, c *kube.Cluster, hostname string) (Expect, *corev1.Node, error) {
	var nodes []corev1.Node
	err := c.Do(ctx, "reading the cluster's nodes", func(ctx context.Context) error {
		list, err := c.Core.Nodes().List(ctx, metav1.ListOptions{})
		if err == nil {
			nodes = list.Items
		}
		return err
	})
	if err != nil {
		return Expect{}, nil, err
	}
	e, node := SelfOf(nodes, hostname)
	return e, node, nil
}

// SelfOf is Self of nodes that have been read.
func SelfOf(nodes []corev1.Node, hostname string) (Expect, *corev1.Node) {
	if i := slices.IndexFunc(nodes, func(n corev1.Node) bool { return n.Name == hostname }); i >= 0 {
		return expect(&nodes[i]), &nodes[i]
	}
	if len(nodes) == 1 {
		return expect(&nodes[0]), &nodes[0]
	}
	return Expect{Node: hostname}, nil
}

func expect(node *corev1.Node) Expect {
	e := Expect{Node: node.Name}
	for _, a := range node.Status.Addresses {
		e.Addresses = append(e.Addresses, a.Address)
	}
	return e
}

func list(ctx context.Context, c *kube.Cluster) (items []certificatesv1.CertificateSigningRequest, err error) {
	err = c.Do(ctx, "listing certificate requests", func(ctx context.Context) error {
		list, err := c.Certificates.CertificateSigningRequests().List(ctx, metav1.ListOptions{})
		if err == nil {
			items = list.Items
		}
		return err
	})
	return items, err
}

// verdict is what a request, decided or not, is to this node's kubelet.
type verdict struct {
	own     bool         // the kubelet waits for its certificate
	foreign bool         // it is not the kubelet's
	why     message.Text // why it is not waited for
}

func verdicts(all []certificatesv1.CertificateSigningRequest, e Expect) []verdict {
	out, why := make([]verdict, len(all)), make([]error, len(all)) // once for each: to check a signature takes time
	for i := range all {
		why[i] = foreign(&all[i], e)
	}
	for i := range all {
		switch {
		case e.Kubelet.leftOver(&all[i], why[i]):
			out[i].why = message.T("the kubelet has got its certificate since")
		case why[i] != nil:
			out[i] = verdict{foreign: true, why: message.Detail(why[i])}
		case superseded(i, all, why, e.now()):
			out[i].why = message.T("the kubelet has asked again since")
		default:
			out[i].own = true
		}
	}
	return out
}

// Look decides every pending request and changes nothing.
func Look(ctx context.Context, c *kube.Cluster, e Expect) (own []string, left []Left, err error) {
	items, err := list(ctx, c)
	for i, v := range verdicts(items, e) {
		switch {
		case decided(&items[i]):
		case v.own:
			own = append(own, items[i].Name)
		case v.foreign:
			left = append(left, Left{items[i].Name, v.why})
		}
	}
	return own, left, err
}

// Needless says of those requests that this node's kubelet does not wait for why it does not, by name: someone else's, and those for a key
// that it no longer has. They may be decided or not.
func Needless(all []certificatesv1.CertificateSigningRequest, e Expect) map[string]message.Text {
	why := map[string]message.Text{}
	for i, v := range verdicts(all, e) {
		if !v.own {
			why[all[i].Name] = v.why
		}
	}
	return why
}

// superseded tells whether the same kubelet has asked again since. It forgets the key of an older request, so approving that
// would only make a certificate that nobody has the key of; after a jump of the clock the first request is for the old time. One
// that seems to come from the future is left over from a wrong clock and supersedes nothing; nor does one of another node, which
// asks as the same bootstrap user.
func superseded(n int, all []certificatesv1.CertificateSigningRequest, why []error, now time.Time) bool {
	r := &all[n]
	for i := range all {
		o := &all[i]
		if why[i] == nil && o.Spec.SignerName == r.Spec.SignerName && o.Spec.Username == r.Spec.Username &&
			o.CreationTimestamp.After(r.CreationTimestamp.Time) && !o.CreationTimestamp.After(now.Add(time.Minute)) {
			return true
		}
	}
	return false
}

// Approve approves the pending requests that are this node's own and lists the others.
func Approve(ctx context.Context, c *kube.Cluster, e Expect) (Outcome, error) {
	own, left, err := Look(ctx, c, e)
	out := Outcome{Left: left}
	if err != nil {
		return out, err
	}
	for _, name := range own {
		approved, why, err := approveOne(ctx, c, name, e)
		switch {
		case err != nil:
			return out, err
		case why != nil:
			out.Left = append(out.Left, Left{name, message.Detail(why)})
		case approved:
			out.Approved = append(out.Approved, name)
		}
	}
	return out, nil
}

// approveOne decides on the very version that it approves: the API refuses when the request changed in between. One that was decided or
// removed since the list was read, as the controller manager does with each after a day at most, needs no decision any more.
func approveOne(ctx context.Context, c *kube.Cluster, name string, e Expect) (approved bool, why, err error) {
	err = c.Do(ctx, "approving certificate request "+name, func(ctx context.Context) error {
		r, err := c.Certificates.CertificateSigningRequests().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if approved = approvedByUs(r); approved || decided(r) { // by us: the answer to an earlier try was lost
			return nil
		}
		if why = Decide(r, e); why != nil {
			return nil // a verdict, no failure
		}
		r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue,
			Reason: "TouchdownApprove", Message: "Asked for by this node's own kubelet.",
		})
		_, err = c.Certificates.CertificateSigningRequests().UpdateApproval(ctx, name, r, metav1.UpdateOptions{})
		approved = err == nil
		return err
	})
	if apierrors.IsNotFound(err) {
		return false, nil, nil
	}
	return approved, why, err
}

func approvedByUs(r *certificatesv1.CertificateSigningRequest) bool {
	return slices.ContainsFunc(r.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
		return c.Type == certificatesv1.CertificateApproved && c.Reason == "TouchdownApprove"
	})
}

// margin is how long a file's certificate must still be good; CI's openssl -checkend uses the same.
const margin = 30 * time.Second

// Files says which of the kubelet's certificates on disk is not good now; "" when both are. Approved requests prove nothing:
// after a jump of the clock the kubelet asks for the old time first and then again.
func Files(m *host.Machine, now time.Time) message.Text {
	if !host.HasKubelet(m) {
		return message.Text{}
	}
	var bad []message.Text
	for _, kind := range []string{"client", "server"} {
		b, err := m.ReadFile(pki + "/kubelet-" + kind + "-current.pem")
		if err != nil {
			bad = append(bad, message.F("the kubelet has no %s certificate", kind))
			continue
		}
		if why := goodAt(b, now); why != (message.Text{}) {
			bad = append(bad, message.F("the kubelet's %s certificate %s", kind, why))
		}
	}
	return message.Join(bad, ", ")
}

func goodAt(b []byte, now time.Time) message.Text {
	for {
		var block *pem.Block
		if block, b = pem.Decode(b); block == nil {
			return message.T("cannot be read")
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			return message.T("cannot be read")
		case now.Add(margin).After(cert.NotAfter):
			return message.T("has expired")
		case now.Before(cert.NotBefore):
			return message.T("is not yet valid")
		}
		return message.Text{}
	}
}
