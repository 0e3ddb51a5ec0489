package site

import (
	"slices"
	"strings"

	"touchdown/backend/message"
)

// The reason for which a workload is refused.
var deniedPort = message.T("it takes a TCP port of the node that the cluster's own components need, so they would not start again")

// ownPorts are TCP ports that the node's own programs and pods listen on where it is the only one (openshift-kni/commatrix, docs/stable/unique, common-master.csv and
// none-sno.csv): the router (80, 443, 1936), the API and its checks (6080, 6443, 17697), the machine config server (22623, 22624), etcd (2379,
// 2380, 9978 to 9980), kubelet (10250), controllers and scheduler (10257, 10259, 10357), operators (9099, 9104, 9192, 9258), the network (9103,
// 9105, 9107, 9108, 10256), and what measures the node. 8080 is not here, though the network operator has it: many programs want it.
var ownPorts = []int64{
	80, 443, 1936, 2379, 2380, 6080, 6443, 8798, 9001, 9099, 9100, 9103, 9104, 9105, 9107, 9108, 9192, 9258, 9637, 9978, 9979, 9980,
	10250, 10256, 10257, 10259, 10357, 17697, 22623, 22624,
}

// takesPort tells whether the pods of a workload listen on one of ownPorts of the node itself. The scheduler starts no second pod with the same
// port there, so that after a reboot the first one has it.
func takesPort(m Manifest) bool {
	group, _, grouped := strings.Cut(m.APIVersion(), "/")
	if grouped && !slices.Contains([]string{"apps", "batch", "apps.openshift.io"}, group) {
		return false
	}
	pod := podOf(m)
	host := pod["hostNetwork"] == true
	return slices.ContainsFunc(append(list(pod["containers"]), list(pod["initContainers"])...), func(container any) bool {
		c, _ := container.(map[string]any)
		return slices.ContainsFunc(list(c["ports"]), func(port any) bool {
			p, _ := port.(map[string]any)
			if p["protocol"] != nil && p["protocol"] != "TCP" {
				return false
			}
			number, _ := p["hostPort"].(int64)
			if host && number == 0 { // as the API completes it
				number, _ = p["containerPort"].(int64)
			}
			return slices.Contains(ownPorts, number)
		})
	})
}

// podOf is the spec of the pods that a workload makes, or that it is.
func podOf(m Manifest) map[string]any {
	at, _ := m["spec"].(map[string]any)
	for _, key := range []string{"jobTemplate", "template"} {
		if below, ok := at[key].(map[string]any); ok {
			at, _ = below["spec"].(map[string]any)
		}
	}
	return at
}

// addOns are the CustomResourceDefinitions of operators that are not a part of OpenShift's payload but use one of its groups: those of the
// cert-manager operator (openshift/cert-manager-operator, bundle/manifests).
var addOns = []string{
	"certmanagers.operator.openshift.io", "http01proxies.operator.openshift.io", "istiocsrs.operator.openshift.io",
	"trustmanagers.operator.openshift.io",
}

// redefines tells whether a CustomResourceDefinition is one of the cluster's own: with another conversion or other versions of it the
// operators find none of their objects. Operators that are added to a cluster have other groups, or the names in addOns.
func redefines(m Manifest) bool {
	group, _ := m.spec("group").(string)
	if group == "" {
		_, group, _ = strings.Cut(m.Name(), ".")
	}
	return !slices.Contains(addOns, m.Name()) && slices.Contains([]string{
		"authorization.openshift.io", "config.openshift.io", "insights.openshift.io", "k8s.ovn.org", "machine.openshift.io",
		"machineconfiguration.openshift.io", "monitoring.coreos.com", "operator.openshift.io", "operators.coreos.com",
		"performance.openshift.io", "policy.networking.k8s.io", "quota.openshift.io", "security.internal.openshift.io",
		"security.openshift.io", "tuned.openshift.io",
	}, group)
}

// harmless are values with which a namespace confines no pod: the empty selector takes the cluster's default one away, as OpenShift's own
// namespaces do, and what is privileged may do everything.
var harmless = map[string][]any{
	"openshift.io/node-selector": {"", nil}, "pod-security.kubernetes.io/enforce": {"privileged"},
}

// confines tells whether a namespace says which nodes its pods may run on, or what they must not do: pods that were there before are refused
// when they start again (openshift.io/node-selector; the pod security admission).
func confines(m Manifest) bool {
	meta, _ := m["metadata"].(map[string]any)
	for _, at := range []struct{ key, start string }{
		{"annotations", "openshift.io/node-selector"},
		{"annotations", "scheduler.alpha.kubernetes.io/"},
		{"labels", "pod-security.kubernetes.io/enforce"},
	} {
		entries, _ := meta[at.key].(map[string]any)
		for key, value := range entries {
			if strings.HasPrefix(key, at.start) && key != "pod-security.kubernetes.io/enforce-version" && !slices.Contains(harmless[key], value) {
				return true
			}
		}
	}
	return false
}
