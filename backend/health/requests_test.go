package health_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/backend/kube"
)

// usual is an API with 34 operators, 250 pods, 150 routes and 120 certificates, which takes delay for each answer, gives so many at once, and
// counts them.
func usual(t testing.TB, delay time.Duration, atOnce int) (*kube.Cluster, *atomic.Int64) {
	t.Helper()
	s := healthy()
	s.At = time.Now()
	list := func(items any) any { return map[string]any{"metadata": map[string]any{}, "items": items} }
	kind := func(group, kind string, items any) any {
		return map[string]any{"kind": kind, "apiVersion": group, "metadata": map[string]any{}, "items": items}
	}
	var operators []configv1.ClusterOperator
	for i := range 34 {
		operators = append(operators, operator(fmt.Sprint("operator-", i), "True", "False", "False", ""))
	}
	var pods []corev1.Pod
	for i := range 250 {
		pods = append(pods, pod("openshift-x", fmt.Sprint("pod-", i)))
	}
	for i := range 150 {
		s.Routes = append(s.Routes, route("plant", fmt.Sprint("r", i), fmt.Sprintf("r%d.plant.example", i), "True"))
	}
	var secrets []metav1.PartialObjectMetadata
	for i := range 120 {
		secrets = append(secrets, secret(fmt.Sprint("secret-", i), s.At.Add(-days(1)), s.At.Add(days(29))))
	}
	s.Nodes[0].Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(s.At)
	again := event("FailedMount", 4000, 0)
	again.LastTimestamp = metav1.NewTime(s.At)
	answers := map[string]any{
		"/clusteroperators": kind("config.openshift.io/v1", "ClusterOperatorList", operators), "/pods": kind("v1", "PodList", pods), "/routes": kind("route.openshift.io/v1", "RouteList", s.Routes), "/secrets": list(secrets), "/nodes": kind("v1", "NodeList", s.Nodes),
		"/clusterversions/version": s.Version, "/etcds/cluster": s.Etcd, "/kubeapiservers/cluster": s.API, "/machineconfigpools": kind("machineconfiguration.openshift.io/v1", "MachineConfigPoolList", s.Pools),
		"/deployments": list(s.Wide.Deployments), "/daemonsets": list(s.Wide.DaemonSets), "/statefulsets": list(s.Wide.StatefulSets), "/persistentvolumes": list(s.Wide.Volumes), "/endpointslices": list(s.Wide.Slices), "/apiservices": list(s.Wide.APIServices),
		"/ingresscontrollers": list(s.Wide.Routers), "/storageclasses": list(s.Wide.Classes), "/persistentvolumeclaims": list(s.Wide.Claims),
		"/oauthclients": list(s.Wide.Identity.Clients), "/configmaps/etcd-endpoints": s.Wide.Identity.Etcd,
		"/apis":                   metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: "operators.coreos.com", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "operators.coreos.com/v1alpha1"}}}}},
		"/clusterserviceversions": list(s.Wide.Parts[csvs]), "/events": kind("v1", "EventList", []corev1.Event{again}),
	}
	encoded := map[string][]byte{}
	for path, answer := range answers {
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		encoded[path] = text
	}
	count, places := &atomic.Int64{}, make(chan struct{}, atOnce)
	cluster, _ := api(t, func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		places <- struct{}{}
		defer func() { <-places }()
		time.Sleep(delay)
		switch {
		case r.Method != http.MethodGet:
			t.Errorf("%s %s: a look must change nothing", r.Method, r.URL.Path)
		case r.URL.Path == "/readyz":
			_, _ = w.Write([]byte("ok"))
			return
		case r.URL.Path == "/metrics":
			for i := range 20 {
				_, _ = fmt.Fprintf(w, "# HELP x\netcd_request_duration_seconds_bucket{operation=\"get\",type=\"t%d\",le=\"0.005\"} 90\n"+
					"etcd_request_duration_seconds_bucket{operation=\"get\",type=\"t%d\",le=\"0.05\"} 100\n"+
					"etcd_request_duration_seconds_bucket{operation=\"get\",type=\"t%d\",le=\"+Inf\"} 100\nother{le=\"1\"} NaN\n", i, i, i)
			}
			return
		}
		for path, text := range encoded {
			if strings.HasSuffix(r.URL.Path, path) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(text)
				return
			}
		}
		http.NotFound(w, r)
	})
	return cluster, count
}

