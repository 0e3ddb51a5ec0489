package health_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/backend/message"
)

func ptr[T any](v T) *T { return &v }

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: ago(24 * time.Hour)}
}

func deployment(namespace, name string, available corev1.ConditionStatus, since time.Duration) appsv1.Deployment {
	d := appsv1.Deployment{
		ObjectMeta: meta(namespace, name), Spec: appsv1.DeploymentSpec{Replicas: ptr[int32](1)},
		Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: available, LastTransitionTime: ago(since)},
		}},
	}
	if available == corev1.ConditionTrue {
		d.Status.Replicas, d.Status.AvailableReplicas = 1, 1
	}
	return d
}

func claim(namespace, name, class string, phase corev1.PersistentVolumeClaimPhase) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{
		ObjectMeta: meta(namespace, name), Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class}, Status: corev1.PersistentVolumeClaimStatus{Phase: phase},
	}
}

func storageClass(name string, first bool) storagev1.StorageClass {
	k := storagev1.StorageClass{ObjectMeta: meta("", name), VolumeBindingMode: ptr(storagev1.VolumeBindingWaitForFirstConsumer)}
	if first {
		k.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	}
	return k
}

func slice(namespace, service, address string, ready bool) discoveryv1.EndpointSlice {
	return discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: service, Labels: map[string]string{"kubernetes.io/service-name": service}},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}},
	}
}

func part(namespace, name string, conditions ...metav1.Condition) health.Part {
	p := health.Part{ObjectMeta: meta(namespace, name)}
	p.Status.Conditions = conditions
	return p
}

func says(kind string, status metav1.ConditionStatus, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Message: message}
}

func event(reason string, count int32, age time.Duration) corev1.Event {
	return corev1.Event{
		Reason: reason, Count: count, LastTimestamp: ago(age), Type: corev1.EventTypeWarning, Message: "volume x\nmore",
		InvolvedObject: corev1.ObjectReference{Namespace: "openshift-dns", Name: "dns-default-1"},
	}
}

func alert(name, severity, state string) health.Alert {
	return health.Alert{
		State: state, Labels: map[string]string{"alertname": name, "severity": severity, "namespace": "openshift-dns", "pod": "dns-1"},
		Annotations: map[string]string{"summary": "Summary of it.\nMore."},
	}
}

// firing adds an alert that fires.
func firing(name, severity string) func(*health.State) {
	return func(s *health.State) {
		s.Wide.Alerts.Active = append(s.Wide.Alerts.Active, alert(name, severity, "firing"))
	}
}

func router(name, kind string, status operatorv1.ConditionStatus) operatorv1.IngressController {
	r := operatorv1.IngressController{ObjectMeta: meta("openshift-ingress-operator", name)}
	r.Status.Conditions = []operatorv1.OperatorCondition{
		{Type: "DNSReady", Status: operatorv1.ConditionFalse}, {Type: kind, Status: status, Message: "canary"},
	}
	return r
}

// The places of what may be installed beside the platform.
const (
	csvs       = "operators.coreos.com/v1alpha1/clusterserviceversions"
	catalogs   = "operators.coreos.com/v1alpha1/catalogsources"
	subs       = "operators.coreos.com/v1alpha1/subscriptions"
	sriov      = "sriovnetwork.openshift.io/v1/sriovnetworknodestates"
	tuning     = "tuned.openshift.io/v1/profiles"
	lvm        = "lvm.topolvm.io/v1alpha1/lvmclusters"
	klusterlet = "operator.open-cluster-management.io/v1/klusterlets"
	nncp       = "nmstate.io/v1/nodenetworkconfigurationpolicies"
)

