package health

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	routev1 "github.com/openshift/api/route/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
)

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
		if ready := nodeCondition(&s.Nodes[i], corev1.NodeReady); ready != nil && s.age(ready.LastHeartbeatTime.Time) <= freshness {
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
