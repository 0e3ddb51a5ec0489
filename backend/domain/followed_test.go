package domain

import (
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"touchdown/backend/kube"
)

// A revision that fell back leaves the operator degraded until the next one runs: no trouble with the names while that is on its way.
func TestAFallBackThatIsFollowed(t *testing.T) {
	const fallback, other = "StaticPodFallbackRevision_NetworkError", "RevisionController_ContentCreationError"
	for _, c := range []struct {
		name, reason string
		revisions    kube.Revisions
		coming, ok   bool
	}{
		{"it is the newest", fallback, kube.Revisions{Latest: 9, Current: 8, Failed: 9}, false, false},
		{"the next one is made", fallback, kube.Revisions{Latest: 10, Current: 8, Failed: 9}, false, true},
		{"its installer failed too", fallback + "::NodeInstaller_InstallerPodFailed", kube.Revisions{Latest: 10, Current: 8, Failed: 9}, false, true},
		{"the next one is to come", fallback, kube.Revisions{Latest: 9, Current: 8, Failed: 9}, true, true},
		{"the next one runs", fallback, kube.Revisions{Latest: 10, Current: 10, Failed: 9}, false, false},
		{"something else is wrong", other, kube.Revisions{Latest: 10, Current: 8, Failed: 9}, false, false},
		{"something else is wrong too", fallback + "::" + other, kube.Revisions{Latest: 10, Current: 8, Failed: 9}, true, false},
		{"no reason is given", "", kube.Revisions{Latest: 10, Current: 8, Failed: 9}, true, false},
	} {
		co := configv1.ClusterOperator{}
		co.Status.Conditions = []configv1.ClusterOperatorStatusCondition{{Type: configv1.OperatorDegraded, Status: configv1.ConditionTrue, Reason: c.reason}}
		g := newGate("", Timeouts{Grace: -time.Second})
		if err := g.degraded(&co, &evidence{revisions: c.revisions, coming: c.coming}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
