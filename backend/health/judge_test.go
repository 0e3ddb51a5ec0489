package health_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	routev1 "github.com/openshift/api/route/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

var now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

const domain = "edge1.example.org"

var nodeIP = netip.MustParseAddr("192.168.127.10")

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

func operator(name string, available, progressing, degraded configv1.ConditionStatus, message string) configv1.ClusterOperator {
	return configv1.ClusterOperator{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: configv1.ClusterOperatorStatus{Conditions: []configv1.ClusterOperatorStatusCondition{
			{Type: configv1.OperatorAvailable, Status: available, Message: message},
			{Type: configv1.OperatorProgressing, Status: progressing, Message: message},
			{Type: configv1.OperatorDegraded, Status: degraded, Message: message},
		}},
	}
}

func pod(namespace, name string, change ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: ago(time.Hour)},
		Status: corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(time.Hour)}},
		},
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

func waiting(reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Image: "quay.io/x@sha256:1", RestartCount: 7,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
		}}
	}
}

func unready(since time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: ago(since)}}
	}
}

func route(namespace, name, host string, admitted corev1.ConditionStatus) routev1.Route {
	return routev1.Route{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       routev1.RouteSpec{Host: host},
		Status: routev1.RouteStatus{Ingress: []routev1.RouteIngress{{
			Host: host, Conditions: []routev1.RouteIngressCondition{{Type: routev1.RouteAdmitted, Status: admitted, Reason: "HostAlreadyClaimed"}},
		}}},
	}
}

// canary is the route as the ingress operator keeps it: a subdomain, to which the router appends its own domain.
func canary(host string) routev1.Route {
	r := route("openshift-ingress-canary", "canary", host, corev1.ConditionTrue)
	r.Spec.Host, r.Spec.Subdomain = "", "canary-openshift-ingress-canary"
	return r
}

func secret(name string, from, to time.Time, owner ...metav1.OwnerReference) metav1.PartialObjectMetadata {
	return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "openshift-kube-apiserver", Name: name, OwnerReferences: owner,
		Annotations: map[string]string{
			"auth.openshift.io/certificate-not-before": from.Format(time.RFC3339),
			"auth.openshift.io/certificate-not-after":  to.Format(time.RFC3339),
		},
	}}
}

func days(n float64) time.Duration { return time.Duration(n * 24 * float64(time.Hour)) }

func shown(name string, sans ...string) health.Shown {
	return health.Shown{Name: name, Leaf: &x509.Certificate{
		DNSNames: sans, NotBefore: now.Add(-days(10)), NotAfter: now.Add(days(700)), Issuer: pkix.Name{CommonName: "some-signer"},
	}}
}

func staticPods(current, target, latest, failed int32) operatorv1.StaticPodOperatorStatus {
	return operatorv1.StaticPodOperatorStatus{
		OperatorStatus: operatorv1.OperatorStatus{LatestAvailableRevision: latest},
		NodeStatuses: []operatorv1.NodeStatus{{
			NodeName: "node", CurrentRevision: current, TargetRevision: target, LastFailedRevision: failed, LastFailedReason: "InstallerFailed",
		}},
	}
}

