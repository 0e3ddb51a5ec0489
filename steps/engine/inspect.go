package engine

import (
	"context"
	"sync"
	"time"
)

const (
	// inspectEvery is how often the machine is looked at again while someone fills in the form: a cable that
	// is plugged in shows within a few seconds.
	inspectEvery = 5 * time.Second
	// inspectLimit ends a look that reported no new check for so long. The slowest check that a step makes takes 30 s
	// (a lease that does not come); a busy machine that reports one check after another is not stopped.
	inspectLimit = 45 * time.Second
)

// watch looks at the machine for as long as the engine lives: once at the start, whenever it is asked to, and
// again and again while someone fills in the form. It never looks while a job is at work.
func (e *Engine) watch() {
	<-e.recovered
	for {
		_ = e.round(e.closing)
		select {
		case <-e.closing.Done():
			return
		case <-e.look:
		case <-time.After(inspectEvery):
			if !e.watched() {
				select {
				case <-e.closing.Done():
					return
				case <-e.look:
				}
			}
		}
	}
}

// watched tells whether anybody would see what another round finds.
func (e *Engine) watched() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.control.watching > 0
}

// lookAgain asks the watcher for a round now.
func (e *Engine) lookAgain() {
	select {
	case e.look <- struct{}{}:
	default:
	}
}

// round lets each step look, side by side, and returns when all have.
func (e *Engine) round(ctx context.Context) error {
	return e.roundIf(ctx, func() bool { return true })
}

// roundIf is round, unless it is no longer needed when its turn comes: one round runs at a time.
func (e *Engine) roundIf(ctx context.Context, needed func() bool) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case e.oneRound <- struct{}{}:
	}
	defer func() { <-e.oneRound }()
	if !needed() {
		return nil
	}
	e.mu.Lock()
	list := e.inspectorsLocked()
	e.mu.Unlock()
	var wait sync.WaitGroup
	for _, step := range list {
		wait.Go(func() {
			for e.lookOnce(step.ID()) {
			}
		})
	}
	wait.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tellDiskLocked()
	if !e.inspected {
		e.inspected = true
		e.changedLocked()
	}
	if e.staleLocked() {
		e.lookAgain()
	}
	return nil
}
