// Package kubetest is a small stand-in of an API server for tests of branches that a real one takes only by accident: it
// stores objects, refuses stale ones, and fails on demand. What is real about an API is tested against the bench.
package kubetest

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"touchdown/backend/kube"
)

// API is the stand-in. Objects are kept under their path: "/api/v1/namespaces/NS/secrets/NAME".
type API struct {
	// Fault, when set, may answer a request itself; it returns true when it did.
	Fault func(w http.ResponseWriter, r *http.Request) bool
	// After, when set, is called after a changing request with the path, unlocked: an operator that reacts.
	After func(method, path string)

	mu       sync.Mutex
	objects  map[string]map[string]any
	revision int
	requests []string
}

// New starts the stand-in and opens a client of it that does not wait for long.
func New(t testing.TB) (*API, *kube.Cluster) {
	t.Helper()
	a := &API{objects: map[string]map[string]any{}}
	server := httptest.NewTLSServer(a)
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	config := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "x",
		"clusters": []any{map[string]any{"name": "x", "cluster": map[string]any{"server": server.URL, "certificate-authority-data": ca}}},
		"contexts": []any{map[string]any{"name": "x", "context": map[string]any{"cluster": "x", "user": "x"}}},
		"users":    []any{map[string]any{"name": "x", "user": map[string]any{}}},
	}
	b, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := kube.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace = kube.Pace{Limit: 5 * time.Second, Pause: 10 * time.Millisecond, Poll: 5 * time.Millisecond}
	return a, c
}

// Put stores an object, written as JSON.
func (a *API) Put(path, object string) {
	var o map[string]any
	if err := json.Unmarshal([]byte(object), &o); err != nil {
		panic(err) // a typing error in a test
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.store(path, o)
}

// Get returns a part of an object as JSON; "" when it is not there.
func (a *API) Get(path string, keys ...string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var v any = a.objects[path]
	if a.objects[path] == nil {
		return ""
	}
	for _, key := range keys {
		m, _ := v.(map[string]any)
		if v = m[key]; v == nil {
			return ""
		}
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// Drop removes an object.
func (a *API) Drop(path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.objects, path)
}

// Requests returns what was asked, "METHOD path", and forgets it.
func (a *API) Requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.requests
	a.requests = nil
	return r
}

// Changes returns only the changing requests, and forgets all.
func (a *API) Changes() []string {
	var out []string
	for _, r := range a.Requests() {
		if !strings.HasPrefix(r, "GET ") {
			out = append(out, r)
		}
	}
	return out
}

// ServeHTTP answers as an API server would.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.Fault != nil && a.Fault(w, r) {
		return
	}
	a.mu.Lock()
	a.requests = append(a.requests, r.Method+" "+r.URL.Path)
	code, body := a.answer(r)
	a.mu.Unlock()
	if r.Method != http.MethodGet && code < 300 && a.After != nil {
		a.After(r.Method, r.URL.Path)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func (a *API) answer(r *http.Request) (int, any) {
	path := r.URL.Path
	object, there := a.objects[path]
	switch r.Method {
	case http.MethodGet:
		if there {
			return 200, object
		}
		return a.list(r)
	case http.MethodPost:
		return a.create(path, r)
	case http.MethodDelete:
		if !there {
			return Status(404, "NotFound", "not found")
		}
		delete(a.objects, path)
		return Status(200, "", "")
	}
	if sub := strings.TrimSuffix(strings.TrimSuffix(path, "/approval"), "/status"); !there && sub != path {
		path = sub
		object, there = a.objects[path]
	}
	if !there {
		return Status(404, "NotFound", "not found")
	}
	next, err := a.change(object, r)
	if err != nil {
		return Status(422, "Invalid", err.Error())
	}
	want, _ := next["metadata"].(map[string]any)["resourceVersion"].(string)
	if have := object["metadata"].(map[string]any)["resourceVersion"]; want != "" && want != have {
		return Status(409, "Conflict", "the object has been modified")
	}
	return 200, a.store(path, next)
}

func (a *API) create(path string, r *http.Request) (int, any) {
	var o map[string]any
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		return Status(400, "BadRequest", err.Error())
	}
	meta, _ := o["metadata"].(map[string]any)
	path += "/" + fmt.Sprint(meta["name"])
	if a.objects[path] != nil {
		return Status(409, "AlreadyExists", "it exists")
	}
	return 201, a.store(path, o)
}

func (a *API) store(path string, o map[string]any) map[string]any {
	a.revision++
	meta, _ := o["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	parts := strings.Split(path, "/")
	meta["name"] = parts[len(parts)-1]
	if len(parts) > 4 && parts[len(parts)-4] == "namespaces" {
		meta["namespace"] = parts[len(parts)-3]
	}
	if meta["uid"] == nil {
		meta["uid"] = "uid-" + strconv.Itoa(a.revision)
	}
	if o["kind"] == nil { // a test need not write them
		o["kind"], o["apiVersion"] = kindOf(parts[len(parts)-2]), version(path)
	}
	meta["resourceVersion"] = strconv.Itoa(a.revision)
	o["metadata"] = meta
	a.objects[path] = o
	return o
}

// version is the group and version in a path.
func version(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if parts[0] == "apis" && len(parts) > 2 {
		return parts[1] + "/" + parts[2]
	}
	return parts[min(1, len(parts)-1)]
}

// kindOf turns the plural of a path into a kind, for those that the typed clients look at.
func kindOf(resource string) string {
	for _, kind := range []string{
		"Secret", "ConfigMap", "Node", "Pod", "APIServer", "Ingress", "DNS", "Route", "ClusterOperator", "MachineConfigPool", "CertificateSigningRequest",
		"IngressController", "KubeAPIServer", "KubeControllerManager", "Infrastructure",
	} {
		if plural := strings.ToLower(kind); resource == plural+"s" || resource == plural+"es" {
			return kind
		}
	}
	return "Object"
}