// healthyWide is the rest of what healthy has: a node with applications, local storage and installed operators.
func healthyWide() *health.Wide {
	csv := part("openshift-storage", "lvms-operator")
	csv.Status.Phase = "Succeeded"
	vf := part("openshift-sriov-network-operator", "node")
	vf.Status.SyncStatus = "Succeeded"
	route := configv1.ComponentRouteSpec{Namespace: "openshift-console", Name: "console", Hostname: "console.apps." + domain}
	idle := part("openshift-marketplace", "own")
	idle.Status.ConnectionState.LastObservedState = "IDLE"
	ignored := part("", "for-another-node", says("Degraded", "False", ""), says("Available", "False", ""), says("Ignored", "True", "no node"))
	return &health.Wide{
		Deployments:  []appsv1.Deployment{deployment("openshift-console", "console", corev1.ConditionTrue, time.Hour), deployment("plant", "app", corev1.ConditionTrue, time.Hour)},
		DaemonSets:   []appsv1.DaemonSet{{ObjectMeta: meta("openshift-dns", "dns-default"), Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 1, CurrentNumberScheduled: 1, NumberAvailable: 1}}},
		StatefulSets: []appsv1.StatefulSet{{ObjectMeta: meta("openshift-monitoring", "prometheus-k8s"), Status: appsv1.StatefulSetStatus{Replicas: 1, ReadyReplicas: 1}}},
		Claims:       []corev1.PersistentVolumeClaim{claim("plant", "data", "lvms", corev1.ClaimBound), claim("plant", "unused", "lvms", corev1.ClaimPending)},
		Volumes:      []corev1.PersistentVolume{{ObjectMeta: meta("", "pv-1"), Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound}}},
		Classes:      []storagev1.StorageClass{storageClass("lvms", true), storageClass("other", false)},
		Routers:      []operatorv1.IngressController{router("default", "Available", operatorv1.ConditionTrue)},
		APIServices:  []health.Part{part("", "v1.route.openshift.io", says("Available", "True", "")), part("", "v1", says("Available", "True", ""))},
		Webhooks:     []health.Webhook{{Name: "multus.openshift.io", Service: "openshift-multus/admission", Refuses: true}, {Name: "lenient", Service: "plant/gone"}},
		Slices:       []discoveryv1.EndpointSlice{slice("default", "kubernetes", nodeIP.String(), true), slice("openshift-multus", "admission", "10.128.0.9", true)},
		Events:       []corev1.Event{event("FailedMount", 40, time.Hour), event("Unhealthy", 3, time.Minute)},
		Database:     health.Latency{Count: 5000, Below: map[string]float64{"0.01": 4990, "0.5": 5000, "+Inf": 5000}},
		Alerts:       health.Alerts{Active: []health.Alert{alert("Watchdog", "none", "firing"), alert("InsightsDisabled", "info", "firing"), alert("KubePodNotReady", "warning", "pending")}},
		Asked:        true,
		Identity: health.Identity{
			Ingress: &configv1.Ingress{Spec: configv1.IngressSpec{Domain: "apps.factory.example.com", ComponentRoutes: []configv1.ComponentRouteSpec{route}}},
			DNS:     &configv1.DNS{Spec: configv1.DNSSpec{BaseDomain: "factory.example.com"}},
			Install: &corev1.ConfigMap{Data: map[string]string{"install-config": "baseDomain: example.com\nmetadata:\n  name: factory\n"}},
			Etcd:    &corev1.ConfigMap{Data: map[string]string{"abc": nodeIP.String()}},
			Clients: []health.OAuthClient{
				{ObjectMeta: meta("", "console"), RedirectURIs: []string{"https://console.apps." + domain + "/auth/callback"}},
				{ObjectMeta: meta("", "gitea"), RedirectURIs: []string{"https://git.elsewhere.example/login"}},
			},
		},
		Parts:  map[string][]health.Part{csvs: {csv}, sriov: {vf}, nncp: {ignored}, catalogs: {idle}, tuning: {part("openshift-cluster-node-tuning-operator", "node", says("Applied", "True", ""), says("Degraded", "False", ""))}},
		Errors: map[string]error{},
	}
}

