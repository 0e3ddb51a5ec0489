// Package domain moves the cluster's names: it adds the new ones beside the old, waits for the operators that roll them out,
// and resets the routes whose hosts the cluster chose itself.
package domain

import (
	"context"
	"net"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// component is a route whose host the cluster configuration names.
type component struct{ namespace, name, host string }

// components are the three that the Ingress configuration of every supported release knows.
var components = []component{
	{"openshift-console", "console", "console-openshift-console"},
	{"openshift-console", "downloads", "downloads-openshift-console"},
	{"openshift-authentication", "oauth-openshift", "oauth-openshift"},
}

// API is the name of the API in a domain.
func API(domain string) string { return "api." + domain }

// Apps is the domain of the applications in a domain.
func Apps(domain string) string { return "apps." + domain }

// Console is the host of the console in a domain.
func Console(domain string) string { return components[0].host + "." + Apps(domain) }

// Now is what the cluster is called at the moment.
type Now struct {
	Factory string // the domain that it was installed with; it stays
	OldApps string // the apps domain that it was installed with
	Domain  string // the domain under which new routes appear: Factory, or one it was moved to
	NodeIP  string // the node's internal address
	Router  string // host:port where the apps are served
	API     string // host:port where this node talks to the API
}

// Read asks the cluster for its names.
func Read(ctx context.Context, c *kube.Cluster) (Now, error) {
	now := Now{API: c.Address()}
	err := c.Do(ctx, "reading the cluster's names", func(ctx context.Context) error {
		dns, err := c.Config.DNSes().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		ingress, err := c.Config.Ingresses().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		nodes, err := c.Core.Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		now.Factory, now.OldApps = dns.Spec.BaseDomain, ingress.Spec.Domain
		now.Domain = now.Factory
		if moved, ok := strings.CutPrefix(ingress.Spec.AppsDomain, "apps."); ok {
			now.Domain = moved
		}
		now.NodeIP = kube.InternalIP(nodes.Items)
		return nil
	})
	if err != nil {
		return now, err
	}
	if now.NodeIP == "" {
		now.NodeIP, _, _ = net.SplitHostPort(now.API)
	}
	now.Router = net.JoinHostPort(now.NodeIP, "443")
	if now.OldApps == "" {
		return now, &problem.Problem{
			Code:    "CLU-NAME",
			Summary: message.T("The cluster does not say under which domain it was installed."),
			Fix:     message.T("Check that the cluster's installation was finished before it was shipped."),
		}
	}
	return now, nil
}
