package engine

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// liveGrace is for how long the cluster is watched after the last console left: one that opens its stream again has not left.
const liveGrace = time.Minute

// clusterWatcher is a step that tells how the cluster is for as long as someone looks.
type clusterWatcher interface {
	Watch(ctx context.Context, node *backend.Node, told health.Live, tell func(health.Live, []check.Check))
}

// lookout is the engine as it sees to it that the cluster of a landed node is watched.
type lookout struct{ *Engine }

// run has the cluster of a landed node watched while consoles look: by one watcher, for however many.
func (e *lookout) run() {
	select {
	case <-e.recovered:
	case <-e.closing.Done():
	}
	kept := lastLive(e.folder.dir)
	for e.await(true, 0) {
		watcher := e.watcher()
		kept.of(e.landing())
		ctx, stop := context.WithCancel(e.closing)
		var watching sync.WaitGroup
		watching.Go(func() {
			watcher.Watch(ctx, e.o.Node, kept.Live, func(l health.Live, _ []check.Check) {
				e.show(&l)
				if err := kept.keep(l); err != nil {
					e.o.Node.Log.Warn("how the cluster is was not kept", "error", err)
				}
			})
		})
		e.await(false, liveGrace)
		stop()
		watching.Wait()
		e.show(nil)
	}
}

// await waits until it has been wanted, or not wanted, for as long as grace that the cluster is watched. It returns false when the
// engine ends.
func (e *lookout) await(want bool, grace time.Duration) bool {
	var over <-chan time.Time
	for {
		changed := e.hub.more()
		switch is := e.watcher() != nil; {
		case is != want:
			over = nil
		case grace == 0:
			return e.closing.Err() == nil
		case over == nil:
			over = time.After(grace)
		}
		select {
		case <-e.closing.Done():
			return false
		case <-changed:
		case <-e.attached:
		case <-over:
			return true
		}
	}
}

// watcher is the step that can watch the cluster now; nil while nobody looks, or there is nothing to watch.
func (e *lookout) watcher() clusterWatcher {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.core.control.watching == 0 || e.core.state() != view.IsDone || e.o.List == view.ListFactory {
		return nil
	}
	for _, stage := range e.core.draft.stages() {
		for _, step := range stage.Steps {
			if w, can := step.(clusterWatcher); can {
				return w
			}
		}
	}
	return nil
}

// landing is when the work that ended well was started.
func (e *lookout) landing() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.core.job.started
}

// show tells the consoles how the cluster is.
func (e *lookout) show(l *health.Live) {
	if l != nil {
		l.Checks, l.Turns = slices.Clone(l.Checks), slices.Clone(l.Turns) // the watcher keeps its own
		for i := range l.Checks {
			e.mask.event(&event.Event{Check: &l.Checks[i]})
		}
		for i := range l.Turns {
			c := check.Check{Title: l.Turns[i].Title, Observed: l.Turns[i].Observed}
			e.mask.event(&event.Event{Check: &c})
			l.Turns[i].Title, l.Turns[i].Observed = c.Title, c.Observed
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !reflect.DeepEqual(l, e.core.live) {
		e.core.live = l
		e.core.recorder.changed()
	}
}
