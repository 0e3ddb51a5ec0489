package health

import (
	"regexp"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"

	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// optional operators and the namespaces of their pods never get well without the Internet or a registry, and nothing
// that runs on the node needs them.
var optional = map[string]string{
	"insights":          "openshift-insights",
	"marketplace":       "openshift-marketplace",
	"image-registry":    "openshift-image-registry",
	"openshift-samples": "openshift-cluster-samples-operator",
}

func judgeAPI(s *State) check.Check {
	c := check.Check{ID: "api", Title: message.T("Cluster answers (API readyz)"), Expected: message.T("ready"), Source: message.T("Kubernetes: /readyz")}
	switch {
	case s.Torn != nil:
		why := problem.From(s.Torn)
		c.Status, c.Observed, c.Fix, c.Evidence = check.Fail, why.Summary, why.Fix, []message.Text{message.Detail(why)}
	case s.Away != nil:
		c.Status, c.Observed = check.Fail, message.F("no answer: %s", said(s.Away))
		c.Fix = message.T("Wait: the API is away for about a minute at each restart, and for a few minutes after the node starts.")
	case s.NotReady != nil:
		c.Status, c.Observed = check.Fail, message.F("answers, but is not ready: %s", said(s.NotReady))
		c.Fix = message.T("Wait a few minutes; if it stays, make a support bundle.")
	default:
		c.Status, c.Observed = check.Pass, message.T("ready")
	}
	return c
}

func judgeVersion(s *State, o Options) check.Check {
	c := check.Check{
		ID: "version", Title: message.T("OpenShift release (ClusterVersion)"), Expected: message.T("installed completely, not failing, no update at work"),
		Source: message.T("ClusterVersion conditions Available, Failing, Progressing"), Fix: message.T("Wait for a running update to end; if it stays, make a support bundle."),
	}
	if c, no := unread(s, c, "version"); no {
		return c
	}
	if s.Version == nil {
		return absent(c)
	}
	var f faults
	fine, updates := message.Data(s.Version.Status.Desired.Version), o.updates(s.Version)
	for _, want := range []struct {
		kind   configv1.ClusterStatusConditionType
		status configv1.ConditionStatus
		says   message.Text
		lacks  message.Text
	}{
		{configv1.OperatorAvailable, configv1.ConditionTrue, message.T("not installed completely"), message.T("does not say whether it is available")},
		{"Failing", configv1.ConditionFalse, message.T("failing"), message.T("does not say whether it is failing")},
		{configv1.OperatorProgressing, configv1.ConditionFalse, message.T("an update is at work"), message.T("does not say whether it is progressing")},
	} {
		cond := versionCondition(s.Version, want.kind)
		// The version operator writes all three with each of its reports (openshift/cluster-version-operator pkg/cvo/status.go).
		if cond == nil {
			f.add(true, want.lacks)
		} else if want.kind == "Failing" && offline(s) && onlyOptional(cond) {
			fine = message.F("%s; failing only for services that need the Internet", fine)
		} else if cond.Status != want.status {
			f.add(want.kind != configv1.OperatorProgressing || !updates, with(want.says, firstLine(cond.Message)))
		}
	}
	if h := s.Version.Status.History; len(h) > 0 && h[0].State != configv1.CompletedUpdate {
		f.add(!updates, message.F("installation of %s is %s", h[0].Version, strings.ToLower(string(h[0].State))))
	}
	return f.judge(c, fine)
}

// operatorTrouble is what the version operator says of operators that are degraded or not available.
var operatorTrouble = regexp.MustCompile(`^(?:\* )?Cluster operators? (\S+(?:, \S+)*) (?:is|are) (?:degraded|not available)$`)

// onlyOptional tells whether a cluster is failing for optional operators alone: the version operator takes over each one that is degraded.
// Several causes are a heading and a list (openshift/cluster-version-operator pkg/cvo/sync_worker.go, newMultipleError).
func onlyOptional(failing *configv1.ClusterOperatorStatusCondition) bool {
	if failing.Status != configv1.ConditionTrue {
		return false
	}
	lines := strings.Split(strings.TrimSpace(failing.Message), "\n")
	if lines[0] == "Multiple errors are preventing progress:" {
		lines = lines[1:]
	}
	for _, line := range lines {
		names := operatorTrouble.FindStringSubmatch(line)
		if names == nil || slices.ContainsFunc(strings.Split(names[1], ", "), func(name string) bool { return optional[name] == "" }) {
			return false
		}
	}
	return len(lines) > 0
}

func versionCondition(v *configv1.ClusterVersion, kind configv1.ClusterStatusConditionType) *configv1.ClusterOperatorStatusCondition {
	for i := range v.Status.Conditions {
		if v.Status.Conditions[i].Type == kind {
			return &v.Status.Conditions[i]
		}
	}
	return nil
}

// offline tells a cluster that cannot reach the public update service, so hardly the Internet either. One that the owner runs, or a mirror
// of it, answers without the Internet; a channel that lacks the cluster's release was answered too (openshift/cluster-version-operator
// 6e719331f, pkg/cvo/availableupdates.go, pkg/cincinnati/cincinnati.go).
func offline(s *State) bool {
	if s.Version == nil || s.Version.Spec.Upstream != "" && s.Version.Spec.Upstream != updateService {
		return true
	}
	cond := versionCondition(s.Version, configv1.RetrievedUpdates)
	return cond == nil || cond.Status != configv1.ConditionTrue && cond.Reason != "VersionNotFound"
}

// updateService is where a cluster asks that names no other.
const updateService = "https://api.openshift.com/api/upgrades_info/v1/graph"

func judgeOperators(s *State, o Options) check.Check {
	c := check.Check{
		ID: "operators", Title: message.T("Platform services (ClusterOperators)"), Expected: message.T("all available, at rest, not degraded"),
		Source: message.T("oc adm wait-for-stable-cluster; a condition that is not reported counts as bad"),
		Fix:    message.T("Wait a few minutes: services restart after a change; if one stays, its message says what it misses."),
	}
	if c, no := unread(s, c, "operators"); no {
		return c
	}
	if len(s.Operators) == 0 {
		c.Status, c.Observed = check.Fail, message.T("the cluster reports no services yet")
		return c
	}
	f := pendingOperators(s, o, func(name string) bool { return optional[name] == "" || !offline(s) })
	return f.judge(c, message.F("%d services, all well", len(s.Operators)))
}

func judgeOptionalOperators(s *State) check.Check {
	c := check.Check{
		ID: "operators-optional", Title: message.T("Services that need the Internet (ClusterOperators)"), Expected: message.T("well, or the site is offline"),
		Source: message.T("Touchdown: insights, marketplace, image-registry, openshift-samples only warn on a site without Internet"),
		Fix:    message.T("Nothing to do on a site without Internet: applications on the node run without these."),
	}
	if c, no := unread(s, c, "operators"); no {
		return c
	}
	if !offline(s) {
		c.Status, c.Observed = check.Pass, message.T("the site is online: judged with the others")
		return c
	}
	f := pendingOperators(s, Options{}, func(name string) bool { return optional[name] != "" })
	return found(c, check.Warn, slices.Concat(f.grave, f.light), message.T("all well"))
}

// pendingOperators are the operators that are not at rest.
func pendingOperators(s *State, o Options, concerns func(name string) bool) (f faults) {
	for i := range s.Operators {
		co := &s.Operators[i]
		if why := kube.OperatorPending(co); why != (message.Text{}) && concerns(co.Name) {
			f.add(!o.operatorRolls(s, co) && !foreign(s, co), why)
		}
	}
	sorted(f.grave)
	return f
}

// judgeOperatorVersions looks whether each operator is of the cluster's release. One that never took an update looks well otherwise.
func judgeOperatorVersions(s *State) check.Check {
	c := check.Check{
		ID: "operator-versions", Title: message.T("Platform services are of one release"), Expected: message.T("all of the cluster's release"),
		Source: message.T("ClusterOperator status.versions, name operator, against ClusterVersion status.desired"),
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
	var faults []message.Text
	for i := range s.Operators {
		o := &s.Operators[i]
		at := slices.IndexFunc(o.Status.Versions, func(v configv1.OperandVersion) bool { return v.Name == "operator" })
		if at >= 0 && o.Status.Versions[at].Version != want && !foreign(s, o) {
			faults = append(faults, message.F("%s is at %s", o.Name, o.Status.Versions[at].Version))
		}
	}
	sorted(faults)
	return found(c, check.Warn, faults, message.F("all at %s", want))
}