// healthy is a single node that moved to its site and is well; the site is offline.
func healthy() *health.State {
	cv := func(kind configv1.ClusterStatusConditionType, status configv1.ConditionStatus) configv1.ClusterOperatorStatusCondition {
		return configv1.ClusterOperatorStatusCondition{Type: kind, Status: status}
	}
	etcd := &operatorv1.Etcd{Status: operatorv1.EtcdStatus{StaticPodOperatorStatus: staticPods(3, 0, 3, 0)}}
	etcd.Status.Conditions = []operatorv1.OperatorCondition{
		{Type: "EtcdMembersAvailable", Status: operatorv1.ConditionTrue}, {Type: "EtcdMembersDegraded", Status: operatorv1.ConditionFalse},
	}
	return &health.State{
		At: now,
		Version: &configv1.ClusterVersion{Status: configv1.ClusterVersionStatus{
			Desired: configv1.Release{Version: "4.18.12"},
			History: []configv1.UpdateHistory{{State: configv1.CompletedUpdate, Version: "4.18.12"}},
			Conditions: []configv1.ClusterOperatorStatusCondition{
				cv(configv1.OperatorAvailable, "True"), cv("Failing", "False"), cv(configv1.OperatorProgressing, "False"), cv(configv1.RetrievedUpdates, "False"),
			},
		}},
		Operators: []configv1.ClusterOperator{operator("authentication", "True", "False", "False", ""), operator("insights", "True", "False", "False", "")},
		Nodes: []corev1.Node{{
			ObjectMeta: metav1.ObjectMeta{Name: "node", Annotations: map[string]string{
				"machineconfiguration.openshift.io/currentConfig": "rendered-master-1", "machineconfiguration.openshift.io/desiredConfig": "rendered-master-1",
				"machineconfiguration.openshift.io/state": "Done",
				"k8s.ovn.org/l3-gateway-config":           `{"default":{"mode":"shared","ip-addresses":["198.51.100.10/24"],"next-hops":["198.51.100.1"]}}`,
			}},
			Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: nodeIP.String()}}, Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: ago(90 * time.Second)},
				{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse},
			}},
		}},
		Leases: map[string]time.Time{},
		Pools: []machinev1.MachineConfigPool{{
			ObjectMeta: metav1.ObjectMeta{Name: "master"},
			Status: machinev1.MachineConfigPoolStatus{
				MachineCount: 1, UpdatedMachineCount: 1, ReadyMachineCount: 1,
				Conditions: []machinev1.MachineConfigPoolCondition{
					{Type: machinev1.MachineConfigPoolUpdated, Status: corev1.ConditionTrue},
					{Type: machinev1.MachineConfigPoolUpdating, Status: corev1.ConditionFalse},
					{Type: machinev1.MachineConfigPoolDegraded, Status: corev1.ConditionFalse},
				},
			},
		}},
		Etcd: etcd,
		API:  &operatorv1.KubeAPIServer{Status: operatorv1.KubeAPIServerStatus{StaticPodOperatorStatus: staticPods(7, 0, 7, 0)}},
		Pods: []corev1.Pod{pod("openshift-etcd", "etcd-node"), pod("plant", "app")},
		Routes: []routev1.Route{
			route("openshift-console", "console", "console-openshift-console.apps.factory.example.com", corev1.ConditionTrue),
			route("openshift-console", "console-custom", "console.apps."+domain, corev1.ConditionTrue),
			route("openshift-authentication", "oauth-openshift", "oauth.apps."+domain, corev1.ConditionTrue),
			canary("canary-openshift-ingress-canary.apps.factory.example.com"),
			route("plant", "portal", "portal.plant.example", corev1.ConditionTrue),
		},
		Secrets: []metav1.PartialObjectMetadata{secret("kubelet-client", now.Add(-days(10)), now.Add(days(20)))},
		Sites: map[string]health.Answer{
			"web-console": {Host: "console.apps." + domain, Status: 200}, "web-login": {Host: "oauth.apps." + domain, Status: 200},
			"web-canary": {Host: "canary-openshift-ingress-canary.apps.factory.example.com", Status: 200},
		},
		Served: map[string]health.Shown{
			"cert-api":     shown("api.factory.example.com", "api.factory.example.com"),
			"cert-api-new": shown("api."+domain, "api."+domain),
			"cert-apps":    shown("touchdown.apps."+domain, "*.apps."+domain),
		},
		WayOut: health.WayOut{Server: nodeIP, Asked: 1, From: "pod"},
		Names: health.Names{Want: []netip.Addr{nodeIP}, Answers: []health.NameAnswer{
			{Name: "oauth-openshift.apps." + domain, Addrs: []netip.Addr{nodeIP}}, {Name: "api." + domain, Addrs: []netip.Addr{nodeIP}},
		}},
		Infra:  &configv1.Infrastructure{Status: configv1.InfrastructureStatus{APIServerURL: "https://api.factory.example.com:6443"}},
		Wide:   healthyWide(),
		Errors: map[string]error{},
	}
}

func judge(s *health.State) map[string]check.Check {
	all := map[string]check.Check{}
	for _, c := range health.Judge(s, health.Options{Domain: domain, Kept: []string{"console.vanity.example", "login.vanity.example"}, Needless: needless(nil)}) {
		all[c.ID] = c
	}
	return all
}

