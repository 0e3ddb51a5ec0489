package health

import (
	"slices"

	configv1 "github.com/openshift/api/config/v1"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// judgeOperatorVersions looks whether each operator is of the cluster's release. One that never took an update looks well otherwise.
func judgeOperatorVersions(s *State) check.Check {
	c := check.Check{
		ID: "operator-versions", Title: message.T("Platform services are of one release"), Expected: message.T("all of the cluster's release"),
		Source: "ClusterOperator status.versions, name operator, against ClusterVersion status.desired",
		Fix:    message.T("Wait for a running update to end; if it stays, the operator's message says what it waits for."),
	}
	for _, what := range []string{"version", "operators"} {
		if c, no := unread(s, c, what); no {
			return c
		}
	}
	if s.Version == nil || s.Version.Status.Desired.Version == "" || len(s.Operators) == 0 {
		return absent(c)
	}
	want := s.Version.Status.Desired.Version
	var faults []string
	for i := range s.Operators {
		o := &s.Operators[i]
		at := slices.IndexFunc(o.Status.Versions, func(v configv1.OperandVersion) bool { return v.Name == "operator" })
		if at >= 0 && o.Status.Versions[at].Version != want {
			faults = append(faults, o.Name+" is at "+o.Status.Versions[at].Version)
		}
	}
	slices.Sort(faults)
	return found(c, check.Warn, faults, message.F("all at %s", want))
}
