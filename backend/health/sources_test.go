package health_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/health"
)

// online has the site reach the public update service.
func online(s *health.State) { s.Version.Status.Conditions[3].Status = "True" }

// labelled adds an alert that fires, with the labels that OpenShift's own rules give it: its name, its severity, and pairs.
func labelled(since time.Duration, pairs ...string) func(*health.State) {
	return func(s *health.State) {
		a := health.Alert{State: "firing", Labels: map[string]string{}, ActiveAt: now.Add(-since)}
		for i := 0; i+1 < len(pairs); i += 2 {
			a.Labels[pairs[i]] = pairs[i+1]
		}
		s.Wide.Alerts.Active = append(s.Wide.Alerts.Active, a)
	}
}

// both spoils a state twice.
func both(first, second func(*health.State)) func(*health.State) {
	return func(s *health.State) {
		first(s)
		second(s)
	}
}

// owned has a pod belong to a controller of the kind.
func owned(kind, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, Controller: ptr(true)}}
	}
}

// ended is a pod in the phase Failed.
func ended(reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase, p.Status.Reason = corev1.PodFailed, reason
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: ago(time.Hour)}}
	}
}

// rollable is a Deployment whose only replica may be away in a roll-out, so that it says that it is available without any.
func rollable(failure corev1.ConditionStatus, since time.Duration) appsv1.Deployment {
	d := deployment("openshift-ingress", "router-default", corev1.ConditionTrue, time.Hour)
	d.Status.Replicas, d.Status.AvailableReplicas = 0, 0
	d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
		Type: appsv1.DeploymentReplicaFailure, Status: failure, LastTransitionTime: ago(since), Reason: "FailedCreate",
	})
	return d
}

// platformOwned makes the version operator the owner of the first operator, as it does with each of its own.
func platformOwned(s *health.State) {
	s.Operators[0].OwnerReferences = []metav1.OwnerReference{{APIVersion: "config.openshift.io/v1", Kind: "ClusterVersion", Name: "version"}}
}

func eventSince(reason string, count int32, first, last time.Duration) corev1.Event {
	e := event(reason, count, last)
	e.FirstTimestamp = ago(first)
	return e
}

const ahead = -time.Hour // of a time from before the clock was set back

