package health

import (
	"fmt"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

func judgeEtcd(s *State, o Options) check.Check {
	c := check.Check{
		ID: "etcd", Title: message.T("Cluster database (etcd)"), Expected: message.T("its member is available, nothing degraded"),
		Source: message.T("Etcd operator conditions EtcdMembersAvailable, *Degraded"), Fix: message.T("Wait a few minutes; if it stays, check the disk: a slow or full one stops the database."),
	}
	if c, no := unread(s, c, "etcd"); no {
		return c
	}
	if s.Etcd == nil {
		return absent(c)
	}
	var f faults
	for _, cond := range s.Etcd.Status.Conditions {
		text := with(message.F("%s is %s", cond.Type, string(cond.Status)), firstLine(cond.Message))
		switch {
		case cond.Type == "EtcdMembersAvailable" && cond.Status != operatorv1.ConditionTrue:
			f.add(true, text)
		case strings.HasSuffix(cond.Type, "Degraded") && cond.Status == operatorv1.ConditionTrue:
			f.add(!o.usual(s, cond.LastTransitionTime.Time, etcdTime), text)
		}
	}
	return f.judge(c, message.T("well"))
}

// retries tells whether the installer of a revision failed and its operator tries again, which it does until that works
// (openshift/library-go pkg/operator/staticpod/controller/installer/installer_controller.go: InstallerFailed keeps the target revision).
func retries(n operatorv1.NodeStatus) bool {
	return n.LastFailedReason == "InstallerFailed" && n.TargetRevision == n.LastFailedRevision
}

func judgeStaticPods(s *State, o Options) check.Check {
	c := check.Check{
		ID: "static-pods", Title: message.T("Control plane at its newest settings (static pod revisions)"), Expected: message.T("each at its latest revision"),
		Source: message.T("operator status: currentRevision = latestAvailableRevision"),
		Fix:    message.T("Wait: a new revision takes a few minutes; one that failed is named with its cause."),
	}
	var f faults
	var seen []string
	for _, what := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		if c, no := unread(s, c, what); no && c.Status == check.Fail {
			return c
		} else if no {
			continue
		}
		status := s.staticPod(what)
		if status == nil || len(status.NodeStatuses) == 0 {
			continue
		}
		n := status.NodeStatuses[0]
		seen = append(seen, fmt.Sprintf("%s %d", what, n.CurrentRevision))
		switch {
		case n.LastFailedRevision > n.CurrentRevision:
			f.add(!retries(n) || !o.staticPodRolls(s, what), with(message.F("%s failed to reach revision %d", what, n.LastFailedRevision),
				firstLine(n.LastFailedReason+" "+strings.Join(n.LastFailedRevisionErrors, " "))))
		case n.CurrentRevision != status.LatestAvailableRevision || n.TargetRevision != 0 && n.TargetRevision != n.CurrentRevision:
			f.add(!o.staticPodRolls(s, what), message.F("%s is at revision %d of %d", what, n.CurrentRevision, max(n.TargetRevision, status.LatestAvailableRevision)))
		}
	}
	f.grave = append(f.grave, fallbacks(s.Pods)...)
	if len(seen) == 0 {
		if c, no := unread(s, c, "etcd"); no {
			return c
		}
		return absent(c)
	}
	return f.judge(c, message.Data(strings.Join(seen, ", ")))
}

// staticPod returns the status of one of the control plane's operators, or nil.
func (s *State) staticPod(what string) *operatorv1.StaticPodOperatorStatus {
	switch {
	case what == "etcd" && s.Etcd != nil:
		return &s.Etcd.Status.StaticPodOperatorStatus
	case what == "kube-apiserver" && s.API != nil:
		return &s.API.Status.StaticPodOperatorStatus
	case what == "kube-controller-manager" && s.Manager != nil:
		return &s.Manager.Status.StaticPodOperatorStatus
	case what == "kube-scheduler" && s.Scheduler != nil:
		return &s.Scheduler.Status.StaticPodOperatorStatus
	}
	return nil
}

// fallbacks names API servers that went back to their last good revision.
func fallbacks(pods []corev1.Pod) []message.Text {
	const mark = "startup-monitor.static-pods.openshift.io/fallback-"
	var faults []message.Text
	for i := range pods {
		if a := pods[i].Annotations; a[mark+"for-revision"] != "" {
			faults = append(faults, message.F("%s went back from revision %s: %s", pods[i].Name, a[mark+"for-revision"], firstLine(a[mark+"reason"]+" "+a[mark+"message"])))
		}
	}
	return faults
}

func absent(c check.Check) check.Check {
	c.Status, c.Observed, c.Fix = check.Skip, message.T("not checked: this cluster has none"), message.Text{}
	return c
}
