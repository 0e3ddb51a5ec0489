// Package factory makes an installed single-node OpenShift ready to be moved: an address of its own that no site's network
// touches, names that it answers itself, Touchdown's units, and the record of what left the factory.
package factory

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/problem"
)

// Where the bake leaves its traces on the node.
const (
	Program    = "/usr/local/bin/touchdown"
	RecordFile = "/var/lib/touchdown/factory.json"
	Armed      = "/var/lib/touchdown/armed" // while it is there, kubelet does not start
)

// The node's own address. It must be the one that the cluster was installed with: etcd and the certificates name it.
const (
	InternalAddress = "192.168.127.10"
	internalPrefix  = InternalAddress + "/24"
)

const (
	pool      = "master" // the machine of a single node is in this one
	nodenet   = "KUBELET_NODE_IP=" + InternalAddress
	streaming = "CONTAINER_STREAM_ADDRESS=" + InternalAddress
)

// Cluster is what the bake needs to know of the cluster.
type Cluster struct {
	Node      string // name of the only one
	Addresses []string
	Domain    string // cluster name and base domain
}

// Look reads what the cluster is and refuses one that cannot be baked.
func Look(ctx context.Context, c *kube.Cluster) (Cluster, error) {
	var out Cluster
	count := 0
	err := c.Do(ctx, "reading the cluster's nodes", func(ctx context.Context) error {
		nodes, err := c.Core.Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		dns, err := c.Config.DNSes().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		out = Cluster{Domain: dns.Spec.BaseDomain}
		count = len(nodes.Items)
		for _, n := range nodes.Items {
			out.Node = n.Name
			for _, a := range n.Status.Addresses {
				if a.Type == "InternalIP" {
					out.Addresses = append(out.Addresses, a.Address)
				}
			}
		}
		return nil
	})
	if err == nil && count != 1 {
		err = &problem.Problem{
			Code: "FAC-NODE", Summary: "This cluster does not have exactly one node.",
			Fix: "Touchdown prepares single-node clusters only: run it on one.",
		}
	}
	return out, err
}

// addressed refuses a node that was installed with another address: the bake cannot change it.
func (c Cluster) addressed() error {
	if len(c.Addresses) > 0 && c.Addresses[0] == InternalAddress {
		return nil
	}
	return &problem.Problem{
		Code:    "FAC-ADDR",
		Summary: "The cluster was installed with the node address " + strings.Join(c.Addresses, ", ") + ", not " + InternalAddress + ".",
		Fix: "Install it with machineNetwork 192.168.127.0/24 and that address on the node's port: its etcd and certificates " +
			"keep the address of the installation.",
	}
}