// TestRequests counts what a look costs, and sees that what it reads is judged.
func TestRequests(t *testing.T) {
	cluster, count := usual(t, 0, many)
	o := health.Options{DNS: "127.0.0.1:1", Ingress: "127.0.0.1:1", API: "127.0.0.1:1"}
	s := health.Look(t.Context(), cluster, o)
	if n := count.Load(); n > 14+20+3 { // the DNS operator is not asked here
		t.Errorf("%d requests", n)
	}
	all := map[string]check.Check{}
	for _, c := range health.Judge(s, o) {
		all[c.ID] = c
	}
	for id, says := range map[string]string{
		"operators": "34 services", "pods": "250 pods", "controllers": "4 controllers, all well", "etcd-latency": "within 50ms", "olm": "1, all well",
		"storage": "2 claims", "api-services": "2, all available", "routers": "1, all well",
	} {
		if all[id].Status != check.Pass || !strings.Contains(all[id].Observed.String(), says) {
			t.Errorf("%s is %s: %s", id, all[id].Status, all[id].Observed)
		}
	}
	if c := all["events"]; c.Status != check.Warn || !strings.Contains(c.Observed.String(), "4000 times") {
		t.Errorf("events is %s: %s", c.Status, c.Observed)
	}
}

// TestALeaseCountsAfterTheClockWasSetBack: a node's status from the future says nothing, so that its lease is asked. The kubelet writes the
// status every 5 minutes at the least, the lease every 10 s.
func TestALeaseCountsAfterTheClockWasSetBack(t *testing.T) {
	s := healthy()
	s.Nodes[0].Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(time.Now().AddDate(1, 0, 0))
	renewed := metav1.NewMicroTime(time.Now())
	cluster, _ := api(t, func(w http.ResponseWriter, r *http.Request) {
		var answer any
		switch {
		case strings.HasSuffix(r.URL.Path, "/nodes"):
			answer = map[string]any{"kind": "NodeList", "apiVersion": "v1", "metadata": map[string]any{}, "items": s.Nodes}
		case strings.Contains(r.URL.Path, "/kube-node-lease/leases/"):
			answer = coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: &renewed}}
		case r.URL.Path == "/readyz":
			_, _ = w.Write([]byte("ok"))
			return
		default:
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	})
	o := health.Options{DNS: "127.0.0.1:1", Ingress: "127.0.0.1:1", API: "127.0.0.1:1"}
	for _, c := range health.Judge(health.Look(t.Context(), cluster, o), o) {
		if c.ID == "node" && c.Status != check.Pass {
			t.Errorf("node is %s: %s", c.Status, c.Observed)
		}
	}
}

// TestLookerReusesTheWidePart: a look that follows soon reads only what changes from second to second.
func TestLookerReusesTheWidePart(t *testing.T) {
	cluster, count := usual(t, 0, many)
	at := time.Now()
	o := health.Options{DNS: "127.0.0.1:1", Ingress: "127.0.0.1:1", API: "127.0.0.1:1", Now: func() time.Time { return at }}
	var l health.Looker
	var costs [3]int64
	for i, after := range []time.Duration{0, 29 * time.Second, time.Second} {
		at = at.Add(after)
		before := count.Load()
		for _, c := range l.Look(t.Context(), cluster, o) {
			if c.ID == "controllers" && c.Status != check.Pass {
				t.Errorf("look %d: controllers is %s: %s", i, c.Status, c.Observed)
			}
		}
		costs[i] = count.Load() - before
	}
	if costs[0]-costs[1] < 20 || costs[2] != costs[0] {
		t.Errorf("requests of the three looks: %v", costs)
	}
}

// many answers are more than any look asks for at once.
const many = 1000

// BenchmarkLook measures a look at the usual cluster over an API that takes 20 ms for each answer, and beside it the same look where the API
// gives one answer after the other.
func BenchmarkLook(b *testing.B) {
	o := health.Options{DNS: "127.0.0.1:1", Ingress: "127.0.0.1:1", API: "127.0.0.1:1"}
	took := func(atOnce int) (time.Duration, int64) {
		cluster, count := usual(b, 20*time.Millisecond, atOnce) // a new one each time: the client of one cluster slows down who asks all the time
		begun := time.Now()
		health.Judge(health.Look(b.Context(), cluster, o), o)
		return time.Since(begun), count.Load()
	}
	var ours, others time.Duration
	var requests int64
	for b.Loop() {
		one, _ := took(1)
		all, count := took(many)
		ours, others, requests = ours+all, others+one, requests+count
	}
	n := float64(b.N)
	b.ReportMetric(float64(ours.Milliseconds())/n, "ms/look")
	b.ReportMetric(float64(requests)/n, "requests/look")
	b.ReportMetric(others.Seconds()/ours.Seconds(), "times-faster")
}