// sourceFaults are states that OpenShift's own components come into, with what they say there.
var sourceFaults = []fault{
	// Alerts: openshift/cluster-version-operator, cluster-monitoring-operator, operator-marketplace, cluster-samples-operator,
	// machine-config-operator, cluster-kube-controller-manager-operator and cluster-kube-apiserver-operator.
	{"catalog alert offline", labelled(day, "alertname", "OperatorHubSourceError", "severity", "warning", "name", "redhat-operators"), "alerts", check.Pass, ""},
	{"catalog alert online", both(online, labelled(day, "alertname", "OperatorHubSourceError", "severity", "warning", "name", "redhat-operators")), "alerts", check.Warn, "OperatorHubSourceError"},
	{"samples without registry.redhat.io", labelled(day, "alertname", "SamplesMissingTBRCredential", "severity", "warning"), "alerts", check.Pass, ""},
	{"catalog pod alert offline", labelled(day, "alertname", "KubePodNotReady", "severity", "warning", "namespace", "openshift-marketplace", "pod", "redhat-operators-x"), "alerts", check.Pass, ""},
	{"catalog pod alert online", both(online, labelled(day, "alertname", "KubePodNotReady", "severity", "warning", "namespace", "openshift-marketplace", "pod", "x")), "alerts", check.Warn, "KubePodNotReady"},
	{"insights degraded alert offline", labelled(day, "alertname", "ClusterOperatorDegraded", "severity", "warning", "name", "insights"), "alerts", check.Pass, ""},
	{"network degraded alert offline", labelled(day, "alertname", "ClusterOperatorDegraded", "severity", "warning", "name", "network"), "alerts", check.Warn, "network"},
	{
		"failing for insights alert offline",
		both(failingFor("ClusterOperatorDegraded", "Cluster operator insights is degraded"), labelled(day, "alertname", "ClusterOperatorDegraded", "severity", "warning", "name", "version")),
		"alerts", check.Pass, "",
	},
	{
		"failing for network alert offline",
		both(failingFor("ClusterOperatorDegraded", "Cluster operator network is degraded"), labelled(day, "alertname", "ClusterOperatorDegraded", "severity", "warning", "name", "version")),
		"alerts", check.Warn, "version",
	},
	{"memory limit of three nodes", labelled(day, "alertname", "HighOverallControlPlaneMemory", "severity", "warning"), "alerts", check.Pass, ""},
	{"memory limit of a node", labelled(day, "alertname", "ExtremelyHighIndividualControlPlaneMemory", "severity", "critical"), "alerts", check.Warn, "Individual"},
	{"memory limit beside a worker", both(labelled(day, "alertname", "HighOverallControlPlaneMemory", "severity", "warning"), func(s *health.State) {
		s.Nodes = append(s.Nodes, s.Nodes[0])
	}), "alerts", check.Warn, "three nodes"},
	{"disruption budget of the only replica", labelled(day, "alertname", "PodDisruptionBudgetAtLimit", "severity", "warning"), "alerts", check.Pass, ""},
	{"disruption budget that is broken", labelled(day, "alertname", "PodDisruptionBudgetLimit", "severity", "critical"), "alerts", check.Warn, "PodDisruptionBudgetLimit"},
	{"error budget after a move", labelled(59*time.Minute, "alertname", "KubeAPIErrorBudgetBurn", "severity", "critical", "long", "6h", "short", "30m"), "alerts", check.Pass, ""},
	{"error budget long after", labelled(61*time.Minute, "alertname", "KubeAPIErrorBudgetBurn", "severity", "critical", "long", "6h", "short", "30m"), "alerts", check.Warn, "ErrorBudget"},
	{"alert with a strange label", labelled(31*time.Minute, "alertname", "PlantTooHot", "severity", "critical", "short", "90000h"), "alerts", check.Warn, "PlantTooHot"},
	{"alert from before the clock was set back", labelled(ahead, "alertname", "PlantTooHot", "severity", "critical"), "alerts", check.Warn, "PlantTooHot"},
	{"minor updates blocked", labelled(day, "alertname", "ClusterNotUpgradeable", "severity", "info"), "alerts", check.Pass, ""},
	{"no updates retrieved", labelled(day, "alertname", "CannotRetrieveUpdates", "severity", "warning"), "alerts", check.Pass, ""},
	{"reservation exceeded", labelled(day, "alertname", "SystemMemoryExceedsReservation", "severity", "warning"), "alerts", check.Warn, "set aside"},

	// The version operator and its ClusterOperators.
	{"minor updates refused", func(s *health.State) {
		s.Version.Status.Conditions = append(s.Version.Status.Conditions, configv1.ClusterOperatorStatusCondition{Type: "Upgradeable", Status: "False", Message: "Cluster operator x blocks"})
		s.Operators[0].Status.Conditions = append(s.Operators[0].Status.Conditions, configv1.ClusterOperatorStatusCondition{Type: "Upgradeable", Status: "False"})
	}, "version", check.Pass, ""},
	{"insights disabled by the pull secret", func(s *health.State) {
		s.Operators[1].Status.Conditions = append(s.Operators[1].Status.Conditions, configv1.ClusterOperatorStatusCondition{Type: "Disabled", Status: "True", Reason: "NoToken"})
	}, "operators", check.Pass, ""},
	{"capabilities switched off", func(s *health.State) { // Console, Ingress and the rest report nothing then, and have no objects
		s.Version.Status.Capabilities.EnabledCapabilities = []configv1.ClusterVersionCapability{"MachineAPI"}
		s.Operators, s.Routes = s.Operators[:1], nil
		for id := range s.Sites {
			s.Sites[id] = health.Answer{Err: health.ErrNoRoute}
		}
		for _, what := range []string{"routers", "clients"} {
			s.Wide.Errors[what] = notFound
		}
		s.Wide.Routers, s.Wide.Identity.Clients, s.Wide.Parts = nil, nil, nil
	}, "operators", check.Pass, ""},
	{"operator of another product", both(platformOwned, func(s *health.State) {
		s.Operators = append(s.Operators, configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: "aro"}})
	}), "operators", check.Warn, "aro does not say whether it is available"},
	{"release of another product", both(platformOwned, func(s *health.State) {
		co := operator("aro", "True", "False", "False", "")
		co.Status.Versions = []configv1.OperandVersion{{Name: "operator", Version: "20260101"}}
		s.Operators = append(s.Operators, co)
	}), "operator-versions", check.Pass, ""},
	{"owned operator degraded", both(platformOwned, func(s *health.State) { s.Operators[0].Status.Conditions[2].Status = "True" }), "operators", check.Fail, "is degraded"},

	// etcd and static pods.
	{"etcd part degraded", func(s *health.State) {
		s.Etcd.Status.Conditions = append(s.Etcd.Status.Conditions, operatorv1.OperatorCondition{
			Type: "ClusterMemberControllerDegraded", Status: "True", Message: "could not get list of unhealthy members", LastTransitionTime: ago(time.Minute),
		})
	}, "etcd", check.Fail, "ClusterMemberController"},

	// Controllers: the version operator takes a ReplicaFailure for an error.
	{"router without pods", func(s *health.State) { s.Wide.Deployments[0] = rollable("True", 6*time.Minute) }, "controllers", check.Fail, "router-default has 0 of 1 replicas"},
	{"router whose pods were just refused", func(s *health.State) { s.Wide.Deployments[0] = rollable("True", time.Minute) }, "controllers", check.Warn, "router-default"},
	{"router rolling out", func(s *health.State) { s.Wide.Deployments[0] = rollable("False", time.Hour) }, "controllers", check.Warn, "router-default"},
	{"refused pods beyond what is needed", func(s *health.State) {
		s.Wide.Deployments[0] = rollable("True", time.Hour)
		s.Wide.Deployments[0].Status.AvailableReplicas = 1
	}, "controllers", check.Pass, ""},

	// Pods that ended in failure, which OpenShift's own alert passes over.
	{"evicted and replaced", func(s *health.State) {
		s.Pods = append(s.Pods, pod("openshift-dns", "x", ended("Evicted"), owned("ReplicaSet", "x-1")))
	}, "pods", check.Pass, ""},
	{"refused after a start and replaced", func(s *health.State) {
		s.Pods = append(s.Pods, pod("plant", "cnf-0", ended("UnexpectedAdmissionError"), owned("StatefulSet", "cnf")))
	}, "pods", check.Pass, ""},
	{"installer that was tried again", func(s *health.State) {
		s.Pods = append(s.Pods, pod("openshift-kube-apiserver", "installer-7-node", ended(""), owned("ConfigMap", "revision-status-7")))
	}, "pods", check.Pass, ""},
	{"static pod that failed", func(s *health.State) {
		s.Pods = append(s.Pods, pod("openshift-etcd", "etcd-x", ended("Error"), owned("Node", "node")))
	}, "pods", check.Warn, "ended in failure"},
	{"static pod with restarts", func(s *health.State) {
		s.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 9, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	}, "pods", check.Pass, ""},

	// Events.
	{"pull of a catalog offline", func(s *health.State) {
		e := event("BackOff", 400, time.Second)
		e.InvolvedObject.Namespace = "openshift-marketplace"
		s.Wide.Events = []corev1.Event{e}
	}, "events", check.Pass, ""},
	{"pull of a catalog online", both(online, func(s *health.State) {
		e := event("BackOff", 400, time.Second)
		e.InvolvedObject.Namespace = "openshift-marketplace"
		s.Wide.Events = []corev1.Event{e}
	}), "events", check.Warn, "400 times"},
	{"event now and then", func(s *health.State) {
		s.Wide.Events = []corev1.Event{eventSince("Unhealthy", 6, 5*time.Hour, time.Minute)}
	}, "events", check.Pass, ""},
	{"event every five minutes", func(s *health.State) {
		s.Wide.Events = []corev1.Event{eventSince("Failed", 6, 26*time.Minute, time.Minute)}
	}, "events", check.Warn, "6 times"},
	{"event from before the clock was set back", func(s *health.State) { s.Wide.Events = []corev1.Event{event("BackOff", 40, ahead)} }, "events", check.Pass, ""},

	// Units: those that systemd starts again for ever, and one that only waits.
	{"Open vSwitch ended", func(s *health.State) { s.Wide.Units = []string{"ovs-vswitchd.service"} }, "units", check.Fail, "ovs-vswitchd.service"},
	{"a port without a lease", func(s *health.State) { s.Wide.Units = []string{"NetworkManager-wait-online.service"} }, "units", check.Pass, ""},

	// A clock that was set back.
	{"node from before the clock was set back", func(s *health.State) { s.Nodes[0].Status.Conditions[0].LastHeartbeatTime = ago(ahead) }, "node", check.Fail, "before the clock was set back"},
	{"node with a lease since", func(s *health.State) {
		s.Nodes[0].Status.Conditions[0].LastHeartbeatTime = ago(ahead)
		s.Leases["node"] = now.Add(-8 * time.Second)
	}, "node", check.Pass, ""},
	{"node with an old lease", func(s *health.State) {
		s.Nodes[0].Status.Conditions[0].LastHeartbeatTime = ago(ahead)
		s.Leases["node"] = now.Add(-8 * time.Minute)
	}, "node", check.Fail, "8m0s ago"},
	{"clocks that differ a little", func(s *health.State) { s.Nodes[0].Status.Conditions[0].LastHeartbeatTime = ago(-2 * time.Minute) }, "node", check.Pass, ""},
	{"pod from before the clock was set back", func(s *health.State) { s.Pods[0] = pod("openshift-etcd", "e", unready(ahead)) }, "pods", check.Fail, "before the clock was set back"},
	{"request from before the clock was set back", func(s *health.State) {
		s.CSRs = []certificatesv1.CertificateSigningRequest{csr(ahead)}
	}, "csrs", check.Fail, "approval"},
	{"Deployment from before the clock was set back", func(s *health.State) {
		s.Wide.Deployments[0] = deployment("openshift-console", "console", corev1.ConditionFalse, ahead)
	}, "controllers", check.Fail, "console has 0 of 1"},
}

