package engine

import (
	"context"
	"sync"
	"time"

	"touchdown/steps"
)

const (
	// inspectEvery is how often the machine is looked at again while someone fills in the form: a cable that
	// is plugged in shows within a few seconds.
	inspectEvery = 5 * time.Second
	// inspectLimit ends a look that reported no new check for so long. The slowest check that a step makes takes 30 s
	// (a lease that does not come), and on a busy machine a multiple of that; one that reports one check after another is not stopped.
	inspectLimit = 2 * time.Minute
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
		case <-e.core.inspector.wanted:
		case <-time.After(inspectEvery):
			e.mu.Lock()
			watched := e.core.control.watching > 0
			e.mu.Unlock()
			if !watched { // nobody would see what another round finds
				if e.o.AtRest != nil {
					e.o.AtRest()
				}
				select {
				case <-e.closing.Done():
					return
				case <-e.core.inspector.wanted:
				}
			}
		}
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
	list, _ := e.core.inspector.steps()
	e.mu.Unlock()
	var wait sync.WaitGroup
	for _, step := range list {
		wait.Go(func() {
			for lookOnce(e, step.ID()) {
			}
		})
	}
	wait.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.core.inspector
	e.core.noticeDisk()
	if !i.done {
		i.done = true
		e.core.recorder.changed()
	}
	if i.stale() {
		i.again()
	}
	return nil
}

// forgetful is a step that repeats what a look found a moment ago, until it is told to forget it.
type forgetful interface{ Forget(now time.Time) }

// lookAgain is a round that a person asks for. They want to know how the machine is now, so no step repeats what it found earlier. It
// forgets once a round that runs already has ended, whose verdicts are new.
func lookAgain(ctx context.Context, e *Engine) error {
	return e.roundIf(ctx, func() bool {
		e.mu.Lock()
		list, _ := e.core.inspector.steps()
		e.mu.Unlock()
		for _, step := range list {
			if f, ok := step.(forgetful); ok {
				f.Forget(e.o.Node.Now())
			}
		}
		return true
	})
}

// stale tells whether a step has yet to look at the answers as they are.
func (e *Engine) stale() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.core.inspector.stale()
}

// lookOnce has a step look, and tells whether it has to look again because the answers that it reads are other ones by now.
func lookOnce(e *Engine, id string) (again bool) {
	ctx, dog := watchOver(e.closing, inspectLimit, context.DeadlineExceeded)
	defer dog.stop()
	ctx, drop := context.WithCancelCause(ctx)
	defer drop(nil)
	var l *look
	e.mu.Lock()
	if e.closing.Err() == nil {
		l = e.core.inspector.begin(id, drop)
	}
	e.mu.Unlock()
	if l == nil {
		return false
	}
	report := &stepReport{e: e, step: id, look: l, dog: dog}
	err := guard(func() error { return l.step.(steps.Inspector).Inspect(ctx, e.o.Node, report) })
	if ctx.Err() != nil {
		err = context.Cause(ctx) // it was stopped, and told what it had found until then
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.core.inspector.end(l, err, e.closing.Err() != nil)
}
