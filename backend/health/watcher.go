package health

import (
	"context"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/kube"
)

// How often a Watcher asks for what no object of the cluster tells: whether the API is ready and the consoles answer; and what only
// changes slowly. askAgain is the first pause after the API did not answer, which doubles up to askEvery.
const (
	askEvery     = 30 * time.Second
	askWideEvery = time.Minute
	askAgain     = 2 * time.Second
	optionsEvery = 10 * time.Minute
)

// gathering is how long a Watcher lets changes gather before it judges: a roll-out changes some hundred objects.
const gathering = time.Second

// Watcher judges one cluster for as long as someone looks. The objects come by watches, so a cluster at rest is hardly asked.
type Watcher struct {
	Cluster *kube.Cluster
	Options func(context.Context) Options // what the cluster should look like; asked now and then, since its owner may change that
	Told    Live                          // what an earlier Watcher told last; zero: nothing

	after   func(time.Duration) <-chan time.Time // nil: time.After
	changed chan struct{}
	up      *gate
	lists   []followed

	options   Options
	optionsAt time.Time
	state     *State
	asked     time.Time // when the API was last asked whether it is ready; zero: ask now
	pause     time.Duration
	wide      time.Time // when what changes slowly was last asked for
	readyAt   time.Time // when the API was last ready
}

// Run judges the cluster until ctx ends, and tells what it finds each time that it is another story than before.
func (w *Watcher) Run(ctx context.Context, tell func(Live, []check.Check)) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if w.after == nil {
		w.after = time.After
	}
	w.changed, w.up = make(chan struct{}, 1), newGate()
	w.freshOptions(ctx)
	now := w.options.now()
	w.state, w.readyAt = newState(now), now
	w.state.Wide = newWide(now)
	w.follow(ctx)
	told := resume(w.Told)
	for ctx.Err() == nil {
		if w.round(ctx) {
			if checks := Judge(w.state, w.options); told.take(checks, w.state, w.readyAt) {
				tell(told.Live, checks)
			}
		}
		select {
		case <-ctx.Done():
		case <-w.after(w.rest()):
		case <-w.changed:
			select {
			case <-ctx.Done():
			case <-w.after(gathering):
			}
		}
	}
}

// round brings the state up to date. It tells whether there is something to judge: not while the lists are read for the first time.
func (w *Watcher) round(ctx context.Context) bool {
	s, now := w.state, w.options.now()
	s.At = now
	known, was := w.fill(), s.Away
	due := w.rest() <= 0
	if due {
		w.answers(ctx, now)
	}
	if was != nil && s.Away == nil {
		for _, l := range w.lists {
			l.back()
		}
		known = w.fill()
	}
	if s.Away != nil {
		return ctx.Err() == nil
	}
	if !known {
		return false
	}
	if due || w.wide.IsZero() {
		w.ask(ctx, now)
	}
	return ctx.Err() == nil // what was cut short by the end says nothing
}

// answers asks whether the API is ready. While it is away nothing else is asked.
func (w *Watcher) answers(ctx context.Context, now time.Time) {
	w.asked = now
	if w.state.answers(ctx, w.Cluster, w.options) {
		w.pause = askEvery
		if w.state.NotReady == nil {
			w.readyAt = now
		}
		w.up.open()
		return
	}
	if w.up.shut() { // it answered before
		w.pause = askAgain
		return
	}
	w.pause = min(max(2*w.pause, askAgain), askEvery)
}

// ask finds out what no object tells.
func (w *Watcher) ask(ctx context.Context, now time.Time) {
	if now.Sub(w.optionsAt) >= optionsEvery || now.Before(w.optionsAt) {
		w.freshOptions(ctx)
	}
	w.state.inquire(ctx, w.Cluster, w.options)
	if now.Sub(w.wide) < askWideEvery && !now.Before(w.wide) {
		return
	}
	w.wide = now
	wide := newWide(now)
	wide.ask(ctx, w.state, w.Cluster, w.options, nil)
	w.state.Wide = wide
	w.fill()
}

func (w *Watcher) freshOptions(ctx context.Context) {
	w.options = w.Options(ctx)
	w.options.Follows = true
	w.optionsAt = w.options.now()
}

// rest is how long nothing has to be asked. A clock that was set back asks at once.
func (w *Watcher) rest() time.Duration {
	now := w.options.now()
	if w.asked.IsZero() || now.Before(w.asked) {
		return 0
	}
	return max(0, w.asked.Add(w.pause).Sub(now))
}

// fill takes what the lists have into the state, and tells whether all have been read. A request without an answer has the API asked now.
func (w *Watcher) fill() (known bool) {
	known = true
	for _, l := range w.lists {
		if !l.fill(w.state) {
			known = false
		}
		if l.cut() && w.state.Away == nil {
			w.asked = time.Time{}
		}
	}
	return known
}

func (w *Watcher) poke() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}
