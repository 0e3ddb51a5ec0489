package kube

import (
	"slices"

	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// controlPlane is the label by which the pool master chooses its machines: workers, which may be added to a single node, lack it
// (openshift/machine-config-operator manifests/master.machineconfigpool.yaml, 4.14 to 4.22).
const controlPlane = "node-role.kubernetes.io/master"

// InternalIP is the internal address of the node with the control plane; without that label, of the first that tells one; "" where none does.
func InternalIP(nodes []corev1.Node) string {
	first := ""
	for i := range nodes {
		at := slices.IndexFunc(nodes[i].Status.Addresses, func(a corev1.NodeAddress) bool { return a.Type == corev1.NodeInternalIP })
		if at < 0 {
			continue
		}
		address := nodes[i].Status.Addresses[at].Address
		if _, ok := nodes[i].Labels[controlPlane]; ok {
			return address
		}
		if first == "" {
			first = address
		}
	}
	return first
}

// poolNodes are those of the nodes that a pool chooses; all, where it chooses by nothing or none has its labels.
func poolNodes(pool *machinev1.MachineConfigPool, nodes []corev1.Node) []corev1.Node {
	selector, err := metav1.LabelSelectorAsSelector(pool.Spec.NodeSelector)
	if pool.Spec.NodeSelector == nil || err != nil {
		return nodes
	}
	chosen := slices.DeleteFunc(slices.Clone(nodes), func(n corev1.Node) bool { return !selector.Matches(labels.Set(n.Labels)) })
	if len(chosen) == 0 {
		return nodes
	}
	return chosen
}
