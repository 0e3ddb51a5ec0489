// Package operators plays the OpenShift operators: each stand-in watches the objects its model watches and plays the same roll-out.
package operators

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/test/bench/controlplane/internal/cluster"
)

// APIServer is the kube-apiserver under the stand-ins.
type APIServer interface {
	// RollOut stops it, waits as the function says and starts it with these SNI pairs. An error is its own last word on why it does not start.
	RollOut(ctx context.Context, sni []string, outage func(context.Context) error) error
	// SNI is what it runs with.
	SNI() []string
}

// Router is the router under the stand-ins.
type Router interface {
	SetDefault(cert, key []byte) error
	SetRoutes(routes []Served) error
	// Away makes it refuse to answer, as a port that nobody listens on.
	Away(away bool)
}

// Served is a host the router answers for. Without a certificate it uses the default one.
type Served struct {
	Host, Namespace, Name string
	Port                  string // of the pod
	Cert, Key             []byte
}

// Env is what every stand-in works with.
type Env struct {
	*cluster.Clients
	API       APIServer
	Router    Router
	Pace      *Pace
	Stats     *Stats
	Faults    *Faults
	Domain    string // cluster name and base domain
	Node      string
	ClientCAs ClientCAs
	CertDir   string   // where kube-apiserver finds the certificates of namedCertificates
	NodeRoot  string   // root of the node's files; empty: there is none
	RealNode  bool     // a kubelet keeps the Node object
	Real      []string // operators that someone runs for real
	Log       *slog.Logger

	looked     atomic.Bool  // the daemon has found the node's files as they were left
	drifted    atomic.Bool  // the daemon has said that they are others, and has ended no update since
	refused    atomic.Bool  // kube-apiserver's operator refuses what it is asked for
	routerAway atomic.Bool  // no router admits routes
	hostDomain lockedString // what openshift-apiserver gives routes without a host

	routerGeneration atomic.Int64 // of the Deployment whose pod a real router is
	routerSecret     lockedString // with its default certificate
}

type lockedString struct {
	mu sync.Mutex
	s  string
}

func (l *lockedString) set(s string) { l.mu.Lock(); defer l.mu.Unlock(); l.s = s }
func (l *lockedString) get() string  { l.mu.Lock(); defer l.mu.Unlock(); return l.s }

// namespace keeps what the stand-ins must remember over a restart.
const namespace = "bench-stand-ins"

// Run starts every stand-in and returns when ctx ends.
func Run(ctx context.Context, e *Env) error {
	if err := e.retry(ctx, func() error {
		_, err := e.Kube.CoreV1().Namespaces().Create(ctx, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}); err != nil {
		return fmt.Errorf("making the stand-ins' namespace: %w", err)
	}
	var all sync.WaitGroup
	for _, part := range e.parts() {
		all.Go(func() { part(ctx, e) })
	}
	all.Wait()
	return nil
}

// Ready waits until the router serves what the cluster has, so that a test never meets a half-started bench.
func (e *Env) Ready(ctx context.Context) error {
	return e.until(ctx, func() bool { return e.Stats.started() })
}

func (e *Env) until(ctx context.Context, ok func() bool) error {
	for !ok() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// loop calls reconcile at the start and after each change of the resources; an error is met with another try.
func (e *Env) loop(ctx context.Context, name string, resources []resource, reconcile func(context.Context) error) {
	kick := make(chan struct{}, 1)
	for _, r := range resources {
		go e.follow(ctx, r, kick)
	}
	pause, failing := time.Duration(0), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-kick:
		case <-after(pause):
		}
		pause = 0
		if err := reconcile(ctx); err != nil && ctx.Err() == nil {
			if !failing {
				e.Log.Info("stand-in tries again", "operator", name, "error", err)
			}
			pause, failing = 300*time.Millisecond, true
			continue
		}
		failing = false
		e.Stats.hasRun(name)
	}
}

func after(d time.Duration) <-chan time.Time {
	if d == 0 {
		return nil
	}
	return time.After(d)
}

// follow kicks on every event. A watch without a version begins with what exists, so nothing is lost over an outage.
func (e *Env) follow(ctx context.Context, r resource, kick chan<- struct{}) {
	for ctx.Err() == nil {
		w, err := e.Dynamic.Resource(r).Watch(ctx, metav1.ListOptions{})
		if err == nil {
			for range w.ResultChan() {
				select {
				case kick <- struct{}{}:
				default:
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// retry repeats f over conflicts and outages of the API.
func (e *Env) retry(ctx context.Context, f func() error) error {
	for {
		err := f()
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// applied is the input an operator last rolled out; recorded on the cluster, so that a restart of the bench forgets nothing.
func (e *Env) applied(ctx context.Context, operator string) (hash string, known bool, err error) {
	err = e.retry(ctx, func() error {
		cm, err := e.Kube.CoreV1().ConfigMaps(namespace).Get(ctx, operator, metav1.GetOptions{})
		hash, known = cm.Data["applied"], err == nil
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	return hash, known, err
}

func (e *Env) setApplied(ctx context.Context, operator, hash string) error {
	return e.retry(ctx, func() error {
		maps := e.Kube.CoreV1().ConfigMaps(namespace)
		cm := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: operator}, Data: map[string]string{"applied": hash}}
		_, err := maps.Update(ctx, cm, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			_, err = maps.Create(ctx, cm, metav1.CreateOptions{})
		}
		return err
	})
}

// fingerprint is a hash of anything JSON can hold.
func fingerprint(parts ...any) string {
	data, _ := json.Marshal(parts)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func sorted(s []string) []string { slices.Sort(s); return s }
