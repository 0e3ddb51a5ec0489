package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// MachineConfig names a part of the configuration of a pool's machines.
func MachineConfig(name string) Ref {
	return Ref{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs", Name: name}
}

// Get returns an object as the API has it; nil when there is none, or none of its kind.
func (c *Cluster) Get(ctx context.Context, ref Ref) (map[string]any, error) {
	var object map[string]any
	err := c.Do(ctx, "reading "+ref.String(), func(ctx context.Context) error {
		o, err := c.resource(ref).Get(ctx, ref.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			object = nil
			return nil
		}
		if err == nil {
			object = o.Object
		}
		return err
	})
	return object, err
}

// Names returns the names of the objects of ref's kind, and whether this OpenShift has the kind at all. ref.Name is not looked at.
func (c *Cluster) Names(ctx context.Context, ref Ref) (names []string, served bool, err error) {
	err = c.Do(ctx, "listing "+ref.Resource, func(ctx context.Context) error {
		names, served = nil, true
		list, err := c.resource(ref).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			served = false
			return nil
		}
		if err != nil {
			return err
		}
		for i := range list.Items {
			names = append(names, list.Items[i].GetName())
		}
		return nil
	})
	return names, served, err
}

// PutSpec creates an object, or changes the spec of the one that is there like ChangeSpec. object holds everything but the spec.
func (c *Cluster) PutSpec(ctx context.Context, ref Ref, object map[string]any, change func(spec map[string]any) error, save Save) (bool, error) {
	spec := map[string]any{}
	if err := change(spec); err != nil {
		return false, err
	}
	spec, err := normal(spec)
	if err != nil {
		return false, err
	}
	fresh := (&unstructured.Unstructured{Object: object}).DeepCopy().Object
	meta, _ := fresh["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["name"] = ref.Name
	fresh["metadata"], fresh["spec"] = meta, spec
	return c.change(ctx, edit{ref: ref, part: "spec", create: fresh, change: change}, save)
}
