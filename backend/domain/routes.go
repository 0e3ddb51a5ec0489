package domain

import (
	"context"
	"slices"
	"strings"

	routev1 "github.com/openshift/api/route/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/backend/kube"
)

// Kind says what may be done with a route.
type Kind string

// The kinds of route. Only Owned and Generated ones are ever touched.
const (
	Fine      Kind = "fine"      // has a host of the new domain
	Owned     Kind = "owned"     // an operator makes it again when it is deleted
	Generated Kind = "generated" // the cluster chose its host; made again, it gets one of the new domain
	Custom    Kind = "custom"    // someone chose its host
	Moved     Kind = "moved"     // not ours: its operator moves it, or serves it elsewhere
	Bound     Kind = "bound"     // has a subdomain, to which the router appends its own domain; that domain never changes
)

// generated marks a route whose host the cluster chose.
const generated = "openshift.io/host.generated"

// Route is a route as far as moving the names goes.
type Route struct {
	Namespace, Name, Host string
	UID                   types.UID
	Kind                  Kind
}

// String is how a technician can tell the route to the one who owns it.
func (r Route) String() string { return r.Namespace + "/" + r.Name + " (" + r.Host + ")" }

func (r Route) ref() kube.Ref { return kube.Route(r.Namespace, r.Name) }

// left are the namespaces whose operators move their routes by the ingress configuration, or never do and make the old host
// again. The canary's route has a subdomain, and its operator deletes one that has a host.
var left = []string{"openshift-console", "openshift-authentication", "openshift-ingress-canary", "open-cluster-management-agent-addon"}

// known are operators' routes in whose manifests the host is empty although they lack the mark.
var known = []string{
	"openshift-monitoring/alertmanager-main", "openshift-monitoring/prometheus-k8s", "openshift-monitoring/prometheus-k8s-federate",
	"openshift-monitoring/thanos-querier",
}

// Routes lists the cluster's routes and what may be done with each when the names move to domain.
func Routes(ctx context.Context, c *kube.Cluster, now Now, domain string) ([]Route, error) {
	var items []routev1.Route
	err := c.Do(ctx, "listing the routes", func(ctx context.Context) error {
		list, err := c.Route.Routes(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err == nil {
			items = list.Items
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]Route, 0, len(items))
	for i := range items {
		out = append(out, Route{items[i].Namespace, items[i].Name, host(&items[i]), items[i].UID, classify(&items[i], now, domain)})
	}
	slices.SortFunc(out, func(a, b Route) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return out, nil
}

func classify(r *routev1.Route, now Now, domain string) Kind {
	owned := r.Namespace == "openshift" || strings.HasPrefix(r.Namespace, "openshift-") || len(r.OwnerReferences) > 0
	chosen := r.Annotations[generated] == "true"
	old := below(r.Spec.Host, now.OldApps) || below(r.Spec.Host, Apps(now.Domain))
	switch {
	case below(r.Spec.Host, Apps(domain)):
		return Fine
	case slices.Contains(left, r.Namespace), !byDefaultRouter(r):
		return Moved
	case bound(r):
		return Bound
	case r.Spec.Host == "":
		return Moved
	case chosen && owned, old && slices.Contains(known, r.Namespace+"/"+r.Name):
		return Owned
	case chosen:
		return Generated
	}
	return Custom
}

func bound(r *routev1.Route) bool { return r.Spec.Host == "" && r.Spec.Subdomain != "" }

// host is what a route is served under; of one with a subdomain only the router's status tells it.
func host(r *routev1.Route) string {
	if !bound(r) {
		return r.Spec.Host
	}
	for _, in := range r.Status.Ingress {
		if in.RouterName == "default" && in.Host != "" {
			return in.Host
		}
	}
	return r.Spec.Subdomain
}

func below(host, domain string) bool { return domain != "" && strings.HasSuffix(host, "."+domain) }

// byDefaultRouter is true also for a route that no router has looked at yet.
func byDefaultRouter(r *routev1.Route) bool {
	return len(r.Status.Ingress) == 0 || slices.ContainsFunc(r.Status.Ingress, func(i routev1.RouteIngress) bool {
		return i.RouterName == "default"
	})
}
