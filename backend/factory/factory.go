// Package factory makes an installed single-node OpenShift ready to be moved: an address that no site's network
// touches, names that it answers itself, Touchdown's units, and the record of what left the factory.
package factory

import (
	"context"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// platforms are those for which the Machine Config Operator lays neither a nodeip-configuration nor its own resolv.conf
// (openshift/machine-config-operator, pkg/controller/template/render.go and templates/common, release-4.14 to release-4.22); "" is None on
// clusters that were installed long ago.
var platforms = []configv1.PlatformType{"", configv1.NonePlatformType, configv1.ExternalPlatformType}

// Cluster is what the bake needs to know of the cluster.
type Cluster struct {
	Node   string   // name of the only one
	Own    host.Own // its addresses: etcd and the certificates name them
	Domain string   // cluster name and base domain
}

// Look reads what the cluster is and refuses one that cannot be baked.
func Look(ctx context.Context, c *kube.Cluster) (Cluster, error) {
	f, err := read(ctx, c)
	if err != nil {
		return Cluster{}, err
	}
	out := Cluster{Domain: f.domain}
	if len(f.nodes) != 1 {
		return out, &problem.Problem{
			Code: "FAC-NMBR", Summary: message.T("This cluster does not have exactly one node."),
			Fix: message.T("Touchdown prepares single-node clusters only: run it on one."),
		}
	}
	if !slices.Contains(platforms, f.platform) {
		return out, &problem.Problem{
			Code:    "FAC-PLAT",
			Summary: message.F("This cluster was installed for the platform %s, where OpenShift itself chooses the node's address and name servers.", f.platform),
			Fix:     message.T("Install the node for the platform none, which in an install config is: platform: {none: {}}. Nothing was changed."),
		}
	}
	out.Node = f.nodes[0].Name
	var addresses []string
	for _, a := range f.nodes[0].Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			addresses = append(addresses, a.Address)
		}
	}
	if out.Own, err = host.NewOwn(addresses); err != nil {
		return out, &problem.Problem{
			Code:    "FAC-ADDR",
			Summary: message.F("The node's addresses (%s) cannot be kept: %s.", strings.Join(addresses, ", "), err),
			Fix:     message.T("Install the cluster with one IPv4 address, one IPv6 address, or one of each."),
		}
	}
	return out, nil
}

// found is what the cluster says of itself.
type found struct {
	nodes    []corev1.Node
	domain   string
	platform configv1.PlatformType
}

func read(ctx context.Context, c *kube.Cluster) (f found, err error) {
	err = c.Do(ctx, "reading the cluster's nodes", func(ctx context.Context) error {
		nodes, err := c.Core.Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		dns, err := c.Config.DNSes().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		infra, err := c.Config.Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		f = found{nodes: nodes.Items, domain: dns.Spec.BaseDomain}
		if infra.Status.PlatformStatus != nil {
			f.platform = infra.Status.PlatformStatus.Type
		}
		return nil
	})
	return f, err
}
