package health_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/health"
	"touchdown/backend/kube"
)

// plane is a cluster's API with watches. It counts what it is asked.
type plane struct {
	mu       sync.Mutex
	version  int
	lists    map[string][]json.RawMessage // by resource
	streams  map[string]map[chan any]bool // of the watches, by resource
	away     bool
	token    string // that it wants; "": none
	asked    map[string]int
	requests int
	metrics  []byte // of the API server; nil: it has none
	file     string // the kubeconfig
}

// followedKinds are the resources that a Watcher follows, by what a list of them is called.
var followedKinds = map[string]string{
	"clusterversions": "ClusterVersion", "infrastructures": "Infrastructure", "etcds": "Etcd", "kubeapiservers": "KubeAPIServer",
	"kubecontrollermanagers": "KubeControllerManager", "kubeschedulers": "KubeScheduler", "clusteroperators": "ClusterOperator", "nodes": "Node",
	"machineconfigpools": "MachineConfigPool", "pods": "Pod", "certificatesigningrequests": "CertificateSigningRequest", "routes": "Route",
	"secrets": "PartialObjectMetadata", "deployments": "Deployment", "daemonsets": "DaemonSet", "statefulsets": "StatefulSet",
	"persistentvolumeclaims": "PersistentVolumeClaim", "persistentvolumes": "PersistentVolume", "storageclasses": "StorageClass",
	"ingresscontrollers": "IngressController", "apiservices": "APIService", "endpointslices": "EndpointSlice", "oauthclients": "OAuthClient",
}

// newPlane is the API of a cluster that is well.
func newPlane(t testing.TB) (*plane, *kube.Cluster) {
	t.Helper()
	p := &plane{version: 10, lists: map[string][]json.RawMessage{}, streams: map[string]map[chan any]bool{}, asked: map[string]int{}}
	s := healthy()
	s.Version.Name, s.Infra.Name, s.Etcd.Name, s.API.Name = "version", "cluster", "cluster", "cluster"
	p.put(t, "clusterversions", s.Version)
	p.put(t, "infrastructures", s.Infra)
	p.put(t, "etcds", s.Etcd)
	p.put(t, "kubeapiservers", s.API)
	for i := range s.Operators {
		p.put(t, "clusteroperators", &s.Operators[i])
	}
	for i := range s.Nodes {
		p.put(t, "nodes", &s.Nodes[i])
	}
	for i := range s.Pools {
		p.put(t, "machineconfigpools", &s.Pools[i])
	}
	for i := range s.Pods {
		p.put(t, "pods", &s.Pods[i])
	}
	cluster, _, file := apiFile(t, p.serve)
	p.file = file
	t.Cleanup(p.cut)
	return p, cluster
}

// put adds an object, and tells those who watch.
func (p *plane) put(t testing.TB, resource string, object metav1.Object) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version++
	object.SetResourceVersion(fmt.Sprint(p.version))
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	fields["kind"], fields["apiVersion"] = followedKinds[resource], "test/v1"
	if text, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	kind, at := "ADDED", len(p.lists[resource])
	for i, old := range p.lists[resource] {
		var o struct{ Metadata metav1.ObjectMeta }
		if json.Unmarshal(old, &o) == nil && o.Metadata.Name == object.GetName() && o.Metadata.Namespace == object.GetNamespace() {
			kind, at = "MODIFIED", i
		}
	}
	if at == len(p.lists[resource]) {
		p.lists[resource] = append(p.lists[resource], nil)
	}
	p.lists[resource][at] = text
	p.send(resource, map[string]any{"type": kind, "object": json.RawMessage(text)})
}

// since are the objects that changed after a version: a watch begins with them. p.mu is held.
func (p *plane) since(resource, version string) (missed []json.RawMessage) {
	from, _ := strconv.Atoi(version)
	for _, object := range p.lists[resource] {
		var o struct{ Metadata metav1.ObjectMeta }
		_ = json.Unmarshal(object, &o) // put made it
		if at, _ := strconv.Atoi(o.Metadata.ResourceVersion); at > from {
			missed = append(missed, object)
		}
	}
	return missed
}

// expire tells those who watch a resource that what they know is too old.
func (p *plane) expire(resource string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.send(resource, map[string]any{"type": "ERROR", "object": metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonExpired, Code: http.StatusGone,
	}})
}

func (p *plane) send(resource string, event any) {
	for stream := range p.streams[resource] {
		stream <- event
	}
}

// cut ends all watches.
func (p *plane) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, streams := range p.streams {
		for stream := range streams {
			close(stream)
		}
	}
	p.streams = map[string]map[chan any]bool{}
}

// set changes how the API answers.
func (p *plane) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// count tells how often all, and the lists and watches of a resource, were asked for.
func (p *plane) count(key string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key == "" {
		return p.requests
	}
	return p.asked[key]
}

func (p *plane) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requests++
	resource, watching := path.Base(r.URL.Path), r.URL.Query().Get("watch") == "true"
	if watching {
		p.asked["watch "+resource]++
	} else {
		p.asked["list "+resource]++
	}
	if p.away {
		p.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	if p.token != "" && r.Header.Get("Authorization") != "Bearer "+p.token {
		p.mu.Unlock()
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	kind, known := followedKinds[resource]
	if !known || !watching {
		defer p.mu.Unlock()
		if resource == "readyz" {
			_, _ = w.Write([]byte("ok"))
			return
		}
		if resource == "metrics" && p.metrics != nil {
			_, _ = w.Write(p.metrics)
			return
		}
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		items := append([]json.RawMessage{}, p.lists[resource]...)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": kind + "List", "apiVersion": "test/v1", "metadata": map[string]any{"resourceVersion": fmt.Sprint(p.version)}, "items": items})
		return
	}
	stream := make(chan any, 64)
	if p.streams[resource] == nil {
		p.streams[resource] = map[chan any]bool{}
	}
	p.streams[resource][stream] = true
	missed := p.since(resource, r.URL.Query().Get("resourceVersion"))
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	out := http.NewResponseController(w)
	for _, object := range missed {
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": object})
	}
	_ = out.Flush()
	for {
		select {
		case event, more := <-stream:
			if !more {
				return
			}
			_ = json.NewEncoder(w).Encode(event)
			_ = out.Flush()
		case <-r.Context().Done():
			p.set(func() { delete(p.streams[resource], stream) })
			return
		}
	}
}

// options are those of a node whose servers are not there.
func (c *handClock) options() health.Options {
	return health.Options{DNS: "127.0.0.1:1", Ingress: "127.0.0.1:1", API: "127.0.0.1:1", Now: c.time}
}