const day = 24 * time.Hour

func TestWhatOpenShiftSaysIsUnderstood(t *testing.T) {
	for _, f := range sourceFaults {
		t.Run(f.name, func(t *testing.T) {
			s := healthy()
			f.spoil(s)
			got := judge(s)[f.id]
			if got.Status != f.want || !strings.Contains(got.Observed.String(), f.says) {
				t.Errorf("%s is %s: %q; want %s with %q", f.id, got.Status, got.Observed, f.want, f.says)
			}
			if bad := got.Status == check.Warn || got.Status == check.Fail; bad != (got.Fix.String() != "") {
				t.Errorf("%s is %s with the fix %q", f.id, got.Status, got.Fix)
			}
		})
	}
}

// TestACapabilityThatIsOffFailsNothing: a cluster without the console, its routers, registry, samples and catalogs is no worse for it.
func TestACapabilityThatIsOffFailsNothing(t *testing.T) {
	s := healthy()
	at := slices.IndexFunc(sourceFaults, func(f fault) bool { return f.name == "capabilities switched off" })
	sourceFaults[at].spoil(s)
	for id, c := range judge(s) {
		if c.Status == check.Fail || c.Status == check.Warn {
			t.Errorf("%s is %s: %s", id, c.Status, c.Observed)
		}
	}
}

