package health_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/test/bench"
)

func benchCluster(t *testing.T) (*bench.Cluster, *kube.Cluster) {
	t.Helper()
	b := bench.Start(t, bench.Options{})
	c, err := kube.Open(b.Kubeconfig, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b, c
}

func look(t *testing.T, c *kube.Cluster) map[string]check.Check {
	t.Helper()
	all := map[string]check.Check{}
	for _, k := range health.Judge(health.Look(t.Context(), c, health.Options{}), health.Options{}) {
		all[k.ID] = k
	}
	return all
}

// One look, the faults a site knows, and a wait that outlives an API that goes away: all against a real API.
func TestRealAPI(t *testing.T) {
	b, c := benchCluster(t)
	csrs, err := c.Certificates.CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for id, k := range look(t, c) {
		t.Logf("%-18s %-5s %s", id, k.Status, k.Observed)
		switch {
		case id == "cert-api-new", id == "pod-request", id == "units", id == "olm", id == "add-ons", id == "alerts":
			if k.Status != check.Skip {
				t.Errorf("%s is %s on a cluster that did not move, without a node", id, k.Status)
			}
		case id == "etcd-latency":
			if k.Status != check.Pass && !strings.Contains(k.Observed.String(), "requests since the API server's start") {
				t.Errorf("%s is %s: %s", id, k.Status, k.Observed)
			}
		case id == "cluster-dns":
			if k.Status != check.Skip || !strings.Contains(k.Observed.String(), "no DNS service") {
				t.Errorf("%s is %s on a cluster without a node: %s", id, k.Status, k.Observed)
			}
		case id == "csrs" && len(csrs.Items) > 0, id == "cert-apps":
			// The factory's node has requests that wait, and a router with its own CA.
			if k.Status == check.Skip {
				t.Errorf("%s was not checked: %s", id, k.Observed)
			}
		case k.Status != check.Pass:
			t.Errorf("%s is %s: %s", id, k.Status, k.Observed)
		}
	}
	t.Run("faults", func(t *testing.T) { benchFaults(t, b, c) })
	t.Run("API away", func(t *testing.T) {
		if err := b.KillAPI(time.Second); err != nil {
			t.Fatal(err)
		}
		away := false
		o := health.Options{Waived: func(id string) bool { return id == "csrs" }}
		_, err := health.Await(t.Context(), c, o, health.Window{For: time.Second, Poll: 50 * time.Millisecond},
			func(k check.Check) { away = away || k.ID == "api" && k.Status == check.Fail }, func(time.Duration, message.Text) {})
		if err != nil || !away {
			t.Errorf("waiting ended with %v; the API was seen away: %v", err, away)
		}
	})
	if n := c.Writes(); n != 3 {
		t.Errorf("%d changing calls, want the 3 of this test itself", n)
	}
}

func benchFaults(t *testing.T, b *bench.Cluster, c *kube.Cluster) {
	if err := b.SetFault(bench.Fault{Kind: bench.Forbidden, Verb: "list", Resource: "clusteroperators"}); err != nil {
		t.Fatal(err)
	}
	if k := look(t, c)["operators"]; k.Status != check.Fail {
		t.Errorf("operators that may not be read are %s: %s", k.Status, k.Observed)
	}
	if err := b.ClearFaults(); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "missing-image", Namespace: "openshift-console"},
		Spec:       corev1.PodSpec{NodeName: "", Containers: []corev1.Container{{Name: "a", Image: "registry.example/a@sha256:0"}}},
	}
	made, err := c.Core.Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "a", Image: pod.Spec.Containers[0].Image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
	}}
	if _, err := c.Core.Pods(pod.Namespace).UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if k := look(t, c)["images"]; k.Status != check.Fail {
		t.Errorf("an image that cannot be fetched is %s: %s", k.Status, k.Observed)
	}
	var now int64
	if err := c.Core.Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
}
