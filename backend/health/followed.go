package health

import (
	"context"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	routev1 "github.com/openshift/api/route/v1"
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
)

// followed is a list that is kept up to date by a watch.
type followed struct {
	fill func(*State) (known bool) // takes what it has into a state
	cut  func() bool
	back func() // the API answers again
}

// keeper keeps the lists of one Watcher.
type keeper struct {
	*Watcher
	ctx context.Context //nolint:containedctx // of Watcher.Run, which made it
}

// follow keeps all that a look reads as objects: what decides from second to second, and the lists among what changes slowly.
func (w *Watcher) follow(ctx context.Context) {
	k := keeper{w, ctx}
	const config, operator = "config.openshift.io", "operator.openshift.io"
	keepOne(k, "version", kube.Ref{Group: config, Version: "v1", Resource: "clusterversions"}, func(s *State) **configv1.ClusterVersion { return &s.Version })
	keepOne(k, "infrastructure", kube.Ref{Group: config, Version: "v1", Resource: "infrastructures"}, func(s *State) **configv1.Infrastructure { return &s.Infra })
	keepOne(k, "etcd", kube.Ref{Group: operator, Version: "v1", Resource: "etcds"}, func(s *State) **operatorv1.Etcd { return &s.Etcd })
	keepOne(k, "kube-apiserver", kube.Ref{Group: operator, Version: "v1", Resource: "kubeapiservers"}, func(s *State) **operatorv1.KubeAPIServer { return &s.API })
	keepOne(k, "kube-controller-manager", kube.Ref{Group: operator, Version: "v1", Resource: "kubecontrollermanagers"}, func(s *State) **operatorv1.KubeControllerManager { return &s.Manager })
	keepOne(k, "kube-scheduler", kube.Ref{Group: operator, Version: "v1", Resource: "kubeschedulers"}, func(s *State) **operatorv1.KubeScheduler { return &s.Scheduler })
	keep(k, "operators", kube.Ref{Group: config, Version: "v1", Resource: "clusteroperators"}, func(s *State) *[]configv1.ClusterOperator { return &s.Operators })
	keep(k, "nodes", kube.Ref{Version: "v1", Resource: "nodes"}, func(s *State) *[]corev1.Node { return &s.Nodes })
	keep(k, "pools", kube.Ref{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"}, func(s *State) *[]machinev1.MachineConfigPool { return &s.Pools })
	keep(k, "pods", kube.Ref{Version: "v1", Resource: "pods"}, func(s *State) *[]corev1.Pod { return &s.Pods })
	keep(k, "csrs", kube.Ref{Group: "certificates.k8s.io", Version: "v1", Resource: "certificatesigningrequests"}, func(s *State) *[]certificatesv1.CertificateSigningRequest { return &s.CSRs })
	keep(k, "routes", kube.Ref{Group: "route.openshift.io", Version: "v1", Resource: "routes"}, func(s *State) *[]routev1.Route { return &s.Routes })
	keep(k, "secrets", kube.Ref{Version: "v1", Resource: "secrets"}, func(s *State) *[]metav1.PartialObjectMetadata { return &s.Secrets })
	w.followWide(k)
}

func (w *Watcher) followWide(k keeper) {
	const apps, storage = "apps", "storage.k8s.io"
	keepWide(k, "deployments", kube.Ref{Group: apps, Version: "v1", Resource: "deployments"}, func(w *Wide) *[]appsv1.Deployment { return &w.Deployments })
	keepWide(k, "daemonsets", kube.Ref{Group: apps, Version: "v1", Resource: "daemonsets"}, func(w *Wide) *[]appsv1.DaemonSet { return &w.DaemonSets })
	keepWide(k, "statefulsets", kube.Ref{Group: apps, Version: "v1", Resource: "statefulsets"}, func(w *Wide) *[]appsv1.StatefulSet { return &w.StatefulSets })
	keepWide(k, "claims", kube.Ref{Version: "v1", Resource: "persistentvolumeclaims"}, func(w *Wide) *[]corev1.PersistentVolumeClaim { return &w.Claims })
	keepWide(k, "volumes", kube.Ref{Version: "v1", Resource: "persistentvolumes"}, func(w *Wide) *[]corev1.PersistentVolume { return &w.Volumes })
	keepWide(k, "classes", kube.Ref{Group: storage, Version: "v1", Resource: "storageclasses"}, func(w *Wide) *[]storagev1.StorageClass { return &w.Classes })
	keepWide(k, "routers", kube.Ref{Group: "operator.openshift.io", Version: "v1", Resource: "ingresscontrollers"}, func(w *Wide) *[]operatorv1.IngressController { return &w.Routers })
	keepWide(k, "apiservices", kube.Ref{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}, func(w *Wide) *[]Part { return &w.APIServices })
	keepWide(k, "slices", kube.Ref{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}, func(w *Wide) *[]discoveryv1.EndpointSlice { return &w.Slices })
	keepWide(k, "clients", kube.Ref{Group: "oauth.openshift.io", Version: "v1", Resource: "oauthclients"}, func(w *Wide) *[]OAuthClient { return &w.Identity.Clients })
}

// keep follows a list of the first part of a look.
func keep[T any](k keeper, what string, kind kube.Ref, in func(*State) *[]T) {
	f := kube.Follow[T](k.ctx, k.Cluster, kind, k.up.pass, k.poke)
	k.lists = append(k.lists, followed{cut: f.Cut, back: f.Back, fill: func(s *State) (is bool) {
		*in(s), is = known(s.Errors, what, f)
		return is
	}})
}

// keepOne follows the only object of a kind.
func keepOne[T any](k keeper, what string, kind kube.Ref, in func(*State) **T) {
	f := kube.Follow[T](k.ctx, k.Cluster, kind, k.up.pass, k.poke)
	k.lists = append(k.lists, followed{cut: f.Cut, back: f.Back, fill: func(s *State) bool {
		all, is := known(s.Errors, what, f)
		if *in(s) = nil; len(all) > 0 {
			*in(s) = &all[0]
		}
		return is
	}})
}

// keepWide follows a list of the second part.
func keepWide[T any](k keeper, what string, kind kube.Ref, in func(*Wide) *[]T) {
	f := kube.Follow[T](k.ctx, k.Cluster, kind, k.up.pass, k.poke)
	k.lists = append(k.lists, followed{cut: f.Cut, back: f.Back, fill: func(s *State) (is bool) {
		*in(s.Wide), is = known(s.Wide.Errors, what, f)
		return is
	}})
}

// known is what a list has, with why it could not be read in errs.
func known[T any](errs map[string]error, what string, f *kube.Followed[T]) (all []T, is bool) {
	all, is, err := f.Items()
	if delete(errs, what); err != nil {
		errs[what] = err
	}
	return all, is
}
