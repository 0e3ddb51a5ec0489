package health

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
)

// Wide is what a look finds beside what decides from second to second whether the cluster works. It takes more requests and
// changes slowly, so a Looker does it every wideEvery.
type Wide struct {
	Deployments  []appsv1.Deployment
	DaemonSets   []appsv1.DaemonSet
	StatefulSets []appsv1.StatefulSet
	Claims       []corev1.PersistentVolumeClaim
	Volumes      []corev1.PersistentVolume
	Classes      []storagev1.StorageClass
	Routers      []operatorv1.IngressController
	APIServices  []Part
	Webhooks     []Webhook
	Slices       []discoveryv1.EndpointSlice
	Events       []corev1.Event // warnings
	Cut          bool           // there are more events than were read
	Database     Latency
	Alerts       Alerts
	Identity     Identity
	Parts        map[string][]Part // of what is installed beside the platform, by their API's group and resource
	Units        []string          // of systemd that failed on the node
	Asked        bool              // the units were asked for
	Errors       map[string]error  // what could not be read

	at time.Time
	mu sync.Mutex
}

// wideEvery is how old the wide part of a Looker's look may be.
const wideEvery = 30 * time.Second

// mostEvents is how many warnings are read at most: some 2 MB.
const mostEvents = 1000

// lookWide adds the wide part to a look. An API that was away a moment ago is left alone.
func (s *State) lookWide(ctx context.Context, c *kube.Cluster, o Options) {
	if s.Away != nil {
		return
	}
	w := newWide(s.At)
	w.ask(ctx, s, c, o, w.lists(c))
	s.Wide = w
}

func newWide(at time.Time) *Wide {
	return &Wide{Errors: map[string]error{}, Parts: map[string][]Part{}, at: at}
}

// ask makes the given reads, and all those that are not a list of objects.
func (w *Wide) ask(ctx context.Context, s *State, c *kube.Cluster, o Options, reads []read) {
	reads = append(reads, w.asks(c)...)
	if o.Units != nil {
		w.Asked = true
		reads = append(reads, read{"units", func(ctx context.Context) (err error) {
			w.Units, err = o.Units(ctx)
			return err
		}})
	}
	w.Alerts.OwnTime = o.OwnTime
	server := o.Prometheus
	if server == "" {
		server, w.Alerts.Skip = s.prometheusAt()
	}
	if server != "" {
		reads = append(reads, read{"alerts", func(ctx context.Context) error { return w.readAlerts(ctx, c, server) }})
	}
	together(ctx, reads, w.fail)
}

func (w *Wide) fail(what string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Errors[what] = err
}

func (w *Wide) lists(c *kube.Cluster) []read {
	return []read{
		{"deployments", rawList(c, &w.Deployments, "/apis/apps/v1/deployments")},
		{"daemonsets", rawList(c, &w.DaemonSets, "/apis/apps/v1/daemonsets")},
		{"statefulsets", rawList(c, &w.StatefulSets, "/apis/apps/v1/statefulsets")},
		{"claims", rawList(c, &w.Claims, "/api/v1/persistentvolumeclaims")},
		{"volumes", rawList(c, &w.Volumes, "/api/v1/persistentvolumes")},
		{"classes", rawList(c, &w.Classes, "/apis/storage.k8s.io/v1/storageclasses")},
		{"routers", rawList(c, &w.Routers, "/apis/operator.openshift.io/v1/ingresscontrollers")},
		{"apiservices", rawList(c, &w.APIServices, "/apis/apiregistration.k8s.io/v1/apiservices")},
		{"slices", rawList(c, &w.Slices, "/apis/discovery.k8s.io/v1/endpointslices")},
		{"clients", rawList(c, &w.Identity.Clients, "/apis/oauth.openshift.io/v1/oauthclients")},
	}
}

func (w *Wide) asks(c *kube.Cluster) []read {
	get := metav1.GetOptions{}
	return []read{
		{"events", func(ctx context.Context) error { return w.readEvents(ctx, c) }},
		{"webhooks", func(ctx context.Context) error { return w.readWebhooks(ctx, c) }},
		{"latency", func(ctx context.Context) error { return w.readLatency(ctx, c) }},
		{"parts", func(ctx context.Context) error { return w.readParts(ctx, c) }},
		{"ingress", one(&w.Identity.Ingress, func(ctx context.Context) (*configv1.Ingress, error) {
			return c.Config.Ingresses().Get(ctx, "cluster", get)
		})},
		{"dns", one(&w.Identity.DNS, func(ctx context.Context) (*configv1.DNS, error) { return c.Config.DNSes().Get(ctx, "cluster", get) })},
		{"install", one(&w.Identity.Install, func(ctx context.Context) (*corev1.ConfigMap, error) {
			return c.Core.ConfigMaps("kube-system").Get(ctx, "cluster-config-v1", get)
		})},
		{"etcd-endpoints", one(&w.Identity.Etcd, func(ctx context.Context) (*corev1.ConfigMap, error) {
			return c.Core.ConfigMaps("openshift-etcd").Get(ctx, "etcd-endpoints", get)
		})},
	}
}

// rawList reads a list for which the cluster has no typed client. The API serves it from its cache (resourceVersion 0), which
// spares the database.
func rawList[T any](c *kube.Cluster, to *[]T, path string) func(context.Context) error {
	return func(ctx context.Context) error {
		raw, err := c.Core.RESTClient().Get().AbsPath(path).Param("resourceVersion", "0").DoRaw(ctx)
		if err != nil {
			return err
		}
		var l struct {
			Items []T `json:"items"`
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			return fmt.Errorf("decoding %s: %w", path, err)
		}
		*to = l.Items
		return nil
	}
}

func (w *Wide) readEvents(ctx context.Context, c *kube.Cluster) error {
	l, err := c.Core.Events("").List(ctx, metav1.ListOptions{FieldSelector: "type=Warning", Limit: mostEvents})
	if err != nil {
		return err
	}
	w.Events, w.Cut = l.Items, l.Continue != ""
	return nil
}

func (w *Wide) readWebhooks(ctx context.Context, c *kube.Cluster) error {
	var validating []admissionv1.ValidatingWebhookConfiguration
	var mutating []admissionv1.MutatingWebhookConfiguration
	const group = "/apis/admissionregistration.k8s.io/v1/"
	if err := rawList(c, &validating, group+"validatingwebhookconfigurations")(ctx); err != nil {
		return err
	}
	if err := rawList(c, &mutating, group+"mutatingwebhookconfigurations")(ctx); err != nil {
		return err
	}
	for i := range validating {
		for _, h := range validating[i].Webhooks {
			w.webhook(validating[i].Name, h.ClientConfig, h.FailurePolicy)
		}
	}
	for i := range mutating {
		for _, h := range mutating[i].Webhooks {
			w.webhook(mutating[i].Name, h.ClientConfig, h.FailurePolicy)
		}
	}
	return nil
}

// webhook notes a webhook that a service of the cluster answers. Without a policy a failed one refuses (Kubernetes' default).
func (w *Wide) webhook(name string, client admissionv1.WebhookClientConfig, policy *admissionv1.FailurePolicyType) {
	if client.Service != nil {
		w.Webhooks = append(w.Webhooks, Webhook{
			Name: name, Service: client.Service.Namespace + "/" + client.Service.Name, Refuses: policy == nil || *policy == admissionv1.Fail,
		})
	}
}