// fault is one thing that goes wrong, and the check that shall name it.
type fault struct {
	name  string
	spoil func(*health.State)
	id    string
	want  check.Status
	says  string
}

// wideFaults are those of the wide part of a look.
var wideFaults = []fault{
	{"operator of another release", func(s *health.State) {
		s.Operators[0].Status.Versions = []configv1.OperandVersion{{Name: "operator", Version: "4.18.11"}}
	}, "operator-versions", check.Warn, "authentication is at 4.18.11"},
	{"console without replica", func(s *health.State) {
		s.Wide.Deployments[0] = deployment("openshift-console", "console", corev1.ConditionFalse, 6*time.Minute)
	}, "controllers", check.Fail, "openshift-console/console has 0 of 1 replicas"},
	{"console restarting", func(s *health.State) {
		s.Wide.Deployments[0] = deployment("openshift-console", "console", corev1.ConditionFalse, time.Minute)
	}, "controllers", check.Warn, "openshift-console/console"},
	{"application without replica", func(s *health.State) {
		s.Wide.Deployments[1] = deployment("plant", "app", corev1.ConditionFalse, time.Hour)
	}, "controllers", check.Warn, "plant/app"},
	{"DaemonSet without pods", func(s *health.State) {
		s.Wide.DaemonSets[0].Status.CurrentNumberScheduled, s.Wide.DaemonSets[0].Status.NumberAvailable = 0, 0
	}, "controllers", check.Fail, "openshift-dns/dns-default has 0 of 1 pods"},
	{"StatefulSet without pods", func(s *health.State) { s.Wide.StatefulSets[0].Status = appsv1.StatefulSetStatus{} }, "controllers", check.Fail, "prometheus-k8s has 0 of 1"},
	{"lost claim", func(s *health.State) {
		s.Wide.Claims[0] = claim("openshift-monitoring", "prometheus", "lvms", corev1.ClaimLost)
	}, "storage", check.Fail, "openshift-monitoring/prometheus lost"},
	{"lost claim of an application", func(s *health.State) { s.Wide.Claims[0].Status.Phase = corev1.ClaimLost }, "storage", check.Warn, "plant/data lost"},
	{"claim that waits", func(s *health.State) { s.Wide.Claims[0] = claim("plant", "data", "slow", corev1.ClaimPending) }, "storage", check.Warn, "plant/data has no volume"},
	// The registry's operator makes it where its owner asks for a claim (cluster-image-registry-operator 02bb5c2cd, pkg/defaults/defaults.go).
	{"claim of a registry that an offline site does without", func(s *health.State) {
		s.Wide.Claims[0] = claim("openshift-image-registry", "image-registry-storage", "slow", corev1.ClaimPending)
	}, "storage", check.Warn, "image-registry-storage has no volume"},
	{"two default classes", func(s *health.State) { s.Wide.Classes[1] = storageClass("other", true) }, "storage", check.Warn, "lvms, other"},
	{"failed volume", func(s *health.State) { s.Wide.Volumes[0].Status.Phase = corev1.VolumeFailed }, "storage", check.Warn, "pv-1 failed"},
	{"router not available", func(s *health.State) { s.Wide.Routers[0] = router("default", "Available", "False") }, "routers", check.Fail, "Available is False"},
	{"canary fails", func(s *health.State) { s.Wide.Routers[0] = router("default", "CanaryChecksSucceeding", "False") }, "routers", check.Warn, "CanaryChecks"},
	{"extension of the API is down", func(s *health.State) {
		s.Wide.APIServices[0] = part("", "v1.route.openshift.io", says("Available", "False", "no endpoints"))
	}, "api-services", check.Fail, "no endpoints"},
	{"extension of an application is down", func(s *health.State) {
		s.Wide.APIServices[0] = part("", "v1beta1.x.plant.example", says("Available", "False", ""))
	}, "api-services", check.Warn, "v1beta1.x"},
	{"metrics of pods are down", func(s *health.State) {
		s.Wide.APIServices[0] = part("", "v1beta1.metrics.k8s.io", says("Available", "False", ""))
	}, "api-services", check.Fail, "v1beta1.metrics"},
	{"metrics of KEDA are down", func(s *health.State) {
		s.Wide.APIServices[0] = part("", "v1beta1.external.metrics.k8s.io", says("Available", "False", ""))
	}, "api-services", check.Warn, "v1beta1.external"},
	{"metrics of applications are down", func(s *health.State) {
		s.Wide.APIServices[0] = part("", "v1beta1.custom.metrics.k8s.io", says("Available", "False", ""))
	}, "api-services", check.Warn, "v1beta1.custom"},
	{"webhook that nobody answers", func(s *health.State) { s.Wide.Slices[1] = slice("openshift-multus", "admission", "10.128.0.9", false) }, "webhooks", check.Warn, "nobody answers for openshift-multus/admission"},
	{"slow database", func(s *health.State) {
		s.Wide.Database.Below = map[string]float64{"0.5": 4000, "1": 5000, "+Inf": 5000}
	}, "etcd-latency", check.Warn, "within 1s"},
	{"endless database", func(s *health.State) { s.Wide.Database.Below = map[string]float64{"0.5": 4000, "+Inf": 5000} }, "etcd-latency", check.Warn, "longer than"},
	{"old base domain", func(s *health.State) { s.Wide.Identity.DNS.Spec.BaseDomain = "old.example" }, "identity-names", check.Warn, "dnses/cluster says old.example"},
	{"old ingress domain", func(s *health.State) { s.Wide.Identity.Ingress.Spec.Domain = "apps.old.example" }, "identity-names", check.Warn, "apps.old.example"},
	{"old component route", func(s *health.State) {
		s.Wide.Identity.Ingress.Spec.ComponentRoutes[0].Hostname = "console.apps.old.example"
	}, "identity-names", check.Warn, "console.apps.old.example"},
	{"old install-config", func(s *health.State) {
		s.Wide.Identity.Install.Data["install-config"] = "baseDomain: example.com\nmetadata: {name: seed}"
	}, "identity-names", check.Warn, "seed.example.com"},
	{"old redirect", func(s *health.State) {
		s.Wide.Identity.Clients[0].RedirectURIs = []string{"https://console.apps.old.example/auth/callback"}
	}, "identity-names", check.Warn, "console leads back to console.apps.old.example"},
	{"old etcd member", func(s *health.State) { s.Wide.Identity.Etcd.Data["abc"] = "192.0.2.7" }, "identity-addresses", check.Fail, "members of etcd: 192.0.2.7"},
	{"old API endpoint", func(s *health.State) { s.Wide.Slices[0] = slice("default", "kubernetes", "192.0.2.8", true) }, "identity-addresses", check.Fail, "endpoint of default/kubernetes: 192.0.2.8"},
	{"old kubelet address", func(s *health.State) { s.Nodes[0].Annotations["alpha.kubernetes.io/provided-node-ip"] = "192.0.2.9" }, "identity-addresses", check.Fail, "kubelet of node: 192.0.2.9"},
	{"old OVN address", func(s *health.State) {
		s.Nodes[0].Annotations["k8s.ovn.org/node-primary-ifaddr"] = `{"ipv4":"192.0.2.10/24"}`
	}, "identity-addresses", check.Fail, "OVN-Kubernetes on node: 192.0.2.10"},
	{"kubelet failed", func(s *health.State) { s.Wide.Units = []string{"kubelet.service"} }, "units", check.Fail, "kubelet.service failed"},
	{"some unit failed", func(s *health.State) { s.Wide.Units = []string{"plant-backup.service"} }, "units", check.Warn, "plant-backup.service failed"},
	{"operator not installed", func(s *health.State) { s.Wide.Parts[csvs][0].Status.Phase = "Failed" }, "olm", check.Warn, "lvms-operator: is Failed"},
	{"catalog does not answer", func(s *health.State) {
		p := part("openshift-marketplace", "community")
		p.Status.ConnectionState.LastObservedState = "TRANSIENT_FAILURE"
		s.Wide.Parts[catalogs] = []health.Part{p}
	}, "olm", check.Warn, "community: does not answer"},
	{"subscription without a catalog", func(s *health.State) {
		s.Wide.Parts[subs] = []health.Part{part("plant", "x", says("ResolutionFailed", "True", "no operators"))}
	}, "olm", check.Warn, "no operators"},
	{"subscription that cannot be installed", func(s *health.State) {
		s.Wide.Parts[subs] = []health.Part{part("plant", "x", says("InstallPlanFailed", "True", "no CRD"))}
	}, "olm", check.Warn, "no CRD"},
	{"bundle that cannot be unpacked", func(s *health.State) {
		s.Wide.Parts[subs] = []health.Part{part("plant", "x", says("BundleUnpackFailed", "True", "no image"))}
	}, "olm", check.Warn, "no image"},
	{"SR-IOV failed", func(s *health.State) { s.Wide.Parts[sriov][0].Status.SyncStatus = "Failed" }, "add-ons", check.Warn, "SR-IOV of openshift-sriov-network-operator/node: is Failed"},
	{"tuning not applied", func(s *health.State) { s.Wide.Parts[tuning][0].Status.Conditions[0].Status = "False" }, "add-ons", check.Warn, "Applied is False"},
	{"LVM degraded", func(s *health.State) {
		p := part("openshift-storage", "lvm")
		p.Status.State = "Degraded"
		s.Wide.Parts[lvm] = []health.Part{p}
	}, "add-ons", check.Warn, "lvm: is Degraded"},
	{"hub lost", func(s *health.State) {
		s.Wide.Parts[klusterlet] = []health.Part{part("", "klusterlet", says("Available", "True", ""), says("HubConnectionDegraded", "True", "no hub"))}
	}, "add-ons", check.Warn, "no hub"},
	{"agent of the hub away", func(s *health.State) {
		s.Wide.Parts[klusterlet] = []health.Part{part("", "klusterlet", says("Available", "False", "no agent"))}
	}, "add-ons", check.Warn, "no agent"},
	{"network policy degraded", func(s *health.State) {
		s.Wide.Parts[nncp] = []health.Part{part("", "br1", says("Degraded", "True", "no port"))}
	}, "add-ons", check.Warn, "no port"},
	{"event that keeps coming", func(s *health.State) { s.Wide.Events = append(s.Wide.Events, event("FailedMount", 40, time.Minute)) }, "events", check.Warn, "dns-default-1 FailedMount, 40 times in all: volume x"},
	{"alert that is known", firing("KubePodCrashLooping", "warning"), "alerts", check.Warn, "warning: KubePodCrashLooping (openshift-dns/dns-1): a pod keeps crashing"},
	{"alert of the owner's", firing("PlantTooHot", "critical"), "alerts", check.Warn, "critical: PlantTooHot (openshift-dns/dns-1): Summary of it."},
	{"no rule evaluated", func(s *health.State) { s.Wide.Alerts.Active = nil }, "alerts", check.Skip, "Watchdog"},
	{"pull refused", func(s *health.State) { s.Pods[0] = pod("openshift-dns", "dns", pullFails("unauthorized: access")) }, "images", check.Fail, "refuses the pull secret"},
	{"pull finds nothing", func(s *health.State) {
		s.Pods[0] = pod("openshift-dns", "dns", pullFails("reading manifest: manifest unknown"))
	}, "images", check.Fail, "does not have it"},
	{"pull distrusts", func(s *health.State) {
		s.Pods[0] = pod("openshift-dns", "dns", pullFails("tls: x509: certificate signed by"))
	}, "images", check.Fail, "not trusted"},
	{"pull finds no registry", func(s *health.State) { s.Pods[0] = pod("openshift-dns", "dns", pullFails("lookup r: no such host")) }, "images", check.Fail, "name is not known"},
	{"pull fills the disk", func(s *health.State) {
		s.Pods[0] = pod("openshift-dns", "dns", pullFails("write: no space left on device"))
	}, "images", check.Fail, "disk is full"},
}

