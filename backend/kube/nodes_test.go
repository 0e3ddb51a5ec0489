package kube_test

import (
	"strings"
	"testing"

	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
)

func machine(name, address string, roles ...string) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	for _, role := range roles {
		n.Labels["node-role.kubernetes.io/"+role] = ""
	}
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: name}}
	if address != "" {
		n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: address})
	}
	return n
}

// A worker that was added to a single node may come first by its name; the API and the router are on the other one, and its own pool is
// all that the node's roll-out waits for.
func TestAWorkerBesideTheNode(t *testing.T) {
	worker := machine("a-worker", "192.0.2.7", "worker")
	node := machine("edge", "192.168.127.10", "control-plane", "master", "worker")
	for name, test := range map[string]struct {
		nodes []corev1.Node
		want  string
	}{
		"alone":              {[]corev1.Node{node}, "192.168.127.10"},
		"worker first":       {[]corev1.Node{worker, node}, "192.168.127.10"},
		"worker last":        {[]corev1.Node{node, worker}, "192.168.127.10"},
		"without labels":     {[]corev1.Node{machine("n", ""), machine("o", "192.0.2.8")}, "192.0.2.8"},
		"not registered yet": {nil, ""},
	} {
		if got := kube.InternalIP(test.nodes); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}

	worker.Annotations = map[string]string{
		"machineconfiguration.openshift.io/currentConfig": "rendered-worker-1", "machineconfiguration.openshift.io/desiredConfig": "rendered-worker-2",
		"machineconfiguration.openshift.io/state": "Working",
	}
	node.Annotations = map[string]string{
		"machineconfiguration.openshift.io/currentConfig": "rendered-master-1", "machineconfiguration.openshift.io/desiredConfig": "rendered-master-1",
		"machineconfiguration.openshift.io/state": "Done",
	}
	pool := &machinev1.MachineConfigPool{}
	pool.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"node-role.kubernetes.io/master": ""}}
	pool.Status.Conditions = []machinev1.MachineConfigPoolCondition{
		{Type: machinev1.MachineConfigPoolUpdated, Status: corev1.ConditionTrue},
		{Type: machinev1.MachineConfigPoolUpdating, Status: corev1.ConditionFalse},
		{Type: machinev1.MachineConfigPoolDegraded, Status: corev1.ConditionFalse},
	}
	both := []corev1.Node{worker, node}
	if why := kube.PoolPending(pool, both, ""); why.String() != "" {
		t.Errorf("the node waits for the worker: %s", why)
	}
	pool.Spec.NodeSelector = nil
	if why := kube.PoolPending(pool, both, ""); !strings.Contains(why.String(), "a-worker") {
		t.Errorf("a pool that chooses by nothing: %q", why)
	}
}
