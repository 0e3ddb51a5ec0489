// Package cluster holds what the stand-ins and the seed share: clients and kubeconfig files.
package cluster

import (
	"fmt"
	"net/http"

	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	mcoclient "github.com/openshift/client-go/machineconfiguration/clientset/versioned/typed/machineconfiguration/v1"
	operatorclient "github.com/openshift/client-go/operator/clientset/versioned/typed/operator/v1"
	routeclient "github.com/openshift/client-go/route/clientset/versioned/typed/route/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Clients are typed clients for one cluster.
type Clients struct {
	REST     *rest.Config
	Kube     kubernetes.Interface
	Dynamic  dynamic.Interface
	Config   configclient.ConfigV1Interface
	Operator operatorclient.OperatorV1Interface
	Route    routeclient.RouteV1Interface
	MCO      mcoclient.MachineconfigurationV1Interface
}

// Connect makes clients from a kubeconfig file.
func Connect(kubeconfig string) (*Clients, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", kubeconfig, err)
	}
	// The stand-ins are many programs in one: no limit of one client's pace fits them.
	config.QPS = -1
	config.UserAgent = "bench-stand-ins"
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return retrying{next} })
	c := &Clients{REST: config}
	if c.Kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making the kubernetes client: %w", err)
	}
	if c.Dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making the dynamic client: %w", err)
	}
	if c.Config, err = configclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making the config client: %w", err)
	}
	if c.Operator, err = operatorclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making the operator client: %w", err)
	}
	if c.Route, err = routeclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making the route client: %w", err)
	}
	if c.MCO, err = mcoclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making the machine config client: %w", err)
	}
	return c, nil
}

// retrying hides Retry-After. A server that has just come up sends clients away for seconds; the stand-ins have their own way of trying again.
type retrying struct{ next http.RoundTripper }

func (r retrying) RoundTrip(request *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(request)
	if resp != nil {
		resp.Header.Del("Retry-After")
	}
	return resp, err
}
