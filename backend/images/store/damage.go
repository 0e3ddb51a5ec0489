package store

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Damage is one thing in a store that is not as it must be.
type Damage struct {
	Layer  string   // id, or empty where it is about an image's own files
	Images []string // names of the images that need it, or ids where they have none
	File   string   // below the store's root
	What   message.Text
}

// none is not damage.
var none message.Text

// Text is the damage as one line.
func (d Damage) Text() message.Text {
	who := message.T("no image")
	if len(d.Images) > 0 {
		who = message.Data(d.Images[0])
		if more := len(d.Images) - 1; more > 0 {
			who = message.F("%s and %d more", who, more)
		}
	}
	return message.F("%s: %s (%s)", d.File, d.What, who)
}

// Damaged is the Problem of a store that failed its verification, or nil where there is no damage.
func Damaged(found []Damage) error {
	if len(found) == 0 {
		return nil
	}
	return &problem.Problem{
		Code:    "STR-DMG",
		Summary: message.F("The image store is damaged in %d places; the first: %s.", len(found), found[0].Text()),
		Fix:     message.T("Repair the store (touchdown images verify), or pull the image again."),
	}
}

// VerifyOptions are how a store is verified.
type VerifyOptions struct {
	Workers  int          // layers at the same time; 2 where it is 0
	Layers   []string     // only these; nil: all that are not a container's
	Beside   *Store       // where layers may lie that this store lacks; may be nil
	Cache    *Cache       // what is known to be whole; may be nil
	Idle     bool         // leave disk and processor to everybody else
	Progress func(Copied) // told after each layer and each 64 MiB; may be nil
}

// Quick compares the store with its own lists without reading the files: folders, short names, ancestors, and type and
// size of every file. It finds what is missing or too short, not a changed byte.
func (s *Store) Quick(ctx context.Context, o VerifyOptions) ([]Damage, error) {
	o.Workers = cmp.Or(o.Workers, 4) // it waits for the disk, not for the processor
	w := walk{s, o}
	found, err := w.each(ctx, w.quickLayer)
	if err != nil {
		return nil, err
	}
	return append(s.imageFiles(false), found...), nil
}

// walk is a way along the layers that a verification is asked for, several at a time.
type walk struct {
	store   *Store
	options VerifyOptions
}

// each calls look for every layer and gathers the damage, in the order of the layers.
func (w walk) each(ctx context.Context, look func(context.Context, string) ([]Damage, error)) ([]Damage, error) {
	ids, lost := w.toVerify()
	users := w.users()
	found := make([][]Damage, len(ids)+1)
	for _, id := range lost {
		found[len(ids)] = append(found[len(ids)], Damage{Layer: id, File: LayersJSON, What: message.F("layer %s is not in the store", id)})
	}
	var first error
	var mu sync.Mutex
	todo := make(chan int)
	var workers sync.WaitGroup
	for range cmp.Or(w.options.Workers, 2) {
		workers.Go(func() {
			if w.options.Idle {
				idle()
			}
			for n := range todo {
				damage, err := look(ctx, ids[n])
				mu.Lock()
				found[n] = damage
				if first == nil {
					first = err
				}
				mu.Unlock()
			}
		})
	}
	for n := range ids {
		mu.Lock()
		failed := first != nil
		mu.Unlock()
		if failed || ctx.Err() != nil {
			break
		}
		todo <- n
	}
	close(todo)
	workers.Wait()
	if first == nil {
		first = context.Cause(ctx)
	}
	all := slices.Concat(found...)
	for n, d := range all {
		all[n].Images = users[d.Layer]
	}
	return all, first
}

// toVerify gives the layers of images, and those that no image here needs but that have a digest all the same.
func (w walk) toVerify() (ids, lost []string) {
	if w.options.Layers != nil {
		for _, id := range w.options.Layers {
			if _, known := w.store.Layer(id); known {
				ids = append(ids, id)
			} else {
				lost = append(lost, id)
			}
		}
		return ids, lost
	}
	ids, missing := w.store.Closure(w.store.Images)
	for _, l := range w.store.Layers {
		if l.DiffDigest != "" && !slices.Contains(ids, l.ID) {
			ids = append(ids, l.ID)
		}
	}
	for _, id := range missing {
		if w.options.Beside != nil {
			if _, known := w.options.Beside.Layer(id); known {
				continue
			}
		}
		lost = append(lost, id)
	}
	return ids, lost
}

// users tells which images need a layer.
func (w walk) users() map[string][]string {
	users := map[string][]string{}
	for _, i := range w.store.Images {
		chain, missing := w.store.Chain(i.TopLayer)
		for _, id := range append(chain, missing) {
			users[id] = append(users[id], i.Name())
		}
	}
	return users
}

// Name is what people call the image.
func (i Image) Name() string {
	if len(i.Names) > 0 {
		return i.Names[0]
	}
	return i.ID
}

// idle gives the running thread the lowest priority for processor and disk. The thread ends with its goroutine.
func idle() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19)
	const process, idleClass = 1, 3 << 13 // of ioprio_set
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, process, 0, idleClass)
}

// inDiff is the name of a layer's file below the store's root.
func inDiff(id, name string) string { return filepath.Join(Overlay, id, "diff", name) }
