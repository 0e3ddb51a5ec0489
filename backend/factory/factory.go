// Package factory makes an installed single-node OpenShift ready to be moved: an address that no site's network
// touches, names that it answers itself, Touchdown's units, and the record of what left the factory.
package factory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/problem"
)

// Where the bake leaves its traces on the node.
const (
	Program    = "/usr/local/bin/touchdown"
	RecordFile = "/var/lib/touchdown/factory.json"
	Armed      = "/var/lib/touchdown/armed" // while it is there, kubelet does not start
)

const pool = "master" // the machine of a single node is in this one

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
	var out Cluster
	count := 0
	var addresses []string
	var platform configv1.PlatformType
	err := c.Do(ctx, "reading the cluster's nodes", func(ctx context.Context) error {
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
		if infra.Status.PlatformStatus != nil {
			platform = infra.Status.PlatformStatus.Type
		}
		out = Cluster{Domain: dns.Spec.BaseDomain}
		count, addresses = len(nodes.Items), nil
		for _, n := range nodes.Items {
			out.Node = n.Name
			for _, a := range n.Status.Addresses {
				if a.Type == "InternalIP" {
					addresses = append(addresses, a.Address)
				}
			}
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	if count != 1 {
		return out, &problem.Problem{
			Code: "FAC-NODE", Summary: "This cluster does not have exactly one node.",
			Fix: "Touchdown prepares single-node clusters only: run it on one.",
		}
	}
	if !slices.Contains(platforms, platform) {
		return out, &problem.Problem{
			Code:    "FAC-PLAT",
			Summary: fmt.Sprintf("This cluster was installed for the platform %s, where OpenShift itself chooses the node's address and name servers.", platform),
			Fix:     "Install the node for the platform none, which in an install config is: platform: {none: {}}. Nothing was changed.",
		}
	}
	if out.Own, err = host.NewOwn(addresses); err != nil {
		return out, &problem.Problem{
			Code:    "FAC-ADDR",
			Summary: "The node's addresses (" + strings.Join(addresses, ", ") + ") cannot be kept: " + err.Error() + ".",
			Fix:     "Install the cluster with an IPv4 address, or with one IPv4 and one IPv6 address; an IPv6-only node cannot be moved.",
		}
	}
	return out, nil
}
