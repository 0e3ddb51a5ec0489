package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// edit is a change of one part of one object.
type edit struct {
	ref    Ref
	part   string
	mark   Mark // written with the part; the zero value: none
	change func(part map[string]any) error
	create map[string]any                         // what to create when there is none; nil: that is an error
	accept func(*unstructured.Unstructured) error // nil: any object may be changed
}

// ChangeSpec changes the spec of an object that exists. change sees the spec as it is, makes it what it should be, and
// may be called again when someone else was faster. Nothing is written when nothing changes; else save is called first.
// Only the changed fields are sent, so fields that this release does not know survive.
func (c *Cluster) ChangeSpec(ctx context.Context, ref Ref, change func(spec map[string]any) error, save Save) (bool, error) {
	return edit{ref: ref, part: "spec", change: change}.on(ctx, c, save)
}

// ChangePart is ChangeSpec for another field at the top of an object: "data" of a Secret, where values are base64.
func (c *Cluster) ChangePart(ctx context.Context, ref Ref, part string, change func(map[string]any) error, save Save) (bool, error) {
	return edit{ref: ref, part: part, change: change}.on(ctx, c, save)
}

// PutSecret creates a Secret, or sets the given keys of the one that is there; its other keys stay.
func (c *Cluster) PutSecret(ctx context.Context, want *corev1.Secret, save Save) (bool, error) {
	want.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return false, fmt.Errorf("encoding %s: %w", want.Name, err)
	}
	e := put(Secret(want.Namespace, want.Name), object)
	e.accept = func(o *unstructured.Unstructured) error {
		if have, _, _ := unstructured.NestedString(o.Object, "type"); have != string(want.Type) {
			return &lasting{&problem.Problem{
				Code:    "CLU-TYPE",
				Summary: message.F("The secret %s/%s has the type %q.", want.Namespace, want.Name, have),
				Fix:     message.F("Delete it, when nothing uses it; Touchdown makes it again with the type %q.", want.Type),
			}}
		}
		return nil
	}
	return e.on(ctx, c, save)
}

// PutConfigMap creates a ConfigMap, or sets the given keys of the one that is there; its other keys stay.
func (c *Cluster) PutConfigMap(ctx context.Context, want *corev1.ConfigMap, save Save) (bool, error) {
	want.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return false, fmt.Errorf("encoding %s: %w", want.Name, err)
	}
	return put(ConfigMap(want.Namespace, want.Name), object).on(ctx, c, save)
}

func put(ref Ref, object map[string]any) edit {
	want, _, _ := unstructured.NestedMap(object, "data")
	return edit{ref: ref, part: "data", create: object, change: func(data map[string]any) error {
		maps.Copy(data, want)
		return nil
	}}
}

// on makes the edit on a cluster, and tells whether the object is another one now.
func (e edit) on(ctx context.Context, c *Cluster, save Save) (changed bool, err error) {
	err = c.Do(ctx, "changing "+e.ref.String(), func(ctx context.Context) error {
		object, err := c.resource(e.ref).Get(ctx, e.ref.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) && e.create != nil:
			did, err := e.made(ctx, c, save)
			changed = changed || did
			return err
		case err != nil:
			return err
		}
		did, err := e.patch(ctx, c, object, save)
		changed = changed || did
		return err
	})
	return changed && err == nil, err
}

func (e edit) made(ctx context.Context, c *Cluster, save Save) (bool, error) {
	ours, _, _ := unstructured.NestedMap(e.create, e.part)
	if err := keep(save, saved{Ref: e.ref, Part: e.part, Ours: ours}); err != nil {
		return false, err
	}
	_, err := c.resource(e.ref).Create(ctx, &unstructured.Unstructured{Object: e.create}, metav1.CreateOptions{})
	return arrived(err), err
}

func (e edit) patch(ctx context.Context, c *Cluster, object *unstructured.Unstructured, save Save) (bool, error) {
	if e.accept != nil {
		if err := e.accept(object); err != nil {
			return false, err
		}
	}
	before, had := object.Object[e.part].(map[string]any)
	after := runtime.DeepCopyJSON(before)
	if after == nil {
		after = map[string]any{}
	}
	if err := e.change(after); err != nil {
		return false, &lasting{err}
	}
	after, err := normal(after)
	if err != nil {
		return false, &lasting{err}
	}
	if e.mark.in(object) && (reflect.DeepEqual(before, after) || !had && len(after) == 0) {
		return false, nil
	}
	err = keep(save, saved{Ref: e.ref, Part: e.part, Existed: true, Had: had, Original: before, Ours: after, Mark: e.mark.over(object)})
	if err != nil {
		return false, err
	}
	return e.send(ctx, c, object, mergePatch(before, after))
}

// send sends only what changed, with the version that it was worked out from: the API refuses when someone was faster.
func (e edit) send(ctx context.Context, c *Cluster, object *unstructured.Unstructured, patch map[string]any) (bool, error) {
	meta := map[string]any{"resourceVersion": object.GetResourceVersion()}
	if e.mark.Key != "" {
		meta["annotations"] = map[string]any{e.mark.Key: e.mark.Value}
	}
	body, err := json.Marshal(map[string]any{"metadata": meta, e.part: patch})
	if err != nil {
		return false, &lasting{err}
	}
	result, err := c.resource(e.ref).Patch(ctx, e.ref.Name, types.MergePatchType, body, metav1.PatchOptions{})
	if err != nil {
		return arrived(err), err
	}
	got, _ := result.Object[e.part].(map[string]any)
	if field := lost(patch, got, e.part); field != "" {
		return true, &lasting{&problem.Problem{
			Code:    "CLU-LACK",
			Summary: message.F("This version of OpenShift does not know %s of %s.", field, e.ref),
			Fix:     message.T("Use a release of OpenShift that Touchdown supports, 4.14 or newer."),
		}}
	}
	return true, nil
}
