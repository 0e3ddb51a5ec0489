package health

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	routev1 "github.com/openshift/api/route/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/message"
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
	Wide      *Wide                          // nil: not checked
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
		folder = podNetworks
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
