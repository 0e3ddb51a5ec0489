package health

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"touchdown/backend/message"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	routev1 "github.com/openshift/api/route/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/kube"
)

// callTime is how long one call may take: a look is repeated soon, so it does not wait for an API that is away.
const callTime = 20 * time.Second

// State is what one look at the cluster found.
type State struct {
	At        time.Time
	Away      error        // why the API does not answer at all
	NotReady  error        // the API answers, and says that it is not ready
	Torn      error        // why waiting for one of both does not help: the database does not start
	Detour    message.Text // why the node's own kubeconfig is not what the cluster is reached with
	Version   *configv1.ClusterVersion
	Infra     *configv1.Infrastructure
	Operators []configv1.ClusterOperator
	Nodes     []corev1.Node
	Leases    map[string]time.Time // when each node last said that it lives
	Pools     []machinev1.MachineConfigPool
	Etcd      *operatorv1.Etcd
	API       *operatorv1.KubeAPIServer
	Manager   *operatorv1.KubeControllerManager
	Scheduler *operatorv1.KubeScheduler
	Pods      []corev1.Pod
	CSRs      []certificatesv1.CertificateSigningRequest
	Routes    []routev1.Route
	Secrets   []metav1.PartialObjectMetadata // without their content
	Sites     map[string]Answer              // by the ID of the check
	Served    map[string]Shown               // by the ID of the check
	Names     Names                          // inside the cluster
	WayOut    WayOut                         // of the pods
	Wide      *Wide                          // nil: not looked at
	Errors    map[string]error               // what could not be read

	mu sync.Mutex
}

// Answer is what a web console said.
type Answer struct {
	Host   string
	Status int
	Err    error
}

// Shown is the certificate that a server showed for a name.
type Shown struct {
	Name  string
	Skip  message.Text // why nobody looked
	Leaf  *x509.Certificate
	Trust error // why the certificate is not good for the name
	Err   error // why none came
}

// Look reads everything that the checks need, all at once, each call with its own short timeout.
func Look(ctx context.Context, c *kube.Cluster, o Options) *State {
	s := lookNarrow(ctx, c, o)
	s.lookWide(ctx, c, o)
	return s
}

// Looker looks at one cluster again and again. It takes the wide part of the look before while that is young.
type Looker struct{ wide *Wide }

// Look looks, and judges what it found.
func (l *Looker) Look(ctx context.Context, c *kube.Cluster, o Options) []check.Check {
	var s *State
	if now := o.now(); l.wide == nil || now.Sub(l.wide.at) >= wideEvery || now.Before(l.wide.at) {
		s = Look(ctx, c, o)
	} else {
		s = lookNarrow(ctx, c, o)
		s.Wide = l.wide
	}
	l.wide = s.Wide
	return Judge(s, o)
}

// lookNarrow reads what decides from second to second whether the cluster works.
func lookNarrow(ctx context.Context, c *kube.Cluster, o Options) *State {
	s := newState(o.now())
	if s.answers(ctx, c, o) {
		together(ctx, s.reads(c), s.fail)
		s.inquire(ctx, c, o)
	}
	return s
}

func newState(at time.Time) *State {
	return &State{At: at, Errors: map[string]error{}, Leases: map[string]time.Time{}, Sites: map[string]Answer{}, Served: map[string]Shown{}}
}

// answers asks the API whether it is ready, and tells whether it answers at all.
func (s *State) answers(ctx context.Context, c *kube.Cluster, o Options) bool {
	s.Away, s.NotReady, s.Torn = nil, nil, nil
	s.ready(ctx, c)
	if o.Database != nil && (s.Away != nil || s.NotReady != nil) {
		s.Torn = o.Database()
	}
	return s.Away == nil
}

// inquire finds out what no object of the cluster tells.
func (s *State) inquire(ctx context.Context, c *kube.Cluster, o Options) {
	s.Detour, s.Names = c.Detour(), Names{}
	s.readLeases(ctx, c)
	s.probe(ctx, c, o)
	s.askNames(ctx, c, o)
	s.askOut(ctx, o)
}

func (s *State) askOut(ctx context.Context, o Options) {
	if o.Site == nil {
		return
	}
	folder := o.Pods
	if folder == "" {
		folder = PodNetworks
	}
	s.WayOut = askFromPods(ctx, folder, o.Site(ctx))
}

func (s *State) fail(what string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Errors[what] = err
}

func (s *State) ready(ctx context.Context, c *kube.Cluster) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	body, err := c.Core.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	var answer apierrors.APIStatus
	switch failing := unready.FindAllStringSubmatch(string(body), -1); {
	case !errors.As(err, &answer):
		s.Away = err
	case len(failing) == 0:
		s.NotReady = err
	default: // the error quotes the beginning of the answer, which is all that is well
		s.NotReady = fmt.Errorf("%s: %w", firstOf(failing), err)
	}
}

// unready finds what the API names in its answer as not ready.
var unready = regexp.MustCompile(`(?m)^\[-\](\S+)`)

// firstOf names the first three that were found: the rest does not fit on a line of a console.
func firstOf(found [][]string) string {
	var names []string
	for _, f := range found[:min(3, len(found))] {
		names = append(names, f[1])
	}
	return strings.Join(names, ", ")
}