// TestPoolThatTheLandingPaused: nobody else ends that pause, and only the landing's own pool can be meant.
func TestPoolThatTheLandingPaused(t *testing.T) {
	for ours, want := range map[bool]check.Status{true: check.Fail, false: check.Warn} {
		for _, name := range []string{"master", "worker"} {
			s := healthy()
			s.Pools[0].Name, s.Pools[0].Spec.Paused = name, true
			if name == "worker" {
				want = check.Warn
			}
			for _, c := range health.Judge(s, health.Options{Domain: domain, Paused: ours}) {
				if c.ID != "pools" {
					continue
				}
				if owner := strings.Contains(c.Fix.String(), "owner"); c.Status != want || owner == (want == check.Fail) || strings.Contains(c.Observed.String(), "by this landing") == owner {
					t.Errorf("%s, ours %v: %s, %s, %s", name, ours, c.Status, c.Observed, c.Fix)
				}
			}
		}
	}
}

func TestHealthyClusterPasses(t *testing.T) {
	checks := health.Judge(healthy(), health.Options{Domain: domain})
	seen := map[string]bool{}
	for _, c := range checks {
		if c.Status != check.Pass {
			t.Errorf("%s is %s: %s", c.ID, c.Status, c.Observed)
		}
		if seen[c.ID] || c.Title.String() == "" || c.Expected.String() == "" || c.Source.String() == "" || c.Fix.String() != "" {
			t.Errorf("check is incomplete or twice there: %+v", c)
		}
		seen[c.ID] = true
	}
	if len(checks) != 39 {
		t.Errorf("%d checks, want 39", len(checks))
	}
}

var notFound = apierrors.NewNotFound(schema.GroupResource{Resource: "x"}, "cluster")