func pullFails(message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		waiting("ErrImagePull")(p)
		p.Status.ContainerStatuses[0].State.Waiting.Message = message
	}
}

func TestWideFaultsAreFound(t *testing.T) {
	for _, f := range wideFaults {
		t.Run(f.name, func(t *testing.T) {
			s := healthy()
			f.spoil(s)
			got := judge(s)[f.id]
			if got.Status != f.want || !strings.Contains(got.Observed.String(), f.says) {
				t.Errorf("%s is %s: %q; want %s with %q", f.id, got.Status, got.Observed, f.want, f.says)
			}
			if got.Fix.String() == "" {
				t.Errorf("%s has no fix", f.id)
			}
		})
	}
}

// TestEventsThatPassed: what came often while the node restarted, and not since, is told and is not a warning.
func TestEventsThatPassed(t *testing.T) {
	s := healthy()
	s.Wide.Events = []corev1.Event{event("BackOff", 40, 2*time.Minute), event("BackOff", 2, 14*time.Minute), event("FailedMount", 7, 16*time.Minute)}
	c := judge(s)["events"]
	if c.Status != check.Pass || c.Observed.String() != "2 seen within 15 minutes, none keeps coming back" {
		t.Errorf("events is %s: %s", c.Status, c.Observed)
	}
	if want := []string{"BackOff: last seen within 15 minutes, 42 times in all"}; !slices.Equal(message.English(c.Evidence), want) {
		t.Errorf("the evidence is %q", c.Evidence)
	}
}

