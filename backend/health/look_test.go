package health_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/backend/kube"
)

// api is a cluster's API that answers as handler does.
func api(t testing.TB, handler http.HandlerFunc) (*kube.Cluster, *httptest.Server) {
	t.Helper()
	cluster, server, _ := apiFile(t, handler)
	return cluster, server
}

// apiFile is api, with the kubeconfig.
func apiFile(t testing.TB, handler http.HandlerFunc) (*kube.Cluster, *httptest.Server, string) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true // as the real one
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
users: [{name: a, user: {}}], clusters: [{name: a, cluster: {server: %q, certificate-authority: %q}}]}`, server.URL, ca)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster, err := kube.Open(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cluster, server, config
}

func TestEmptyClusterNeverPasses(t *testing.T) {
	cluster, _ := api(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s: a look must change nothing", r.Method, r.URL.Path)
		}
		if r.URL.Path == "/readyz" {
			_, _ = w.Write([]byte("ok"))
			return
		}
		http.NotFound(w, r)
	})
	for _, c := range health.Judge(health.Look(t.Context(), cluster, health.Options{}), health.Options{}) {
		if c.Status == check.Pass && c.ID != "api" && c.ID != "access" {
			t.Errorf("%s passes on an empty cluster: %s", c.ID, c.Observed)
		}
	}
}

func TestErrorsOfTheAPIFail(t *testing.T) {
	cluster, _ := api(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			_, _ = w.Write([]byte("ok"))
			return
		}
		http.Error(w, "etcd leader changed", http.StatusForbidden)
	})
	failed := map[string]bool{}
	for _, c := range health.Judge(health.Look(t.Context(), cluster, health.Options{}), health.Options{}) {
		failed[c.ID] = c.Status == check.Fail
	}
	for _, id := range []string{"version", "operators", "node", "pools", "etcd", "static-pods", "pods", "csrs", "routes", "certs"} {
		if !failed[id] {
			t.Errorf("%s does not fail when it cannot be read", id)
		}
	}
}

func TestAPIThatIsAwayIsOneFault(t *testing.T) {
	cluster, server := api(t, http.NotFound)
	server.Close()
	for _, c := range health.Judge(health.Look(t.Context(), cluster, health.Options{}), health.Options{}) {
		if want := map[bool]check.Status{true: check.Fail, false: check.Skip}[c.ID == "api"]; c.Status != want {
			t.Errorf("%s is %s: %s", c.ID, c.Status, c.Observed)
		}
	}
}

// TestAPIThatBecomesReady: the reason is that of the answer itself, though the API is ready when it is asked again.
func TestAPIThatBecomesReady(t *testing.T) {
	var asked atomic.Int64
	cluster, _ := api(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			http.NotFound(w, r)
			return
		}
		if asked.Add(1) > 1 {
			_, _ = w.Write([]byte("ok"))
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte("[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\nreadyz check failed\n"))
	})
	s := health.Look(t.Context(), cluster, health.Options{})
	if s.NotReady == nil || !strings.HasPrefix(s.NotReady.Error(), "etcd: ") || s.Away != nil {
		t.Errorf("it is not ready for %v, away for %v", s.NotReady, s.Away)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	if c := health.Judge(s, health.Options{})[0]; c.ID != "api" || c.Status != check.Fail || !strings.Contains(c.Observed.String(), "not ready: etcd") {
		t.Errorf("%s is %s: %s", c.ID, c.Status, c.Observed)
	}
}
