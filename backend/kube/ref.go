package kube

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Ref names one object of the cluster.
type Ref struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Resource  string `json:"resource"` // plural: "secrets"
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String is how people who know the cluster name the object: "secrets/openshift-config/pull-secret".
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Resource + "/" + r.Name
	}
	return r.Resource + "/" + r.Namespace + "/" + r.Name
}

// Secret names a Secret.
func Secret(namespace, name string) Ref {
	return Ref{Version: "v1", Resource: "secrets", Namespace: namespace, Name: name}
}

// ConfigMap names a ConfigMap.
func ConfigMap(namespace, name string) Ref {
	return Ref{Version: "v1", Resource: "configmaps", Namespace: namespace, Name: name}
}

// Config names the one object of a kind of config.openshift.io, for example "apiservers".
func Config(resource string) Ref {
	return Ref{Group: "config.openshift.io", Version: "v1", Resource: resource, Name: "cluster"}
}

// IngressController names a router.
func IngressController(name string) Ref {
	return Ref{
		Group: "operator.openshift.io", Version: "v1", Resource: "ingresscontrollers",
		Namespace: "openshift-ingress-operator", Name: name,
	}
}

// Route names a Route.
func Route(namespace, name string) Ref {
	return Ref{Group: "route.openshift.io", Version: "v1", Resource: "routes", Namespace: namespace, Name: name}
}

func (c *Cluster) resource(r Ref) dynamic.ResourceInterface {
	all := c.dyn.Resource(r.kind())
	if r.Namespace == "" {
		return all
	}
	return all.Namespace(r.Namespace)
}

// kind is the kind of the object.
func (r Ref) kind() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}
