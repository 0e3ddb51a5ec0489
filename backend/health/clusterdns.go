package health

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// aheadTime bounds the question to what answers for a name elsewhere: one that is away must not hold up a look.
const aheadTime = 3 * time.Second

// hostCIDRs is where OVN-Kubernetes notes all addresses of a node, as a JSON list of prefixes.
const hostCIDRs = "k8s.ovn.org/host-cidrs"

// Names is what the cluster's own name server says, the one that pods ask.
type Names struct {
	Server  string       // host:port
	Skip    message.Text // why nobody asked
	Want    []netip.Addr
	Answers []NameAnswer
}

// NameAnswer is one name and what it leads to.
type NameAnswer struct {
	Name  string
	Addrs []netip.Addr
	Err   error
	Ahead Ahead // where none of the addresses is the node's
}

// Ahead is what answers for a name at an address that is not the node's: a load balancer before it, or another machine.
type Ahead struct {
	Same bool  // it shows the certificate of the node itself, so it passes on to the node
	Good bool  // its certificate is good for the name
	Why  error // why it is not, or why none came
}

// askNames asks as a pod would: at the address of the cluster's DNS service, which a node reaches as its pods do. Behind it are
// CoreDNS and, for names outside the cluster, the name servers of the node (openshift/cluster-dns-operator,
// pkg/operator/controller/controller_dns_configmap.go: forward . /etc/resolv.conf). The authentication operator is unavailable
// while its pod cannot resolve the login page's name (openshift/cluster-authentication-operator,
// pkg/controllers/oauthendpoints).
func (s *State) askNames(ctx context.Context, c *kube.Cluster, o Options) {
	domain := o.Domain
	if domain == "" {
		domain = strings.TrimPrefix(apiHost(s.Infra), "api.")
	}
	if s.Names.Server = o.DNS; o.DNS == "" {
		s.Names.Server = s.dnsService(ctx, c)
	}
	s.Names.Want = nodeAddresses(s.Nodes)
	switch {
	case s.Names.Skip != (message.Text{}):
		return
	case s.Names.Server == "":
		s.Names.Skip = message.T("the cluster has no DNS service (DNS default has no clusterIP)")
	case domain == "":
		s.Names.Skip = message.T("the cluster's domain is not known")
	case len(s.Names.Want) == 0:
		s.Names.Skip = message.T("the node's address is not known")
	}
	if s.Names.Skip != (message.Text{}) {
		return
	}
	login := s.host(sites[1], domain)
	if login == "" {
		login = "oauth-openshift.apps." + domain
	}
	api, ingress := o.servers(c, s)
	for _, n := range []struct{ name, own, port string }{{login, ingress, "443"}, {"api." + domain, api, apiPort(s.Infra)}} {
		a := NameAnswer{Name: n.name}
		if a.Addrs, a.Err = host.Resolve(ctx, s.Names.Server, n.name); len(a.Addrs) > 0 && !s.Names.here(a.Addrs) {
			a.Ahead = lookAhead(ctx, net.JoinHostPort(a.Addrs[0].String(), n.port), n.own, n.name, o.trusted(c), s.At)
		}
		s.Names.Answers = append(s.Names.Answers, a)
	}
}

// here tells whether one of the addresses is the node's.
func (n Names) here(addrs []netip.Addr) bool {
	return slices.ContainsFunc(addrs, func(a netip.Addr) bool { return slices.Contains(n.Want, a) })
}

// lookAhead asks what answers for a name elsewhere, and the node itself for the same name.
func lookAhead(ctx context.Context, there, own, name string, roots *x509.CertPool, at time.Time) Ahead {
	ctx, cancel := context.WithTimeout(ctx, aheadTime)
	defer cancel()
	shown, err := kube.Probe(ctx, there, name, roots, at)
	if err != nil {
		return Ahead{Why: err}
	}
	mine, err := kube.Probe(ctx, own, name, roots, at)
	return Ahead{Good: shown.Trust == nil, Why: shown.Trust, Same: err == nil && mine.Leaf().Equal(shown.Leaf())}
}