type read struct {
	what string
	call func(context.Context) error
}

// together makes all reads at once, each with its own short timeout, and tells which failed.
func together(ctx context.Context, reads []read, fail func(what string, err error)) {
	var all sync.WaitGroup
	for _, read := range reads {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, callTime)
			defer cancel()
			if err := read.call(ctx); err != nil {
				fail(read.what, err)
			}
		})
	}
	all.Wait()
}

func (s *State) reads(c *kube.Cluster) []read {
	all := metav1.ListOptions{}
	get := metav1.GetOptions{}
	return []read{
		{"version", one(&s.Version, func(ctx context.Context) (*configv1.ClusterVersion, error) {
			return c.Config.ClusterVersions().Get(ctx, "version", get)
		})},
		{"infrastructure", one(&s.Infra, func(ctx context.Context) (*configv1.Infrastructure, error) {
			return c.Config.Infrastructures().Get(ctx, "cluster", get)
		})},
		{"operators", list(&s.Operators, func(ctx context.Context) ([]configv1.ClusterOperator, error) {
			l, err := c.Config.ClusterOperators().List(ctx, all)
			return items(l, err, func() []configv1.ClusterOperator { return l.Items })
		})},
		{"nodes", list(&s.Nodes, func(ctx context.Context) ([]corev1.Node, error) {
			l, err := c.Core.Nodes().List(ctx, all)
			return items(l, err, func() []corev1.Node { return l.Items })
		})},
		{"pools", list(&s.Pools, func(ctx context.Context) ([]machinev1.MachineConfigPool, error) {
			l, err := c.MachineConfig.MachineConfigPools().List(ctx, all)
			return items(l, err, func() []machinev1.MachineConfigPool { return l.Items })
		})},
		{"etcd", one(&s.Etcd, func(ctx context.Context) (*operatorv1.Etcd, error) {
			return c.Operator.Etcds().Get(ctx, "cluster", get)
		})},
		{"kube-apiserver", one(&s.API, func(ctx context.Context) (*operatorv1.KubeAPIServer, error) {
			return c.Operator.KubeAPIServers().Get(ctx, "cluster", get)
		})},
		{"kube-controller-manager", one(&s.Manager, func(ctx context.Context) (*operatorv1.KubeControllerManager, error) {
			return c.Operator.KubeControllerManagers().Get(ctx, "cluster", get)
		})},
		{"kube-scheduler", one(&s.Scheduler, func(ctx context.Context) (*operatorv1.KubeScheduler, error) {
			return c.Operator.KubeSchedulers().Get(ctx, "cluster", get)
		})},
		{"pods", list(&s.Pods, func(ctx context.Context) ([]corev1.Pod, error) {
			l, err := c.Core.Pods("").List(ctx, all)
			return items(l, err, func() []corev1.Pod { return l.Items })
		})},
		{"csrs", list(&s.CSRs, func(ctx context.Context) ([]certificatesv1.CertificateSigningRequest, error) {
			l, err := c.Certificates.CertificateSigningRequests().List(ctx, all)
			return items(l, err, func() []certificatesv1.CertificateSigningRequest { return l.Items })
		})},
		{"routes", list(&s.Routes, func(ctx context.Context) ([]routev1.Route, error) {
			l, err := c.Route.Routes("").List(ctx, all)
			return items(l, err, func() []routev1.Route { return l.Items })
		})},
		{"secrets", list(&s.Secrets, func(ctx context.Context) ([]metav1.PartialObjectMetadata, error) { return secrets(ctx, c) })},
	}
}

func one[T any](to **T, call func(context.Context) (*T, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := call(ctx)
		if err == nil {
			*to = got
		}
		return err
	}
}

func list[T any](to *[]T, call func(context.Context) ([]T, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := call(ctx)
		if err == nil {
			*to = got
		}
		return err
	}
}

// items spares each list the same three lines.
func items[L, T any](_ *L, err error, of func() []T) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return of(), nil
}

// secrets reads the annotations of all secrets and none of their content.
func secrets(ctx context.Context, c *kube.Cluster) ([]metav1.PartialObjectMetadata, error) {
	raw, err := c.Core.RESTClient().Get().Resource("secrets").
		SetHeader("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	var l metav1.PartialObjectMetadataList
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, fmt.Errorf("decoding the list of secrets: %w", err)
	}
	return l.Items, nil
}

// readLeases asks when each node last reported. A kubelet whose status does not change writes it only every five
// minutes; its lease it renews every ten seconds. A node whose status is young is not asked again.
func (s *State) readLeases(ctx context.Context, c *kube.Cluster) {
	for i := range s.Nodes {
		name := s.Nodes[i].Name
		if ready := nodeCondition(&s.Nodes[i], corev1.NodeReady); ready != nil && s.At.Sub(ready.LastHeartbeatTime.Time) <= freshness {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, callTime)
		raw, err := c.Core.RESTClient().Get().AbsPath("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", name).DoRaw(ctx)
		cancel()
		var lease coordinationv1.Lease
		if err == nil && json.Unmarshal(raw, &lease) == nil && lease.Spec.RenewTime != nil {
			s.Leases[name] = lease.Spec.RenewTime.Time
		}
	}
}

func missing(err error) bool { return apierrors.IsNotFound(err) }
