package health_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/backend/message"
)

// served makes a certificate for a name, and what trusts it.
func served(t *testing.T, name string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), DNSNames: []string{name},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// monitored is a cluster whose Prometheus shows a certificate for name and answers as told. seen counts the tokens that it was given.
func monitored(t *testing.T, name string, answer http.HandlerFunc) (judge func(...func(*health.Options)) check.Check, asked, seen *atomic.Int64) {
	t.Helper()
	asked, seen = &atomic.Int64{}, &atomic.Int64{}
	certificate, bundle := served(t, name)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer hunter2" {
			seen.Add(1)
		}
		answer(w, r)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	cluster, _ := api(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.Method + " " + r.URL.Path {
		case "GET /readyz":
			return
		case "GET /api/v1/namespaces/openshift-monitoring/configmaps/openshift-service-ca.crt":
			asked.Add(1)
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "data": map[string]string{"service-ca.crt": bundle}})
		case "POST /api/v1/namespaces/openshift-monitoring/serviceaccounts/prometheus-k8s/token":
			asked.Add(1)
			_, _ = fmt.Fprint(w, `{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{"token":"hunter2"}}`)
		default:
			http.NotFound(w, r)
		}
	})
	o := health.Options{DNS: "127.0.0.1:1", Ingress: "127.0.0.1:1", API: "127.0.0.1:1", Prometheus: server.Listener.Addr().String()}
	return func(changes ...func(*health.Options)) check.Check {
		t.Helper()
		o := o
		for _, change := range changes {
			change(&o)
		}
		s := health.Look(t.Context(), cluster, o)
		if n := cluster.Writes(); n > 0 {
			t.Errorf("a look wrote %d times", n)
		}
		for _, c := range health.Judge(s, o) {
			if c.ID == "alerts" {
				return c
			}
		}
		t.Fatal("there is no check of the alerts")
		return check.Check{}
	}, asked, seen
}

// began has an alert be true for so long.
func began(a health.Alert, ago time.Duration) health.Alert {
	a.ActiveAt = time.Now().Add(-ago)
	return a
}

const prometheusName = "prometheus-k8s.openshift-monitoring.svc"

// TestAlertsOfPrometheus: what fires is told, the worst first, with a token that only Prometheus itself gets; 2 requests of the API.
func TestAlertsOfPrometheus(t *testing.T) {
	judge, asked, seen := monitored(t, prometheusName, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/alerts" {
			t.Errorf("%s was asked for", r.URL.Path)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"alerts": []health.Alert{
			alert("Watchdog", "none", "firing"), alert("CannotRetrieveUpdates", "warning", "firing"), alert("CannotRetrieveUpdates", "warning", "firing"),
			alert("KubePodNotReady", "warning", "firing"), alert("KubePodNotReady", "warning", "firing"), began(alert("KubeAPIErrorBudgetBurn", "critical", "firing"), 5*time.Minute),
			alert("PlantTooHot", "critical", "firing"), alert("UpdateAvailable", "info", "firing"), alert("TargetDown", "warning", "pending"),
		}}})
	})
	c := judge()
	if c.Status != check.Warn || len(c.Evidence) != 4 || !strings.Contains(c.Evidence[0].String(), "KubeAPIErrorBudgetBurn") || !strings.Contains(c.Evidence[1].String(), "without the internet") ||
		!strings.HasPrefix(c.Evidence[2].String(), "critical: PlantTooHot") || !strings.HasPrefix(c.Evidence[3].String(), "warning: KubePodNotReady") || strings.Contains(c.Observed.String(), "Burn") {
		t.Errorf("%s: %q", c.Status, c.Evidence)
	}
	if asked.Load() != 2 || seen.Load() != 1 {
		t.Errorf("%d requests, %d with the token", asked.Load(), seen.Load())
	}
}

// TestAlertsThatCannotBeRead: whatever Prometheus answers, a look ends, without a warning, and does not tell the token, and no other server
// gets it.
func TestAlertsThatCannotBeRead(t *testing.T) {
	leaked := &atomic.Int64{}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	t.Cleanup(other.Close)
	for _, test := range []struct {
		what, name, says string
		answer           http.HandlerFunc
	}{
		{"refused", prometheusName, "answers 403", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }},
		{"sent on", prometheusName, "answers 302", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) }},
		{"no JSON", prometheusName, "reading the answer", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "hunter2 <html>") }},
		{"endless", prometheusName, "reading the answer", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprint(w, `{"data":{"alerts":[{"state":"`, strings.Repeat("x", 5<<20))
		}},
		{"another server", "thanos-querier.openshift-monitoring.svc", "certificate", func(http.ResponseWriter, *http.Request) {}},
	} {
		judge, _, seen := monitored(t, test.name, test.answer)
		c := judge()
		if text := fmt.Sprint(c); c.Status != check.Skip || !strings.Contains(c.Observed.String(), test.says) || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %s: %s", test.what, c.Status, c.Observed)
		}
		if test.what == "another server" && seen.Load() > 0 {
			t.Error("a server that is not Prometheus got the token")
		}
	}
	if leaked.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

// TestWithoutMonitoring: a cluster without a ready Prometheus is not asked, and the reason is told.
func TestWithoutMonitoring(t *testing.T) {
	starting := pod("openshift-monitoring", "prometheus-k8s-0")
	starting.Labels = map[string]string{"prometheus": "k8s"}
	starting.Status.PodIP = "10.128.0.20"
	starting.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	for says, pods := range map[string][]corev1.Pod{"no pod of Prometheus": {pod("openshift-dns", "dns")}, "not ready": {starting}} {
		cluster, _ := api(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/readyz":
			case r.URL.Path == "/api/v1/pods":
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(map[string]any{"kind": "PodList", "apiVersion": "v1", "items": pods})
			case r.Method != http.MethodGet:
				t.Errorf("%s %s", r.Method, r.URL.Path)
			default:
				http.NotFound(w, r)
			}
		})
		o := health.Options{DNS: "127.0.0.1:1", Ingress: "127.0.0.1:1", API: "127.0.0.1:1"}
		told := 0
		for _, c := range health.Judge(health.Look(t.Context(), cluster, o), o) {
			if c.ID != "alerts" {
				continue
			}
			if told++; c.Status != check.Skip || !strings.Contains(c.Observed.String(), says) {
				t.Errorf("%s: %s", c.Status, c.Observed)
			}
		}
		if told != 1 {
			t.Errorf("%d checks of the alerts", told)
		}
	}
}

// TestOwnTime: where the site has no time server, the alert that the clock follows none is told and warns of nothing. Where it has one, and of
// what else is wrong with a clock, it warns.
func TestOwnTime(t *testing.T) {
	for _, c := range []struct {
		alert string
		own   bool
		want  check.Status
	}{
		{"NodeClockNotSynchronising", true, check.Pass},
		{"NodeClockNotSynchronising", false, check.Warn},
		{"NodeClockSkewDetected", true, check.Warn},
	} {
		judge, _, _ := monitored(t, prometheusName, func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"alerts": []health.Alert{
				alert("Watchdog", "none", "firing"), began(alert(c.alert, "critical", "firing"), day),
			}}})
		})
		k := judge(func(o *health.Options) { o.OwnTime = c.own })
		if told := strings.Contains(strings.Join(message.English(k.Evidence), "\n"), c.alert); k.Status != c.want || !told {
			t.Errorf("%s, the node keeps its own time: %v: %s: %s %q", c.alert, c.own, k.Status, k.Observed, k.Evidence)
		}
	}
}
