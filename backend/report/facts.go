package report

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/host"
	"touchdown/backend/kube"
)

// Facts is what the report tells of node and cluster.
type Facts struct {
	Model        string
	Internal     string       // the address by which the cluster knows its node; the site's machines cannot reach it
	Addresses    []netip.Addr // where the site's machines reach the cluster; see Reach
	Servers      []netip.Addr // the site's name servers
	Names        []string     // of what clients use: the API, the console, the login page, then all other routes
	Cluster      Cluster
	URLs         URLs
	Certificates []Certificate
	Writes       int64
	Gaps         []string // what could not be looked up, in plain sentences

	networks []netip.Prefix // of the cluster's pods and services
}

// Where says where the servers are asked for their certificates; empty is where people reach them.
type Where struct {
	API     string // host:port; "" is the kubeconfig's server
	Ingress string // host:port; "" is port 443 of the node's internal address
}

// Look reads the facts. domain is the cluster's new one, or "" when it did not move. An API that is away longer than its
// timeout is an error; a certificate that does not come is a gap.
func Look(ctx context.Context, m *host.Machine, c *kube.Cluster, domain string, at Where) (Facts, error) {
	f := Facts{Model: model(m), Certificates: []Certificate{}}
	err := c.Do(ctx, "reading the cluster's identity", func(ctx context.Context) error {
		get := metav1.GetOptions{}
		version, err := c.Config.ClusterVersions().Get(ctx, "version", get)
		if err != nil {
			return err
		}
		infra, err := c.Config.Infrastructures().Get(ctx, "cluster", get)
		if err != nil {
			return err
		}
		nodes, err := c.Core.Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		network, err := c.Config.Networks().Get(ctx, "cluster", get)
		if err != nil {
			return err
		}
		f.Cluster = Cluster{ID: string(version.Spec.ClusterID), Version: version.Status.Desired.Version, OldDomain: domainOf(infra.Status.APIServerURL)}
		f.Internal, f.networks = kube.InternalIP(nodes.Items), networks(network)
		return nil
	})
	if err != nil {
		return f, err
	}
	if f.Cluster.NewDomain = domain; domain == "" {
		f.Cluster.NewDomain = f.Cluster.OldDomain
	}
	f.URLs.API = "https://" + net.JoinHostPort("api."+f.Cluster.NewDomain, "6443")
	if f.URLs.Console, err = console(ctx, c, f.Cluster.NewDomain); err != nil {
		return f, err
	}
	if err := f.names(ctx, c); err != nil {
		return f, err
	}
	f.certificates(ctx, c, at)
	f.Writes = c.Writes()
	return f, nil
}

func (f *Facts) certificates(ctx context.Context, c *kube.Cluster, at Where) {
	if at.API == "" {
		at.API = c.Address()
	}
	if at.Ingress == "" {
		at.Ingress = net.JoinHostPort(f.Internal, "443")
	}
	shown := "touchdown.apps." + f.Cluster.NewDomain
	if u, err := url.Parse(f.URLs.Console); err == nil && u.Hostname() != "" {
		shown = u.Hostname()
	}
	for _, want := range []struct{ use, name, address string }{
		{"API", "api." + f.Cluster.NewDomain, at.API},
		{"Web console", shown, at.Ingress},
	} {
		served, err := kube.Probe(ctx, want.address, want.name, x509.NewCertPool(), time.Now())
		if err != nil {
			f.Gaps = append(f.Gaps, "The certificate of "+want.name+" could not be checked.")
			continue
		}
		leaf := served.Leaf()
		f.Certificates = append(f.Certificates, Certificate{
			Use: want.use, Name: want.name, Issuer: leaf.Issuer.CommonName, SHA256: served.Fingerprint(), NotAfter: leaf.NotAfter.UTC(),
		})
	}
}

// console returns where the web console is, best below domain; "" when the cluster has none.
func console(ctx context.Context, c *kube.Cluster, domain string) (string, error) {
	best := ""
	err := c.Do(ctx, "looking for the web console", func(ctx context.Context) error {
		routes, err := c.Route.Routes("openshift-console").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		best = ""
		for i := range routes.Items {
			r := &routes.Items[i]
			if r.Name != "console" && r.Name != "console-custom" {
				continue
			}
			if best == "" || strings.HasSuffix(r.Spec.Host, "."+domain) {
				best = r.Spec.Host
			}
		}
		return nil
	})
	if err != nil || best == "" {
		return "", err
	}
	return "https://" + best, nil
}

func domainOf(apiURL string) string {
	u, err := url.Parse(apiURL)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "api.")
}

// Reach takes the node's addresses in the site's network, or why they are unknown, and keeps those at which the cluster
// answers. Its servers listen in the families of its own networks only: a cluster that was installed with IPv4 alone refuses
// connections to an IPv6 address of its node, so a record of that address would lead nowhere.
func (f *Facts) Reach(addresses []netip.Addr, err error) {
	f.Addresses = nil
	for _, a := range addresses {
		same := func(p netip.Prefix) bool { return p.Addr().Is4() == a.Is4() }
		if len(f.networks) == 0 || slices.ContainsFunc(f.networks, same) {
			f.Addresses = append(f.Addresses, a)
		}
	}
	switch {
	case err != nil:
		f.Gaps = append(f.Gaps, "The node's addresses could not be read, so this report names no DNS records.")
	case len(f.Addresses) == 0:
		f.Gaps = append(f.Gaps, "The node has no site address at which the cluster answers, so this report names no DNS records.")
	}
}

// networks are the subnets of pods and services. OpenShift's API server takes its families from the one, its router from the
// other; a cluster has both in the same families.
func networks(n *configv1.Network) []netip.Prefix {
	texts := slices.Clone(n.Status.ServiceNetwork)
	for _, c := range n.Status.ClusterNetwork {
		texts = append(texts, c.CIDR)
	}
	var all []netip.Prefix
	for _, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, p)
		}
	}
	return all
}

func model(m *host.Machine) string {
	var words []string
	for _, file := range []string{"sys_vendor", "product_name"} {
		if b, err := m.ReadFile("/sys/class/dmi/id/" + file); err == nil {
			words = append(words, strings.TrimSpace(string(b)))
		}
	}
	return strings.Join(words, " ")
}
