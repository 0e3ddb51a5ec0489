// Package kube is the only way out to the cluster: its clients, changes that can be undone to the byte, waiting, probes.
package kube

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"sync/atomic"
	"time"

	configv1 "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	machinev1 "github.com/openshift/client-go/machineconfiguration/clientset/versioned/typed/machineconfiguration/v1"
	operatorv1 "github.com/openshift/client-go/operator/clientset/versioned/typed/operator/v1"
	routev1 "github.com/openshift/client-go/route/clientset/versioned/typed/route/v1"
	"k8s.io/client-go/dynamic"
	certificatesv1 "k8s.io/client-go/kubernetes/typed/certificates/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Pace is how long and how often the cluster's clients ask.
type Pace struct {
	Limit time.Duration // how long to wait for an API that is away
	Pause time.Duration // between two tries of a call
	Poll  time.Duration // between two looks while waiting for the cluster
}

// Cluster is the cluster on this node. Reads may use the typed clients, inside Do; changes go through Change,
// Put, Delete and Restore, so that each of them can be undone.
type Cluster struct {
	Core          corev1.CoreV1Interface
	Certificates  certificatesv1.CertificatesV1Interface
	Config        configv1.ConfigV1Interface
	Operator      operatorv1.OperatorV1Interface
	Route         routev1.RouteV1Interface
	MachineConfig machinev1.MachineconfigurationV1Interface
	Pace          Pace

	dyn    dynamic.Interface
	stream dynamic.Interface  // for watches, which may last
	heads  metadata.Interface // the same for metadata alone
	rest   *rest.Config
	ways   *ways
	log    *slog.Logger
	writes *atomic.Int64
	tell   func(Progress)
}

// Open makes the clients for a kubeconfig. It does not talk to the API, which may still be starting. Where the file is the node's
// own, the cluster's recovery is used while it does not work, and it is read again.
func Open(kubeconfig string, log *slog.Logger) (*Cluster, error) {
	w := &ways{all: waysOf(kubeconfig), log: log}
	errs := make([]error, len(w.all))
	for i, way := range w.all {
		config, err := way.read()
		if err == nil {
			return open(config, w)
		}
		errs[i] = err
	}
	return nil, errs[0]
}

// Shut is the cluster of a node whose kubeconfig cannot be read: each call reads it again, and fails with the Problem CLU-KCFG
// while that is so. So the wizard opens all the same, and says so; what needs no cluster can be done.
func Shut(kubeconfig string, log *slog.Logger) *Cluster {
	c, err := open(&rest.Config{Host: "https://localhost:6443"}, &ways{all: waysOf(kubeconfig), log: log})
	if err != nil {
		panic(err) // nothing in it depends on the node
	}
	return c
}

func open(config *rest.Config, w *ways) (*Cluster, error) {
	if w.log == nil {
		w.log = slog.Default()
	}
	c := &Cluster{
		// The API of a single node is away for about a minute at each of its revisions; five is its fallback's time.
		Pace:   Pace{Limit: 5 * time.Minute, Pause: time.Second, Poll: time.Second},
		rest:   config,
		ways:   w,
		log:    w.log,
		writes: new(atomic.Int64),
		tell:   func(Progress) {},
	}
	w.adjust = func(config *rest.Config) {
		config.UserAgent = "touchdown/" + version()
		config.Timeout = 30 * time.Second
		config.QPS, config.Burst = 50, 100
		config.WarningHandler = warnings{w.log} // the default writes over the screen
	}
	w.adjust(config)
	client := &http.Client{Transport: &transport{w, c.writes}, Timeout: config.Timeout}
	lasts, lasting := rest.CopyConfig(config), &http.Client{Transport: client.Transport}
	lasts.Timeout = 0
	errs := make([]error, 9)
	c.Core, errs[0] = corev1.NewForConfigAndClient(config, client)
	c.Certificates, errs[1] = certificatesv1.NewForConfigAndClient(config, client)
	c.Config, errs[2] = configv1.NewForConfigAndClient(config, client)
	c.Operator, errs[3] = operatorv1.NewForConfigAndClient(config, client)
	c.Route, errs[4] = routev1.NewForConfigAndClient(config, client)
	c.MachineConfig, errs[5] = machinev1.NewForConfigAndClient(config, client)
	c.dyn, errs[6] = dynamic.NewForConfigAndClient(config, client)
	c.stream, errs[7] = dynamic.NewForConfigAndClient(lasts, lasting)
	c.heads, errs[8] = metadata.NewForConfigAndClient(lasts, lasting)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("making the API's clients: %w", err)
	}
	return c, nil
}

// WithProgress returns the same cluster, which reports its waits to tell.
func (c *Cluster) WithProgress(tell func(Progress)) *Cluster {
	d := *c
	d.tell = tell
	return &d
}

// Within returns the same cluster, which waits up to limit for an API that is away.
func (c *Cluster) Within(limit time.Duration) *Cluster {
	d := *c
	d.Pace.Limit = limit
	return &d
}

// Writes counts the changing calls that the API has accepted.
func (c *Cluster) Writes() int64 { return c.writes.Load() }

// Address is the host:port of the kubeconfig's server.
func (c *Cluster) Address() string {
	u, err := url.Parse(c.rest.Host)
	if err != nil || u.Host == "" {
		return c.rest.Host
	}
	if u.Port() == "" {
		return u.Host + ":443"
	}
	return u.Host
}

// Roots are the CAs that the kubeconfig trusts.
func (c *Cluster) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.ways.authorities(c.rest.CAData))
	return pool
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// warnings puts what the API warns about into the log.
type warnings struct{ log *slog.Logger }

// HandleWarningHeader logs one warning.
func (w warnings) HandleWarningHeader(_ int, _ string, text string) {
	if text != "" {
		w.log.Warn("the API warns", "text", text)
	}
}
