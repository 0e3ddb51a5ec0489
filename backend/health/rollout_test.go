package health_test

import (
	"strings"
	"testing"
	"time"

	machinev1 "github.com/openshift/api/machineconfiguration/v1"

	"touchdown/backend/check"
	"touchdown/backend/health"
)

// rollOuts change something that a landed cluster is allowed to be at, since some time ago.
var rollOuts = []struct {
	name, id, says string
	usual          time.Duration // how long it may take; 0: for ever
	begin          func(s *health.State, since time.Duration)
}{
	{"operator", "operators", "still at work", 30 * time.Minute, func(s *health.State, since time.Duration) {
		s.Operators[0] = operator("authentication", "True", "True", "False", "rolling out")
		s.Operators[0].Status.Conditions[1].LastTransitionTime = ago(since)
	}},
	{"control plane", "static-pods", "revision 7 of 8", 30 * time.Minute, func(s *health.State, since time.Duration) {
		s.API.Status.StaticPodOperatorStatus = staticPods(7, 8, 8, 0)
		co := operator("kube-apiserver", "True", "True", "False", "1 node is at revision 7")
		co.Status.Conditions[1].LastTransitionTime = ago(since)
		s.Operators = append(s.Operators, co)
	}},
	{"node configuration", "pools", "taking its new configuration", 90 * time.Minute, func(s *health.State, since time.Duration) {
		for i, c := range s.Pools[0].Status.Conditions {
			switch c.Type {
			case machinev1.MachineConfigPoolUpdated:
				s.Pools[0].Status.Conditions[i].Status = "False"
			case machinev1.MachineConfigPoolUpdating:
				s.Pools[0].Status.Conditions[i].Status = "True"
				s.Pools[0].Status.Conditions[i].LastTransitionTime = ago(since)
			}
		}
	}},
	{"update", "version", "an update is at work", 0, func(s *health.State, _ time.Duration) {
		s.Version.Status.Conditions[2].Status = "True"
		s.Version.Status.History[0].State = "Partial"
	}},
}

// TestARollOutIsNoFaultForWhoStays: the page after a landing is looked at for years. A landing itself ends with a cluster at rest.
func TestARollOutIsNoFaultForWhoStays(t *testing.T) {
	for _, r := range rollOuts {
		for _, c := range []struct {
			name    string
			follows bool
			since   time.Duration
			want    check.Status
		}{
			{"a look", false, time.Minute, check.Fail},
			{"who stays", true, time.Minute, check.Warn},
			{"longer than usual", true, r.usual + time.Minute, check.Fail},
		} {
			t.Run(r.name+", "+c.name, func(t *testing.T) {
				if r.usual == 0 && c.want == check.Fail && c.follows { // an update has no usual time
					c.want = check.Warn
				}
				s := healthy()
				r.begin(s, c.since)
				for _, got := range health.Judge(s, health.Options{Domain: domain, Follows: c.follows}) {
					if got.ID == r.id && (got.Status != c.want || !strings.Contains(got.Observed.String(), r.says) || got.Fix.String() == "") {
						t.Errorf("%s is %s: %s, %s; want %s with %q", got.ID, got.Status, got.Observed, got.Fix, c.want, r.says)
					}
				}
			})
		}
	}
}

// TestARollOutHidesNoFault: what is degraded or not available fails all the same.
func TestARollOutHidesNoFault(t *testing.T) {
	for _, spoil := range []func(*health.State){
		func(s *health.State) { s.Operators[0] = operator("authentication", "False", "True", "False", "no") },
		func(s *health.State) { s.Operators[0] = operator("authentication", "True", "True", "True", "no") },
		func(s *health.State) {
			s.Operators[0] = operator("authentication", "True", "True", "False", "")
			s.Operators[0].Status.Conditions[1].LastTransitionTime = ago(time.Minute)
			s.Operators = append(s.Operators, operator("dns", "True", "False", "True", "no"))
		},
	} {
		s := healthy()
		spoil(s)
		s.Operators[0].Status.Conditions[1].LastTransitionTime = ago(time.Minute)
		for _, got := range health.Judge(s, health.Options{Domain: domain, Follows: true}) {
			if got.ID == "operators" && got.Status != check.Fail {
				t.Errorf("operators are %s: %s", got.Status, got.Observed)
			}
		}
	}
}