// TestAPartOfEtcdsOperatorMayStumble: the parts of etcd's operator are degraded at each restart of the database, which the operator itself
// takes for nothing for up to 10 minutes. So does whoever stays to look; a landing waits until it is over.
func TestAPartOfEtcdsOperatorMayStumble(t *testing.T) {
	for _, c := range []struct {
		follows bool
		since   time.Duration
		want    check.Status
	}{{false, time.Minute, check.Fail}, {true, 9 * time.Minute, check.Warn}, {true, 11 * time.Minute, check.Fail}, {true, ahead, check.Fail}} {
		s := healthy()
		s.Etcd.Status.Conditions[1] = operatorv1.OperatorCondition{Type: "EtcdMembersDegraded", Status: "True", LastTransitionTime: ago(c.since)}
		for _, got := range health.Judge(s, health.Options{Domain: domain, Follows: c.follows}) {
			if got.ID == "etcd" && got.Status != c.want {
				t.Errorf("degraded for %s, looked at by one who stays: %v: %s", c.since, c.follows, got.Status)
			}
		}
	}
}

// TestAnInstallerIsTriedAgain: one that failed is not a fault for who stays while its operator tries again. One that fell back is.
func TestAnInstallerIsTriedAgain(t *testing.T) {
	for reason, want := range map[string]check.Status{"InstallerFailed": check.Warn, "OperandFailedFallback": check.Fail} {
		s := healthy()
		s.API.Status.StaticPodOperatorStatus = staticPods(7, 8, 8, 8)
		s.API.Status.NodeStatuses[0].LastFailedReason = reason
		co := operator("kube-apiserver", "True", "True", "False", "")
		co.Status.Conditions[1].LastTransitionTime = ago(time.Minute)
		s.Operators = append(s.Operators, co)
		for _, got := range health.Judge(s, health.Options{Domain: domain, Follows: true}) {
			if got.ID == "static-pods" && got.Status != want {
				t.Errorf("%s: %s: %s", reason, got.Status, got.Observed)
			}
		}
		if got := judge(s)["static-pods"]; got.Status != check.Fail {
			t.Errorf("%s, for a landing: %s", reason, got.Status)
		}
	}
}

// TestAnAPIThatIsNotReadySaysWhy: its answer begins with all that is well.
func TestAnAPIThatIsNotReadySaysWhy(t *testing.T) {
	cluster, _ := api(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			http.Error(w, "[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\n[+]poststarthook/x ok\nreadyz check failed", http.StatusInternalServerError)
			return
		}
		http.NotFound(w, r)
	})
	s := health.Look(t.Context(), cluster, health.Options{})
	if c := judge(s)["api"]; c.Status != check.Fail || !strings.HasPrefix(c.Observed.String(), "answers, but is not ready: etcd: ") {
		t.Errorf("%s: %s", c.Status, c.Observed)
	}
	if s.Away != nil || errors.Unwrap(s.NotReady) == nil {
		t.Errorf("away: %v; not ready: %v", s.Away, s.NotReady)
	}
}
