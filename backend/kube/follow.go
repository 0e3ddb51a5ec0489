package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// listTime bounds one reading of a whole list; a watch has no bound but the API's, of some minutes.
const listTime = 30 * time.Second

// Followed are all objects of one kind as the API tells of them: they are read once, then watched. client-go's reflector reads them again
// where the API no longer knows what it told last, and waits longer and longer where it is away.
type Followed[T any] struct {
	ready   func(context.Context) error
	changed func()

	mu    sync.Mutex
	items map[string]T // by namespace and name
	read  bool         // the list was read at least once
	err   error        // why it could not be read; what was known before stays
	cut   bool         // a request had no answer since Cut told it last
}

// Follow follows the objects of a kind until ctx ends. Each request waits for ready. changed is called after each change, from a goroutine
// of its own, and must not block. Of PartialObjectMetadata only the metadata comes to this program, of a Secret not its content.
func Follow[T any](ctx context.Context, c *Cluster, kind Ref, ready func(context.Context) error, changed func()) *Followed[T] {
	f := &Followed[T]{ready: ready, changed: changed, items: map[string]T{}}
	if _, heads := any(new(T)).(*metav1.PartialObjectMetadata); heads {
		go follow(ctx, f, kind, &metav1.PartialObjectMetadata{}, c.heads.Resource(kind.kind()))
	} else {
		go follow(ctx, f, kind, &unstructured.Unstructured{}, c.stream.Resource(kind.kind()))
	}
	return f
}

// source is where the objects of a kind come from, as lists of type L.
type source[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// follow lets a reflector keep f. It would log over the screen; what it meets is told by Items and Cut.
func follow[T any, L runtime.Object](ctx context.Context, f *Followed[T], kind Ref, object any, from source[L]) {
	cache.NewReflectorWithOptions(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if err := f.ready(ctx); err != nil {
				return nil, err
			}
			short, cancel := context.WithTimeout(ctx, listTime)
			defer cancel()
			l, err := from.List(short, o)
			f.refused(ctx, err, func() { f.err = err })
			return l, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if err := f.ready(ctx); err != nil {
				return nil, err
			}
			w, err := from.Watch(ctx, o)
			f.refused(ctx, err, func() {})
			return w, err
		},
	}, object, f, cache.ReflectorOptions{Name: kind.Resource}).RunWithContext(klog.NewContext(ctx, klog.Logger{}))
}

// refused notes why the API did not answer, unless the reflector only has to read the list again.
func (f *Followed[T]) refused(ctx context.Context, err error, what func()) {
	if err != nil && ctx.Err() == nil && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		var answer apierrors.APIStatus
		f.note(func() {
			what()
			f.cut = f.cut || !errors.As(err, &answer)
		})
	}
}

func (f *Followed[T]) note(what func()) {
	f.mu.Lock()
	what()
	f.mu.Unlock()
	f.changed()
}

// Items are the objects in the order of their names. known is false until the list was read, or could not be.
func (f *Followed[T]) Items() (items []T, known bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.items)) {
		items = append(items, f.items[key])
	}
	return items, f.read || f.err != nil, f.err
}

// Cut tells, once, that a request had no answer: the API may be away.
func (f *Followed[T]) Cut() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.cut
	f.cut = false
	return was
}

// Add implements cache.ReflectorStore.
func (f *Followed[T]) Add(object any) error { return f.Update(object) }

// Update implements cache.ReflectorStore.
func (f *Followed[T]) Update(object any) error {
	key, item, err := kept[T](object)
	if err == nil {
		f.note(func() { f.items[key] = item })
	}
	return err
}

// Delete implements cache.ReflectorStore.
func (f *Followed[T]) Delete(object any) error {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		return fmt.Errorf("reading the name of an object: %w", err)
	}
	f.note(func() { delete(f.items, key) })
	return nil
}

// Replace implements cache.ReflectorStore.
func (f *Followed[T]) Replace(objects []any, _ string) error {
	items := make(map[string]T, len(objects))
	var errs []error
	for _, object := range objects {
		key, item, err := kept[T](object)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		items[key] = item
	}
	f.note(func() { f.items, f.read, f.err = items, true, errors.Join(errs...) })
	return nil // what could not be understood would not be understood when it is read again
}

// Resync implements cache.ReflectorStore.
func (f *Followed[T]) Resync() error { return nil }

// kept is an object without what only takes memory.
func kept[T any](object any) (key string, item T, err error) {
	m, err := meta.Accessor(object)
	if err != nil {
		return "", item, fmt.Errorf("reading an object: %w", err)
	}
	m.SetManagedFields(nil)
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
