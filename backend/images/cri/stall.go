package cri

import (
	"context"
	"errors"
	"time"

	"touchdown/backend/images/auth"
)

const (
	// stall is how long nothing may arrive at all. CRI-O itself waits for ever (pull_progress_timeout is 0), and a line that
	// was cut without a word looks just like a slow one; the longest silence of a line that lives is a minute of retransmissions.
	stall = 2 * time.Minute
	// moving is by how much the file system must have grown for something to have arrived: more than logs write in between.
	moving = 1 << 20
)

// try is one try of a pull at work.
type try struct {
	begun time.Time
	end   context.CancelCauseFunc
}

// limit is how long one try may take. What a registry says of an image's size is not believed beyond longest.
func limit(size int64) time.Duration {
	return min(pullTime+time.Duration(min(size, slowest*int64(longest/time.Second))/slowest)*time.Second, longest)
}

// try pulls an image once.
func (r *run) try(ctx context.Context, w Want, login *auth.Login) (string, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ctx, cancel := context.WithTimeout(ctx, limit(w.Size()))
	defer cancel()
	t := &try{time.Now(), end}
	r.mu.Lock()
	r.tries[t] = true
	r.mu.Unlock()
	as, err := r.Client.pull(ctx, w.Name, login)
	r.mu.Lock()
	delete(r.tries, t)
	r.mu.Unlock()
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		err = errStalled
	}
	return as, err
}

// watch ends tries that wait for something that does not come, so that they are started again. CRI tells nothing of a pull: only
// when the file system has not grown for a while is it sure that none of them gets anything.
func (r *run) watch(ctx context.Context) (stop func()) {
	limit := r.Stall
	if limit == 0 {
		limit = stall
	}
	if r.Used == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		last, moved := r.used(), time.Now()
		tick := time.NewTicker(limit / 10)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				used := r.used()
				switch {
				case used < last: // something was deleted: the next growth counts from here
					last = used
				case used-last >= moving:
					last, moved = used, now
				case now.Sub(moved) >= limit:
					r.endTries(now.Add(-limit))
					moved = now
				}
			}
		}
	}()
	return func() {
		cancel()
		<-gone
	}
}

// errStalled is why a try was ended.
var errStalled = errors.New("nothing arrived any more")

func (r *run) endTries(before time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for t := range r.tries {
		if t.begun.Before(before) {
			t.end(errStalled)
		}
	}
}