// dnsService is the address of the cluster's DNS service; "" where there is none.
func (s *State) dnsService(ctx context.Context, c *kube.Cluster) string {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	d, err := c.Operator.DNSes().Get(ctx, "default", metav1.GetOptions{})
	switch {
	case err != nil && !missing(err):
		s.Errors["dns"] = err
		s.Names.Skip = message.T("the DNS operator could not be read")
		return ""
	case err != nil || d.Status.ClusterIP == "":
		return ""
	}
	return net.JoinHostPort(d.Status.ClusterIP, "53")
}

// nodeAddresses are all by which the cluster knows its nodes.
func nodeAddresses(nodes []corev1.Node) []netip.Addr {
	var all []netip.Addr
	for i := range nodes {
		for _, a := range nodes[i].Status.Addresses {
			if addr, err := netip.ParseAddr(a.Address); err == nil && (a.Type == corev1.NodeInternalIP || a.Type == corev1.NodeExternalIP) {
				all = append(all, addr)
			}
		}
		for prefix := range strings.SplitSeq(strings.Trim(nodes[i].Annotations[hostCIDRs], "[]"), ",") {
			if p, err := netip.ParsePrefix(strings.Trim(prefix, `" `)); err == nil {
				all = append(all, p.Addr())
			}
		}
	}
	return all
}

// told is the answer with all that went wrong, for an engineer.
func (a NameAnswer) told() message.Text {
	parts := []message.Text{message.F("%s: %s", a.Name, fmt.Sprint(a.Addrs))}
	for _, err := range []error{a.Err, a.Ahead.Why} {
		if err != nil {
			parts = append(parts, message.Detail(err))
		}
	}
	return message.Join(parts, "; ")
}

func judgeNames(s *State) check.Check {
	c := check.Check{
		ID: "cluster-dns", Title: message.T("Names inside the cluster (DNS as pods see it)"), Expected: message.T("the login page's and the API's name lead to this node"),
		Source: message.T("DNS query to the cluster's DNS service; the authentication operator needs it"),
		Fix:    message.T("Wait a minute: CoreDNS keeps an answer \"no such name\" for 30 s. If it stays, restart the pods of openshift-dns: they have the node's name servers from their start."),
	}
	if c, no := unread(s, c, "dns"); no {
		return c
	}
	if s.Names.Skip != (message.Text{}) {
		c.Status, c.Observed, c.Fix = check.Skip, message.F("not checked: %s", s.Names.Skip), message.Text{}
		return c
	}
	var f faults
	var fine []message.Text
	for _, a := range s.Names.Answers {
		c.Evidence = append(c.Evidence, a.told())
		switch {
		case a.Err != nil:
			f.add(true, message.F("%s: %s", a.Name, said(a.Err)))
		case len(a.Addrs) == 0:
			f.add(true, message.F("%s has no address", a.Name))
		case s.Names.here(a.Addrs):
			fine = append(fine, message.F("%s is %s", a.Name, joined(a.Addrs)))
		case a.Ahead.Same:
			fine = append(fine, message.F("%s is %s, which passes on to this node", a.Name, joined(a.Addrs)))
		case a.Ahead.Good:
			f.add(false, message.F("%s leads to %s, which is not this node (%s), but shows a certificate that is good for the name", a.Name, joined(a.Addrs), joined(s.Names.Want)))
		default:
			f.add(true, message.F("%s leads to %s, which is not this node (%s)", a.Name, joined(a.Addrs), joined(s.Names.Want)))
		}
	}
	if len(s.Names.Answers) == 0 {
		return absent(c)
	}
	sorted(fine)
	return f.judge(c, message.Join(fine, "; "))
}

func joined(addrs []netip.Addr) string {
	var all []string
	for _, a := range addrs {
		all = append(all, a.String())
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}
