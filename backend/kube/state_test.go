package kube_test

import (
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

func operator(conds ...configv1.ClusterOperatorStatusCondition) *configv1.ClusterOperator {
	return &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Status: configv1.ClusterOperatorStatus{Conditions: conds}}
}

func TestOperatorPending(t *testing.T) {
	cond := func(kind configv1.ClusterStatusConditionType, s configv1.ConditionStatus) configv1.ClusterOperatorStatusCondition {
		return configv1.ClusterOperatorStatusCondition{Type: kind, Status: s}
	}
	up, steady, well := cond("Available", "True"), cond("Progressing", "False"), cond("Degraded", "False")
	for name, test := range map[string]struct {
		co   *configv1.ClusterOperator
		done bool
	}{
		"good":             {operator(up, steady, well), true},
		"nothing told":     {operator(), false},
		"no availability":  {operator(steady, well), false},
		"no progress told": {operator(up, well), false},
		"no health told":   {operator(up, steady), false},
		"unknown":          {operator(up, steady, cond("Degraded", "Unknown")), false},
		"away":             {operator(cond("Available", "False"), steady, well), false},
		"at work":          {operator(up, cond("Progressing", "True"), well), false},
		"degraded":         {operator(up, steady, cond("Degraded", "True")), false},
	} {
		if why := kube.OperatorPending(test.co); (why == message.Text{}) != test.done {
			t.Errorf("%s: %q", name, why)
		}
	}
}

func TestRevisions(t *testing.T) {
	state := func(latest, current, target, failed int32, fallbacks int) *operatorv1.KubeAPIServer {
		ks := &operatorv1.KubeAPIServer{}
		ks.Status.LatestAvailableRevision = latest
		ks.Status.NodeStatuses = []operatorv1.NodeStatus{{
			CurrentRevision: current, TargetRevision: target, LastFailedRevision: failed, LastFallbackCount: fallbacks,
		}}
		return ks
	}
	fallen := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		"startup-monitor.static-pods.openshift.io/fallback-for-revision": "9",
		"startup-monitor.static-pods.openshift.io/fallback-reason":       "NetworkError",
	}}}
	for name, test := range map[string]struct {
		ks         *operatorv1.KubeAPIServer
		pods       []corev1.Pod
		after      int32
		done, fell bool
	}{
		"at rest":             {state(8, 8, 0, 0, 0), nil, 0, true, false},
		"not begun: old news": {state(8, 8, 0, 0, 0), nil, 8, false, false},
		"begun":               {state(9, 8, 9, 0, 0), nil, 8, false, false},
		"waiting to begin":    {state(9, 8, 0, 0, 0), nil, 8, false, false},
		"over":                {state(9, 9, 0, 0, 0), nil, 8, true, false},
		"over, a second one":  {state(10, 9, 10, 0, 0), nil, 8, false, false},
		"failed":              {state(9, 8, 9, 9, 0), nil, 8, false, true},
		"failed long ago":     {state(9, 9, 0, 4, 1), nil, 8, true, false},
		"failed, newer one":   {state(10, 8, 10, 9, 1), nil, 8, false, false},
		"fell back":           {state(9, 8, 0, 0, 0), []corev1.Pod{fallen}, 8, false, true},
		"no node yet":         {&operatorv1.KubeAPIServer{}, nil, 3, false, false},
	} {
		r := kube.RevisionsOf(test.ks, test.pods)
		if why := r.Pending(test.after); (why.String() == "") != test.done || r.Fell(test.after) != test.fell {
			t.Errorf("%s: %q, fell %v", name, why, r.Fell(test.after))
		}
	}
	if r := kube.RevisionsOf(state(9, 8, 0, 0, 0), []corev1.Pod{fallen}); !r.FellBack || r.Why != "NetworkError " && r.Why != "NetworkError" {
		t.Errorf("%+v", r)
	}
}

func TestPoolPending(t *testing.T) {
	make := func(change func(*machinev1.MachineConfigPool, *corev1.Node)) (*machinev1.MachineConfigPool, []corev1.Node) {
		p := &machinev1.MachineConfigPool{}
		p.Spec.Configuration.Name, p.Status.Configuration.Name = "rendered-2", "rendered-2"
		p.Status.MachineCount, p.Status.UpdatedMachineCount, p.Status.ReadyMachineCount = 1, 1, 1
		p.Status.Conditions = []machinev1.MachineConfigPoolCondition{
			{Type: "Updated", Status: "True"}, {Type: "Updating", Status: "False"}, {Type: "Degraded", Status: "False"},
		}
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			"machineconfiguration.openshift.io/currentConfig": "rendered-2",
			"machineconfiguration.openshift.io/desiredConfig": "rendered-2",
			"machineconfiguration.openshift.io/state":         "Done",
		}}}
		change(p, &n)
		return p, []corev1.Node{n}
	}
	for name, test := range map[string]struct {
		change func(*machinev1.MachineConfigPool, *corev1.Node)
		before string
		done   bool
	}{
		"done":          {func(*machinev1.MachineConfigPool, *corev1.Node) {}, "rendered-1", true},
		"any":           {func(*machinev1.MachineConfigPool, *corev1.Node) {}, "", true},
		"old news":      {func(*machinev1.MachineConfigPool, *corev1.Node) {}, "rendered-2", false},
		"paused":        {func(p *machinev1.MachineConfigPool, _ *corev1.Node) { p.Spec.Paused = true }, "", false},
		"not there yet": {func(p *machinev1.MachineConfigPool, _ *corev1.Node) { p.Status.Configuration.Name = "rendered-1" }, "", false},
		"updating":      {func(p *machinev1.MachineConfigPool, _ *corev1.Node) { p.Status.Conditions[1].Status = "True" }, "", false},
		"degraded":      {func(p *machinev1.MachineConfigPool, _ *corev1.Node) { p.Status.Conditions[2].Status = "True" }, "", false},
		"nothing told":  {func(p *machinev1.MachineConfigPool, _ *corev1.Node) { p.Status.Conditions = nil }, "", false},
		"not ready":     {func(p *machinev1.MachineConfigPool, _ *corev1.Node) { p.Status.ReadyMachineCount = 0 }, "", false},
		"node working": {func(_ *machinev1.MachineConfigPool, n *corev1.Node) {
			n.Annotations["machineconfiguration.openshift.io/state"] = "Working"
		}, "", false},
		"node behind": {func(_ *machinev1.MachineConfigPool, n *corev1.Node) {
			n.Annotations["machineconfiguration.openshift.io/currentConfig"] = "rendered-1"
		}, "", false},
	} {
		if p, nodes := make(test.change); (kube.PoolPending(p, nodes, test.before).String() == "") != test.done {
			t.Errorf("%s: %q", name, kube.PoolPending(p, nodes, test.before))
		}
	}
}
