package kube

import (
	"context"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// MachineConfig names a part of the configuration of a pool's machines.
func MachineConfig(name string) Ref {
	return Ref{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs", Name: name}
}

// MachineConfigPool names a pool of machines.
func MachineConfigPool(name string) Ref {
	return Ref{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools", Name: name}
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

// List returns the objects of ref's kind, and whether this OpenShift has the kind at all. ref.Name is not checked.
func (c *Cluster) List(ctx context.Context, ref Ref) (objects []map[string]any, served bool, err error) {
	err = c.Do(ctx, "listing "+ref.Resource, func(ctx context.Context) error {
		objects, served = nil, true
		list, err := c.resource(ref).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			served = false
			return nil
		}
		if err != nil {
			return err
		}
		for i := range list.Items {
			objects = append(objects, list.Items[i].Object)
		}
		return nil
	})
	return objects, served, err
}

// New is what an object is created as.
type New struct {
	Kind   string // "MachineConfig"
	Labels map[string]string
}

// Put creates an object with what change makes of nothing, or changes the one that is there like ChangeSpec: its spec, or the
// data of a ConfigMap.
func (c *Cluster) Put(ctx context.Context, ref Ref, kind New, change func(map[string]any) error, save Save) (bool, error) {
	fresh := map[string]any{}
	if err := change(fresh); err != nil {
		return false, err
	}
	fresh, err := normal(fresh)
	if err != nil {
		return false, err
	}
	object := map[string]any{"kind": kind.Kind, "apiVersion": ref.Version, "metadata": kind.metadata(ref), partOf(ref): fresh}
	if ref.Group != "" {
		object["apiVersion"] = ref.Group + "/" + ref.Version
	}
	return edit{ref: ref, part: partOf(ref), create: object, change: change}.on(ctx, c, save)
}

func (n New) metadata(ref Ref) map[string]any {
	meta := map[string]any{"name": ref.Name}
	if ref.Namespace != "" {
		meta["namespace"] = ref.Namespace
	}
	if len(n.Labels) > 0 {
		labels := map[string]any{}
		for key, value := range n.Labels {
			labels[key] = value
		}
		meta["labels"] = labels
	}
	return meta
}

// Pending tells whether Put with the same change would write.
func (c *Cluster) Pending(ctx context.Context, ref Ref, change func(map[string]any) error) (bool, error) {
	object, err := c.Get(ctx, ref)
	if err != nil || object == nil {
		return true, err
	}
	before, _ := object[partOf(ref)].(map[string]any)
	after := runtime.DeepCopyJSON(before)
	if after == nil {
		after = map[string]any{}
	}
	if err := change(after); err != nil {
		return false, err
	}
	after, err = normal(after)
	return !reflect.DeepEqual(before, after) && (before != nil || len(after) > 0), err
}

func partOf(ref Ref) string {
	if ref.Group == "" && ref.Resource == "configmaps" {
		return "data"
	}
	return "spec"
}
