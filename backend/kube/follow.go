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
)

// listTime bounds one reading of a whole list; a watch has no bound but the API's, of a few minutes.
const listTime = 30 * time.Second

// listPage is how many objects come in one answer: a node has some hundred pods, and the engine little memory.
const listPage = 50

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

	unanswered int // tries of the list since it was read
}

// Follow follows the objects of a kind until ctx ends. Each request waits for ready. changed is called after each change, from
// another goroutine, and must not block. Of PartialObjectMetadata only the metadata comes to this program, of a Secret not its content.
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

// follow lets a reflector keep f. What it meets is told by Items and Cut.
func follow[T any, L runtime.Object](ctx context.Context, f *Followed[T], kind Ref, object any, from source[L]) {
	r := cache.NewReflectorWithOptions(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if err := f.ready(ctx); err != nil {
				return nil, err
			}
			short, cancel := context.WithTimeout(ctx, listTime)
			defer cancel()
			if o.ResourceVersion == "0" {
				o.ResourceVersion = "" // the API's cache does not list in pages
			}
			l, err := from.List(short, o)
			if err != nil {
				f.refused(ctx, err, f.missed)
				return nil, err
			}
			return l, meta.EachListItem(l, strip)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if err := f.ready(ctx); err != nil {
				return nil, err
			}
			w, err := from.Watch(ctx, o)
			f.refused(ctx, err, func(error) {})
			return w, err
		},
	}, object, f, cache.ReflectorOptions{Name: kind.Resource})
	r.WatchListPageSize = listPage
	r.RunWithContext(ctx)
}

// refused notes why the API did not answer, unless the reflector only has to read the list again.
func (f *Followed[T]) refused(ctx context.Context, err error, what func(error)) {
	if err != nil && ctx.Err() == nil && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		f.note(func() {
			what(err)
			f.cut = f.cut || !answered(err)
		})
	}
}

// answered tells whether the API itself said no.
func answered(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer)
}

// missed notes that the list could not be read. A request that had no answer counts from the third one: whether the API is away is
// found out by Cut.
func (f *Followed[T]) missed(err error) {
	if f.unanswered++; answered(err) || f.unanswered >= 3 {
		f.err = err
	}
}

// Back tells that the API was away and answers again: that lists had no answer meanwhile says nothing of them.
func (f *Followed[T]) Back() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unanswered = 0; f.err != nil && !answered(f.err) {
		f.err = nil
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
	f.note(func() { f.items, f.read, f.err, f.unanswered = items, true, errors.Join(errs...), 0 })
	return nil // what could not be understood would not be understood when it is read again
}

// Resync implements cache.ReflectorStore.
func (f *Followed[T]) Resync() error { return nil }
