package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
)

// Part is added to the name of a layer's folder until the layer is whole and on the disk.
const Part = ".part"

// batchTime is how long finished layers may wait to be synced together: a sync costs some 10 ms, a crash this much work.
const batchTime = 2 * time.Second

// VanishedError says that a layer was removed while it was being read: take a new snapshot of the store.
type VanishedError struct {
	Layer string
	Err   error
}

// Error names the layer.
func (e *VanishedError) Error() string { return "layer " + e.Layer + " vanished: " + e.Err.Error() }

// Unwrap returns what was not found.
func (e *VanishedError) Unwrap() error { return e.Err }

// Copied is how far a clone is. Bytes are those of the files.
type Copied struct {
	Layers, LayersTotal int
	Bytes, BytesTotal   int64
}

// CloneOptions are how a clone is done.
type CloneOptions struct {
	Workers  int          // layers at the same time; 2 where it is 0. More gain nothing: the file system's log is the limit
	Progress func(Copied) // told five times a second and at the end; may be nil
	Step     func(string) // told before each change that a power cut could come between; may be nil

	share func(to, from int) error
}

// Clone copies whole layers into an overlay folder, each complete and on the disk before it has its name there. Blocks
// are shared where the file system can. What went wrong with one layer does not take back those that are done.
func (s *Store) Clone(ctx context.Context, overlay string, ids []string, o CloneOptions) error {
	if o.Workers == 0 {
		o.Workers = 2
	}
	if o.Step == nil {
		o.Step = func(string) {}
	}
	if o.share == nil {
		o.share = unix.IoctlFileClone
	}
	c := &cloning{store: s, options: o, overlay: overlay, ids: ids}
	for _, id := range ids {
		l, _ := s.Layer(id)
		c.total += max(l.DiffSize, 0)
	}
	return c.run(ctx)
}

type cloning struct {
	store   *Store
	options CloneOptions
	overlay string
	ids     []string
	total   int64
	bytes   atomic.Int64
	byHand  atomic.Bool
	done    int      // layers on the disk under their names
	ready   []string // copied, to be synced
}

// finished is what a worker says of a layer.
type finished struct {
	id  string
	err error
}

func (c *cloning) run(ctx context.Context) error {
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	todo, results := make(chan string), make(chan finished)
	go func() {
		defer close(todo)
		for _, id := range c.ids {
			select {
			case todo <- id:
			case <-working.Done():
				return
			}
		}
	}()
	var workers sync.WaitGroup
	for range c.options.Workers {
		workers.Go(func() { c.work(working, todo, results) })
	}
	go func() { workers.Wait(); close(results) }()
	return c.collect(ctx, cancel, results)
}

func (c *cloning) work(ctx context.Context, todo <-chan string, results chan<- finished) {
	stop := func() error { return context.Cause(ctx) }
	t := &tree{
		attrs: newAttrs(), bytes: &c.bytes, stop: stop,
		data: &content{byHand: &c.byHand, share: c.options.share, room: func() error { return c.room(ctx) }, stop: stop},
	}
	for id := range todo {
		t.gone = false
		err := c.layer(t, id)
		if err != nil {
			_ = os.RemoveAll(filepath.Join(c.overlay, id+Part)) // or by the next start
			if t.gone {
				err = &VanishedError{id, err}
			} else {
				err = fmt.Errorf("copying layer %s: %w", id, err)
			}
		}
		results <- finished{id, err}
	}
}

// collect puts finished layers on the disk and tells of the progress, until all workers are done.
func (c *cloning) collect(ctx context.Context, cancel func(), results <-chan finished) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var first error
	last := time.Now()
	for {
		select {
		case r, more := <-results:
			if !more {
				err := c.flush()
				c.progress()
				if first == nil {
					first = context.Cause(ctx)
				}
				return errors.Join(first, err)
			}
			if r.err != nil && first == nil {
				first = r.err
				cancel()
			}
			if r.err == nil {
				c.ready = append(c.ready, r.id)
			}
		case <-tick.C:
			c.progress()
		}
		if time.Since(last) > batchTime && first == nil {
			if first = c.flush(); first != nil {
				cancel()
			}
			last = time.Now()
		}
	}
}

func (c *cloning) progress() {
	if c.options.Progress != nil {
		c.options.Progress(Copied{Layers: c.done, LayersTotal: len(c.ids), Bytes: c.bytes.Load(), BytesTotal: c.total})
	}
}

// flush syncs what is copied, then gives it its names.
func (c *cloning) flush() error {
	if len(c.ready) == 0 {
		return nil
	}
	c.options.Step("sync")
	if err := SyncFS(c.overlay); err != nil {
		return err
	}
	for _, id := range c.ready {
		c.options.Step("rename " + id)
		path := filepath.Join(c.overlay, id)
		if err := os.Rename(path+Part, path); err != nil {
			return fmt.Errorf("naming a layer: %w", err)
		}
	}
	c.options.Step("renamed")
	c.done += len(c.ready)
	c.ready = nil
	return host.SyncDir(c.overlay)
}

// SyncFS puts all that was written to the file system of a folder on the disk.
func SyncFS(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("opening a folder: %w", err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return fmt.Errorf("syncing: %w", err)
	}
	return nil
}
