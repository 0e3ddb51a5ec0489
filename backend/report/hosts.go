package report

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	routev1 "github.com/openshift/api/route/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"touchdown/backend/kube"
)

// maxNames is how many names hosts lines are made for: more than the cluster has itself (about 10), and few enough to type.
const maxNames = 100

// names looks up what clients call the cluster: a hosts file knows no wildcards, so each route needs its own line.
func (f *Facts) names(ctx context.Context, c *kube.Cluster) error {
	var routes []routev1.Route
	err := c.Do(ctx, "listing the names that clients use", func(ctx context.Context) error {
		list, err := c.Route.Routes(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		routes = list.Items
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(routes, func(a, b routev1.Route) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), strings.Compare(a.Spec.Host, b.Spec.Host))
	})
	f.Names = []string{"api." + f.Cluster.NewDomain}
	for i := range routes {
		for _, host := range hosts(&routes[i]) {
			if f.shown(host, rank(&routes[i])) && !slices.Contains(f.Names, host) {
				f.Names = append(f.Names, host)
			}
		}
	}
	if more := len(f.Names) - maxNames; more > 0 {
		f.Names = f.Names[:maxNames]
		f.Gaps = append(f.Gaps, fmt.Sprintf("The cluster has %d more routes than this report has hosts lines.", more))
	}
	return nil
}

// rank puts what a person opens first: the console, then the login page that it leads to.
func rank(r *routev1.Route) int {
	switch r.Namespace {
	case "openshift-console":
		return 0
	case "openshift-authentication":
		return 1
	}
	return 2
}

// hosts are the names of a route: its own, or those that the router gave it.
func hosts(r *routev1.Route) []string {
	if r.Spec.Host != "" {
		return []string{r.Spec.Host}
	}
	var all []string
	for _, in := range r.Status.Ingress {
		all = append(all, in.Host)
	}
	return all
}

// shown reports whether clients use a host: one below the cluster's current name, or one that the owner chose for console and
// login. Those below the name of the factory are for the cluster itself.
func (f *Facts) shown(host string, rank int) bool {
	switch {
	case len(validation.IsDNS1123Subdomain(host)) > 0: // nothing but a name gets into the file
		return false
	case strings.HasSuffix(host, "."+f.Cluster.NewDomain):
		return true
	}
	return rank < 2 && !strings.HasSuffix(host, "."+f.Cluster.OldDomain)
}

// Hosts are the lines of a hosts file by which clients without a DNS server find a node that the site reaches at these addresses.
func Hosts(names []string, addresses []netip.Addr) []string {
	lines := []string{}
	for _, a := range addresses {
		for _, name := range names {
			lines = append(lines, a.String()+" "+name)
		}
	}
	return lines
}

// HostsText is the file for the site's clients. It can be appended to a hosts file unchanged: what is not a hosts line is a comment.
func (d *Document) HostsText() []byte {
	var out strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&out, format+"\n", a...) }
	line("# OpenShift cluster %s, node %s, by Touchdown, %s.", d.Cluster.NewDomain, d.Node.Hostname, d.Made.UTC().Format(time.DateOnly))
	if len(d.NameServers) == 0 {
		line("# The site has no DNS server: add these lines to the hosts file of each client.")
	} else {
		line("# Not needed where the site's DNS server has the records below.")
	}
	line(`# Linux, macOS: /etc/hosts. Windows: C:\Windows\System32\drivers\etc\hosts.`)
	line("# A route that is made later needs its own line.")
	for _, l := range d.Hosts {
		line("%s", l)
	}
	line("#")
	line("# Records for a DNS server, as its zone file has them:")
	for _, r := range d.DNS {
		if !r.Optional {
			line("# %s. IN %s %s", r.Name, r.Type, r.Value)
		}
	}
	return []byte(ascii(out.String()))
}

// hostsLine is a line for people. A name that is too long for one line stays in one piece below its address.
func hostsLine(text string) string {
	if len(text)+2 <= width {
		return "  " + ascii(text)
	}
	address, name, _ := strings.Cut(text, " ")
	return para(2, address) + "\n" + para(6, name)
}

func texts(addresses []netip.Addr) []string {
	all := []string{}
	for _, a := range addresses {
		all = append(all, a.String())
	}
	return all
}