// faults are those of what every look reads.
var faults = []fault{
	{"recovery in use", func(s *health.State) { s.Detour = message.T("The kubeconfig is not accepted.") }, "access", check.Warn, "not accepted"},
	{"name that pods do not find", func(s *health.State) {
		s.Names.Answers[0] = health.NameAnswer{Name: "oauth-openshift.apps." + domain, Err: errors.New("no such name")}
	}, "cluster-dns", check.Fail, "oauth-openshift.apps." + domain + ": no such name"},
	{"name of another machine", func(s *health.State) {
		s.Names.Answers[1].Addrs = []netip.Addr{netip.MustParseAddr("192.0.2.99")}
	}, "cluster-dns", check.Fail, "leads to 192.0.2.99, which is not this node (192.168.127.10)"},
	{"name without address", func(s *health.State) { s.Names.Answers[1].Addrs = nil }, "cluster-dns", check.Fail, "has no address"},
	{"no answer to a pod", func(s *health.State) { s.WayOut.From = "" }, "pod-request", check.Fail, "none of 1 pods"},
	{"nobody asked", func(s *health.State) { s.WayOut = health.WayOut{} }, "pod-request", check.Skip, "nobody asked"},
	{"no DNS service", func(s *health.State) { s.Names = health.Names{Skip: message.T("the cluster has no DNS service")} }, "cluster-dns", check.Skip, "no DNS service"},
	{"DNS operator not read", func(s *health.State) { s.Errors["dns"] = errors.New("forbidden") }, "cluster-dns", check.Fail, "forbidden"},
	{"API away", func(s *health.State) { s.Away = errors.New("connection refused") }, "api", check.Fail, "connection refused"},
	{"consequence of API away", func(s *health.State) { s.Away = errors.New("refused") }, "operators", check.Skip, "does not answer"},
	{"API not ready", func(s *health.State) { s.NotReady = errors.New("[-]etcd failed") }, "api", check.Fail, "etcd"},
	{"update at work", func(s *health.State) { s.Version.Status.Conditions[2].Status = "True" }, "version", check.Fail, "update"},
	{"version failing", func(s *health.State) { s.Version.Status.Conditions[1].Status = "True" }, "version", check.Fail, "failing"},
	{"version does not say whether it fails", func(s *health.State) {
		s.Version.Status.Conditions = slices.Delete(s.Version.Status.Conditions, 1, 2)
	}, "version", check.Fail, "does not say whether it is failing"},
	{"installation not complete", func(s *health.State) { s.Version.Status.History[0].State = "Partial" }, "version", check.Fail, "partial"},
	{"no version kind", func(s *health.State) { s.Version, s.Errors["version"] = nil, notFound }, "version", check.Skip, "none"},
	{"operator degraded", func(s *health.State) {
		s.Operators[0] = operator("authentication", "True", "False", "True", "no route\nmore")
	}, "operators", check.Fail, "authentication is degraded: no route"},
	{"operator unmanaged", func(s *health.State) {
		s.Operators[0] = operator("authentication", "Unknown", "Unknown", "Unknown", "")
		s.Operators[0].Status.Conditions[0].Reason = "Unmanaged"
	}, "operators", check.Fail, "authentication is not available: Unmanaged"},
	{"operator silent", func(s *health.State) { s.Operators[0].Status.Conditions = nil }, "operators", check.Fail, "authentication"},
	{"no operators yet", func(s *health.State) { s.Operators = nil }, "operators", check.Fail, "no services"},
	{"database torn", func(s *health.State) {
		s.NotReady = errors.New("etcd failed")
		s.Torn = &problem.Problem{Code: "ETC-RENT", Summary: message.Data("its files are damaged"), Fix: message.Data("waiting does not help")}
	}, "api", check.Fail, "its files are damaged"},
	{"operators not readable", func(s *health.State) { s.Errors["operators"] = errors.New("timed out") }, "operators", check.Fail, "timed out"},
	{"insights offline", func(s *health.State) { s.Operators[1] = operator("insights", "False", "False", "True", "no net") }, "operators", check.Pass, ""},
	{"insights offline warns", func(s *health.State) { s.Operators[1] = operator("insights", "False", "False", "True", "no net") }, "operators-optional", check.Warn, "insights"},
	{"cluster that fails for insights offline", failingFor("ClusterOperatorDegraded", "Cluster operator insights is degraded"), "version", check.Pass, "need the Internet"},
	{"cluster that fails for two operators offline", failingFor("ClusterOperatorsDegraded", "Cluster operators insights, openshift-samples are degraded"), "version", check.Pass, "need the Internet"},
	{
		"cluster that fails in two ways offline",
		failingFor("MultipleErrors", "Multiple errors are preventing progress:\n* Cluster operator insights is not available\n* Cluster operators marketplace, openshift-samples are degraded"),
		"version", check.Pass, "need the Internet",
	},
	{"cluster that fails for another operator too", failingFor("ClusterOperatorsDegraded", "Cluster operators insights, network are degraded"), "version", check.Fail, "failing"},
	{
		"cluster that fails for a manifest too",
		failingFor("MultipleErrors", "Multiple errors are preventing progress:\n* Cluster operator insights is degraded\n* Could not update deployment \"openshift-x/y\" (1 of 900)"),
		"version", check.Fail, "failing",
	},
	{
		"cluster that fails in two ways without a heading",
		failingFor("MultipleErrors", "Could not update deployment \"openshift-x/y\" (1 of 900)\n* Cluster operator insights is degraded"),
		"version", check.Fail, "failing",
	},
	{"cluster that fails without a cause", failingFor("MultipleErrors", "Multiple errors are preventing progress:"), "version", check.Fail, "failing"},
	{"cluster that fails with an unknown message", failingFor("MultipleErrors", "Multiple errors are preventing progress: * Cluster operator insights is degraded"), "version", check.Fail, "failing"},
	{"cluster that fails for insights online", func(s *health.State) {
		failingFor("ClusterOperatorDegraded", "Cluster operator insights is degraded")(s)
		s.Version.Status.Conditions[3].Status = "True"
	}, "version", check.Fail, "failing"},
	{"insights behind an update service of the owner's", func(s *health.State) { // which answers without the internet
		s.Version.Spec.Upstream = "https://updates.site.example/api/upgrades_info/v1/graph"
		s.Version.Status.Conditions[3].Status = "True"
		s.Operators[1] = operator("insights", "False", "False", "True", "no net")
	}, "operators", check.Pass, ""},
	{"insights beside a release that no channel has", func(s *health.State) { // the update service answers
		s.Version.Status.Conditions[3].Reason = "VersionNotFound"
		s.Operators[1] = operator("insights", "False", "False", "True", "no net")
	}, "operators", check.Fail, "insights"},
	{"insights online", func(s *health.State) {
		s.Version.Status.Conditions[3].Status = "True"
		s.Operators[1] = operator("insights", "False", "False", "True", "no net")
	}, "operators", check.Fail, "insights"},
	{"node not ready", func(s *health.State) { s.Nodes[0].Status.Conditions[0].Status = "Unknown" }, "node", check.Fail, "not ready"},
	{"stale node", func(s *health.State) { s.Nodes[0].Status.Conditions[0].LastHeartbeatTime = ago(101 * time.Second) }, "node", check.Fail, "1m41s"},
	{"quiet node with a fresh lease", func(s *health.State) {
		s.Nodes[0].Status.Conditions[0].LastHeartbeatTime = ago(4 * time.Minute)
		s.Leases["node"] = now.Add(-8 * time.Second)
	}, "node", check.Pass, ""},
	{"no node", func(s *health.State) { s.Nodes = nil }, "node", check.Fail, "no node"},
	{"disk pressure", func(s *health.State) { s.Nodes[0].Status.Conditions[1].Status = "True" }, "node-pressure", check.Fail, "disk"},
	{"cordoned", func(s *health.State) { s.Nodes[0].Spec.Unschedulable = true }, "node-schedulable", check.Fail, "cordoned"},
	{"pool updating", func(s *health.State) { s.Pools[0].Status.Conditions[1].Status = "True" }, "pools", check.Fail, "master"},
	{"pool degraded", func(s *health.State) {
		s.Pools[0].Status.Conditions[2] = machinev1.MachineConfigPoolCondition{Type: "Degraded", Status: "True", Reason: "drift", Message: "/etc/x"}
	}, "pools", check.Fail, "/etc/x"},
	{"pool that cannot be rendered", func(s *health.State) { // as the operator writes it: without reasons
		s.Pools[0].Status.Conditions = append(s.Pools[0].Status.Conditions[:2:2], machinev1.MachineConfigPoolCondition{Type: "Degraded", Status: "True"},
			machinev1.MachineConfigPoolCondition{Type: "RenderDegraded", Status: "True", Message: "Failed to render configuration for pool master: 99-owner"})
	}, "pools", check.Fail, "master: degraded: Failed to render configuration for pool master: 99-owner"},
	{"pool paused", func(s *health.State) { s.Pools[0].Spec.Paused = true }, "pools", check.Warn, "master: the configuration of the machines is paused"},
	{"pool paused and degraded", func(s *health.State) {
		s.Pools[0].Spec.Paused, s.Pools[0].Status.Conditions[2].Status = true, "True"
	}, "pools", check.Fail, "degraded"},
	{"node has other config", func(s *health.State) {
		s.Nodes[0].Annotations["machineconfiguration.openshift.io/desiredConfig"] = "rendered-2"
	}, "pools", check.Fail, "node"},
	{"etcd member lost", func(s *health.State) { s.Etcd.Status.Conditions[0].Status = "False" }, "etcd", check.Fail, "EtcdMembersAvailable"},
	{"revision on its way", func(s *health.State) { s.API.Status.StaticPodOperatorStatus = staticPods(7, 8, 8, 0) }, "static-pods", check.Fail, "kube-apiserver is at revision 7 of 8"},
	{"revision failed", func(s *health.State) { s.API.Status.StaticPodOperatorStatus = staticPods(7, 0, 8, 8) }, "static-pods", check.Fail, "InstallerFailed"},
	{"old failure is history", func(s *health.State) { s.API.Status.StaticPodOperatorStatus = staticPods(9, 0, 9, 8) }, "static-pods", check.Pass, ""},
	{"fell back", func(s *health.State) {
		s.Pods[0].Annotations = map[string]string{"startup-monitor.static-pods.openshift.io/fallback-for-revision": "8"}
	}, "static-pods", check.Fail, "went back"},
	{"crash loop", func(s *health.State) { s.Pods[0] = pod("openshift-etcd", "etcd-node", waiting("CrashLoopBackOff")) }, "pods", check.Fail, "7 restarts"},
	{"image missing", func(s *health.State) { s.Pods[0] = pod("openshift-dns", "dns", waiting("ImagePullBackOff")) }, "images", check.Fail, "openshift-dns/dns misses its image"},
	{"image missing is not a sick program", func(s *health.State) { s.Pods[0] = pod("openshift-dns", "dns", waiting("ErrImagePull")) }, "pods", check.Pass, ""},
	{"catalog offline", func(s *health.State) {
		s.Pods[0] = pod("openshift-marketplace", "redhat-operators", waiting("ImagePullBackOff"))
	}, "images", check.Warn, "redhat-operators"},
	{"user's own image", func(s *health.State) { s.Pods[1] = pod("plant", "app", waiting("ImagePullBackOff")) }, "images", check.Warn, "plant/app"},
	{"pod starting", func(s *health.State) { s.Pods[0] = pod("openshift-etcd", "e", unready(time.Minute)) }, "pods", check.Warn, "1m0s"},
	{"damaged image", func(s *health.State) { s.Pods[0] = pod("openshift-etcd", "etcd-node", waiting("ImageInspectError")) }, "pods", check.Fail, "fails to start (ImageInspectError"},
	{"pod does not start", func(s *health.State) { s.Pods[0] = pod("openshift-etcd", "e", unready(6*time.Minute)) }, "pods", check.Fail, "6m0s"},
	{"finished installer", func(s *health.State) {
		s.Pods[0] = pod("openshift-etcd", "installer-3", unready(time.Hour), func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	}, "pods", check.Pass, ""},
	{"failed job's pod", func(s *health.State) {
		s.Pods[0] = pod("openshift-x", "job-1", unready(time.Hour), func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job"}} })
	}, "pods", check.Pass, ""},
	{"evicted", func(s *health.State) {
		s.Pods[0] = pod("openshift-x", "e", func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted" })
	}, "pods", check.Warn, "Evicted"},
	{"young CSR", func(s *health.State) { s.CSRs = []certificatesv1.CertificateSigningRequest{csr(time.Minute)} }, "csrs", check.Warn, "approval"},
	{"old CSR", func(s *health.State) { s.CSRs = []certificatesv1.CertificateSigningRequest{csr(3 * time.Minute)} }, "csrs", check.Fail, "approval"},
	{"foreign CSR", func(s *health.State) {
		r := csr(time.Hour)
		r.Spec.Username = "system:node:other"
		s.CSRs = []certificatesv1.CertificateSigningRequest{r}
	}, "csrs", check.Warn, `not wait for it: it was asked for by "system:node:other"`},
	{"superseded CSR", func(s *health.State) { // the kubelet had to ask again; the step csrs never approves the older one
		s.CSRs = []certificatesv1.CertificateSigningRequest{clientCSR("csr-1", time.Hour), clientCSR("csr-2", 59*time.Minute, certificatesv1.CertificateApproved)}
		s.CSRs[1].Status.Certificate = []byte("signed")
	}, "csrs", check.Warn, "the kubelet has asked again since"},
	{"newest CSR", func(s *health.State) {
		s.CSRs = []certificatesv1.CertificateSigningRequest{clientCSR("csr-1", time.Hour), clientCSR("csr-2", 59*time.Minute)}
	}, "csrs", check.Fail, "csr-2"},
	{"unsigned CSR", func(s *health.State) {
		s.CSRs = []certificatesv1.CertificateSigningRequest{csr(3*time.Minute, certificatesv1.CertificateApproved)}
	}, "csrs", check.Fail, "not signed"},
	{"denied CSR", func(s *health.State) {
		s.CSRs = []certificatesv1.CertificateSigningRequest{csr(time.Hour, certificatesv1.CertificateDenied)}
	}, "csrs", check.Pass, ""},
	{"route refused", func(s *health.State) { s.Routes[2].Status.Ingress[0].Conditions[0].Status = "False" }, "routes", check.Fail, "HostAlreadyClaimed"},
	{"route nobody looked at", func(s *health.State) { s.Routes[2].Status.Ingress = nil }, "routes", check.Fail, "no router"},
	{"user's route refused", func(s *health.State) { s.Routes[4].Status.Ingress[0].Conditions[0].Status = "False" }, "routes", check.Warn, "plant/portal"},
	{"login has no new name", func(s *health.State) {
		s.Routes[2] = route("openshift-authentication", "oauth-openshift", "oauth.apps.old.example", corev1.ConditionTrue)
	}, "routes", check.Fail, "Login page"},
	{"console with a name of the owner's", func(s *health.State) {
		s.Routes[1] = route("openshift-console", "console-custom", "console.vanity.example", corev1.ConditionTrue)
	}, "routes", check.Pass, ""},
	{"login with a name of the owner's", func(s *health.State) {
		s.Routes[2] = route("openshift-authentication", "oauth-openshift", "login.vanity.example", corev1.ConditionTrue)
	}, "routes", check.Pass, ""},
	{"monitoring with old name", func(s *health.State) {
		s.Routes = append(s.Routes, route("openshift-monitoring", "thanos", "thanos.apps.old.example", corev1.ConditionTrue))
	}, "routes", check.Warn, "openshift-monitoring/thanos"},
	{"console down", func(s *health.State) {
		s.Sites["web-console"] = health.Answer{Host: "console.apps." + domain, Status: http.StatusServiceUnavailable}
	}, "web-console", check.Fail, "503"},
	{"console silent", func(s *health.State) { s.Sites["web-console"] = health.Answer{Host: "c", Err: errors.New("refused")} }, "web-console", check.Fail, "refused"},
	{"new name not served", func(s *health.State) { s.Served["cert-api-new"] = shown("api."+domain, "api.factory.example.com") }, "cert-api-new", check.Fail, "other names"},
	{"new name from unknown CA", func(s *health.State) {
		x := shown("api."+domain, "api."+domain)
		x.Trust = x509.UnknownAuthorityError{}
		s.Served["cert-api-new"] = x
	}, "cert-api-new", check.Fail, "some-signer"},
	{"router's own CA", func(s *health.State) {
		x := shown("touchdown.apps."+domain, "*.apps."+domain)
		x.Trust = x509.UnknownAuthorityError{}
		s.Served["cert-apps"] = x
	}, "cert-apps", check.Warn, "some-signer"},
	{"apps expired", func(s *health.State) { s.Served["cert-apps"].Leaf.NotAfter = now.Add(-time.Hour) }, "cert-apps", check.Fail, "expired"},
	{"apps not valid yet", func(s *health.State) { s.Served["cert-apps"].Leaf.NotBefore = now.Add(time.Hour) }, "cert-apps", check.Fail, "not valid before"},
	{"apps ends soon", func(s *health.State) { s.Served["cert-apps"].Leaf.NotAfter = now.Add(days(29)) }, "cert-apps", check.Pass, ""},
	{"apps of two years ends soon", func(s *health.State) {
		s.Served["cert-apps"].Leaf.NotBefore, s.Served["cert-apps"].Leaf.NotAfter = now.Add(-days(700)), now.Add(days(29))
	}, "cert-apps", check.Warn, "valid until"},
	{"rotation overdue", func(s *health.State) { s.Secrets[0] = secret("kubelet-client", now.Add(-days(17)), now.Add(days(13))) }, "certs", check.Warn, "overdue"},
	{"rotating expired", func(s *health.State) { s.Secrets[0] = secret("kubelet-client", now.Add(-days(31)), now.Add(-days(1))) }, "certs", check.Fail, "kubelet-client expired"},
	{"copy of an old revision", func(s *health.State) {
		s.Secrets = append(s.Secrets, secret("etcd-client-3", now.Add(-days(31)), now.Add(-days(1)), metav1.OwnerReference{Kind: "ConfigMap", Name: "revision-status-3"}))
	}, "certs", check.Pass, "kubelet-client"},
	{"long-lived signer after renewal date", func(s *health.State) {
		s.Secrets = append(s.Secrets, secret("signer", now.Add(-days(300)), now.Add(days(65))))
	}, "certs", check.Pass, ""},
	{"no dates", func(s *health.State) { s.Secrets = nil }, "certs", check.Skip, "no dates"},
}

func TestFaultsAreFound(t *testing.T) {
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			s := healthy()
			c.spoil(s)
			got := judge(s)[c.id]
			if got.Status != c.want || !strings.Contains(got.Observed.String(), c.says) {
				t.Errorf("%s is %s: %q; want %s with %q", c.id, got.Status, got.Observed, c.want, c.says)
			}
			if bad := got.Status == check.Warn || got.Status == check.Fail; bad != (got.Fix.String() != "") {
				t.Errorf("%s is %s with the fix %q", c.id, got.Status, got.Fix)
			}
		})
	}
}

// failingFor has the version operator report a failure as it does at rest.
func failingFor(reason, text string) func(*health.State) {
	return func(s *health.State) {
		c := &s.Version.Status.Conditions[1]
		c.Status, c.Reason, c.Message = "True", reason, text
	}
}

func TestWaivedChecksAreNotInTheWay(t *testing.T) {
	s := healthy()
	s.Nodes[0].Spec.Unschedulable = true
	o := health.Options{Domain: domain, Waived: func(id string) bool { return id == "node-schedulable" }}
	if bad := health.Bad(health.Judge(s, o), o); len(bad) != 0 {
		t.Errorf("in the way: %v", bad)
	}
	if bad := health.Bad(health.Judge(s, o), health.Options{}); len(bad) != 1 {
		t.Errorf("in the way: %v, want the cordon", bad)
	}
}
