package kube

import (
	"fmt"
	"log/slog"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// client-go's reflector would write over the screen, and not all of it heeds the logger of a context. klog wants to be told before anything
// can log.
var _ = silent()

func silent() bool {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	return true
}

// lastApplied is a copy of a whole object among its annotations, of a Secret with its content.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// strip takes from an object what only takes memory, and what may be secret.
func strip(object runtime.Object) error {
	m, err := meta.Accessor(object)
	if err != nil {
		return fmt.Errorf("reading an object: %w", err)
	}
	m.SetManagedFields(nil)
	if notes := m.GetAnnotations(); notes[lastApplied] != "" {
		delete(notes, lastApplied)
		m.SetAnnotations(notes)
	}
	return nil
}

// kept is what stays in memory of an object.
func kept[T any](object any) (key string, item T, err error) {
	whole, is := object.(runtime.Object)
	if !is {
		return "", item, fmt.Errorf("reading an object: it is a %T", object)
	}
	if err := strip(whole); err != nil {
		return "", item, err
	}
	if key, err = cache.MetaNamespaceKeyFunc(object); err != nil {
		return "", item, fmt.Errorf("reading the name of an object: %w", err)
	}
	switch o := object.(type) {
	case T:
		return key, o, nil
	case *T:
		return key, *o, nil
	case *unstructured.Unstructured:
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &item); err != nil {
			return key, item, fmt.Errorf("reading %s: %w", key, err)
		}
	}
	return key, item, nil
}
