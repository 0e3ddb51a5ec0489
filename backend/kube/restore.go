package kube

import (
	"context"
	"encoding/json"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Delete removes an object and saves its manifest first. One that is not there is fine.
func (c *Cluster) Delete(ctx context.Context, ref Ref, save Save) (deleted bool, err error) {
	err = c.Do(ctx, "deleting "+ref.String(), func(ctx context.Context) error {
		object, err := c.resource(ref).Get(ctx, ref.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := keep(save, saved{Ref: ref, Existed: true, Manifest: manifest(object), UID: object.GetUID()}); err != nil {
			return err
		}
		err = found{c, ref, object}.remove(ctx)
		deleted = deleted || arrived(err)
		return err
	})
	return deleted && err == nil, err
}

// found is an object as the API had it. It is changed only while it is still that one.
type found struct {
	c      *Cluster
	ref    Ref
	object *unstructured.Unstructured
}

// remove deletes this very object, not one that someone made in its place.
func (f found) remove(ctx context.Context) error {
	uid, revision := f.object.GetUID(), f.object.GetResourceVersion()
	err := f.c.resource(f.ref).Delete(ctx, f.ref.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &revision},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Recreate makes a deleted object again from what Delete saved, changed by change. When someone else made it again
// meanwhile, theirs stays.
func (c *Cluster) Recreate(ctx context.Context, original []byte, change func(object map[string]any)) error {
	s, err := parseSaved(original)
	if err != nil {
		return err
	}
	change(s.Manifest)
	return c.Do(ctx, "making "+s.Ref.String()+" again", func(ctx context.Context) error {
		_, err := c.resource(s.Ref).Get(ctx, s.Ref.Name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return err
		}
		_, err = c.resource(s.Ref).Create(ctx, &unstructured.Unstructured{Object: s.Manifest}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// Restore undoes the change that original was saved before. When nobody changed the object since, it is as it was to the
// byte; else only our own change is taken back. It is safe to repeat. With an error, changed tells whether the object may have changed.
func (c *Cluster) Restore(ctx context.Context, original []byte) (changed bool, err error) {
	s, err := parseSaved(original)
	if err != nil {
		return false, err
	}
	err = c.Do(ctx, "restoring "+s.Ref.String(), func(ctx context.Context) error {
		object, err := c.resource(s.Ref).Get(ctx, s.Ref.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) && s.Manifest != nil:
			_, err = c.resource(s.Ref).Create(ctx, &unstructured.Unstructured{Object: s.Manifest}, metav1.CreateOptions{})
			changed = changed || arrived(err)
			return err
		case apierrors.IsNotFound(err) && !s.Existed:
			return nil
		case err != nil:
			return err
		}
		did, err := s.restore(ctx, c, object)
		changed = changed || did
		return err
	})
	return changed, err
}

func (s *saved) restore(ctx context.Context, c *Cluster, object *unstructured.Unstructured) (bool, error) {
	f := found{c, s.Ref, object}
	if s.Manifest != nil {
		spec, had := s.Manifest["spec"].(map[string]any)
		return f.replace(ctx, "spec", spec, had)
	}
	current, _ := object.Object[s.Part].(map[string]any)
	if !s.Existed {
		if !reflect.DeepEqual(current, s.Ours) {
			return false, nil // someone else's by now
		}
		err := f.remove(ctx)
		return arrived(err), err
	}
	if reflect.DeepEqual(current, s.Ours) {
		return f.replace(ctx, s.Part, s.Original, s.Had, s.Mark.undo(object)...)
	}
	next := revertMap(s.Original, s.Ours, current)
	return f.replace(ctx, s.Part, next, s.Had || len(next) > 0, s.Mark.undo(object)...)
}

// op is an operation of a JSON patch.
type op struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// replace sets a part of an object as a whole, unless someone was faster. A merge patch could not set a null. also goes with it.
func (f found) replace(ctx context.Context, part string, next map[string]any, has bool, also ...op) (bool, error) {
	current, had := f.object.Object[part].(map[string]any)
	if has == had && (!has || reflect.DeepEqual(current, next)) {
		return false, nil
	}
	ops := []op{{"replace", "/metadata/resourceVersion", f.object.GetResourceVersion()}}
	if has {
		ops = append(ops, op{"add", "/" + part, next})
	} else {
		ops = append(ops, op{Op: "remove", Path: "/" + part})
	}
	body, err := json.Marshal(append(ops, also...))
	if err != nil {
		return false, &lasting{err}
	}
	_, err = f.c.resource(f.ref).Patch(ctx, f.ref.Name, types.JSONPatchType, body, metav1.PatchOptions{})
	return arrived(err), err
}

// manifest is an object without what only the API may set.
func manifest(object *unstructured.Unstructured) map[string]any {
	m := object.DeepCopy().Object
	delete(m, "status")
	if meta, ok := m["metadata"].(map[string]any); ok {
		for _, key := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
			delete(meta, key)
		}
	}
	return m
}