// TestWideIsHeldAgainstBadAnswers: what a cluster does not have is skipped, what may not be read is told, and no amount is too much.
func TestWideIsHeldAgainstBadAnswers(t *testing.T) {
	absent := apierrors.NewNotFound(schema.GroupResource{Resource: "x"}, "")
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "", errors.New("not yours"))
	for what, id := range map[string]string{
		"deployments": "controllers", "claims": "storage", "routers": "routers", "apiservices": "api-services", "webhooks": "webhooks",
		"slices": "identity-addresses", "clients": "identity-names", "events": "events", "latency": "etcd-latency", "parts": "olm", "units": "units",
		csvs: "olm", sriov: "add-ons",
	} {
		s := healthy()
		s.Wide.Errors[what] = forbidden
		if c := judge(s)[id]; c.Status != check.Fail && c.Status != check.Warn || !strings.Contains(c.Observed.String(), "not yours") {
			t.Errorf("%s forbidden: %s is %s: %s", what, id, c.Status, c.Observed)
		}
		s.Wide.Errors[what] = absent
		if c := judge(s)[id]; c.Status == check.Fail || c.Status == check.Warn {
			t.Errorf("%s absent: %s is %s: %s", what, id, c.Status, c.Observed)
		}
	}
	s := healthy()
	for i := range 5000 {
		e := event("BackOff", 100, time.Second)
		e.InvolvedObject.Name, e.Reason = fmt.Sprint("pod-", i), strings.Repeat("x", i)
		s.Wide.Events = append(s.Wide.Events, e)
	}
	if c := judge(s)["events"]; c.Status != check.Warn || len(c.Evidence) > 100 || len(c.Observed.String()) > 1000 {
		t.Errorf("5,000 events are %s with %d lines, %d bytes", c.Status, len(c.Evidence), len(c.Observed.String()))
	}
	s = healthy()
	s.Wide = nil
	if c := judge(s)["controllers"]; c.Status != check.Skip {
		t.Errorf("without a wide look controllers is %s", c.Status)
	}
}
