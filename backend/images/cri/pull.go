package cri

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"touchdown/backend/images/auth"
	"touchdown/backend/images/ref"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// How a pull is repeated: as the machine-config operator does it for pinned images.
const (
	mostTries  = 5
	firstPause = time.Second
	longPause  = 10 * time.Second
	// A pull waits for the line more than for a processor, and two fill no line whose connections are slow each.
	leastWorkers = 4
	mostWorkers  = 8
)

// One try may take pullTime and a second for each slowest bytes: a line of half a megabit is the slowest that a landing can
// be done with.
const (
	pullTime = 10 * time.Minute
	slowest  = 64 << 10
	// longest is enough for 2.5 GiB at that speed; the largest image of a release has half of it.
	longest = 12 * time.Hour
)

// Want is an image to be pulled.
type Want struct {
	Name  string     // reference, best with a digest
	Boot  bool       // the node does not come up without it: such go first
	Blobs []ref.Blob // what has to be fetched for it; nil when the registry did not tell
}

// Size is how many bytes have to be fetched, 0 when that is unknown.
func (w Want) Size() int64 {
	var sum int64
	for _, b := range w.Blobs {
		sum += b.Size
	}
	return sum
}

// Outcome is how the pull of one image ended.
type Outcome struct {
	Name  string
	As    string // what CRI-O calls what it pulled: name with digest, or ID
	Tries int
	Took  time.Duration
	Class Class // "" when it went well
	Err   error // a Problem; nil when it went well
}

// Pull fetches images in parallel. Only Client must be set.
type Pull struct {
	Client  *Client
	Logins  auth.Logins
	Workers int                      // at once; 0: one a processor, at least 4 and at most 8
	Used    func() (int64, error)    // bytes in use on the store's file system, for the live rate; nil: no live rate
	Tell    func(Pulled)             // told twice a second while it works, and at the end; nil: nobody
	Done    func(Outcome) error      // told of each image as it ends, one at a time; an error ends the run. nil: nobody
	Stall   time.Duration            // without growth of Used for so long, tries are started again; 0: two minutes
	Pause   func(time.Duration) bool // waits; only tests set it, to wait less
}

// Run pulls the images, boot-critical ones first, then the largest first, so that the last worker does not end long after the
// others; but no two at once that need the same blob. The outcomes come in the order of wants. The error says that it was
// ended early, or how many images are missing.
func (p Pull) Run(ctx context.Context, wants []Want) ([]Outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{Pull: p, wants: wants, queue: newQueue(wants), meter: newMeter(wants), cancel: cancel, outcomes: make([]Outcome, len(wants)), dead: map[string]bool{}, tries: map[*try]bool{}}
	stop := r.report(ctx)
	watched := r.watch(ctx)
	var all sync.WaitGroup
	for range p.workers(len(wants)) {
		all.Go(func() { r.work(ctx) })
	}
	all.Wait()
	watched()
	stop()
	if ctx.Err() != nil {
		return r.ended(), fmt.Errorf("pulling images: %w", context.Cause(ctx))
	}
	return r.outcomes, missing(r.outcomes)
}

func (p Pull) workers(wants int) int {
	n := p.Workers
	if n <= 0 {
		n = min(max(runtime.NumCPU(), leastWorkers), mostWorkers)
	}
	return min(n, wants)
}

// run is one Run.
type run struct {
	Pull
	wants    []Want
	queue    *queue
	outcomes []Outcome
	meter    *meter
	cancel   context.CancelCauseFunc

	mu   sync.Mutex
	full bool            // the disk: nothing more is begun
	dead map[string]bool // registries that were away through all tries, and nothing came since: one try for their other images
	done sync.Mutex

	tries map[*try]bool // that are at work
}

func (r *run) work(ctx context.Context) {
	for ctx.Err() == nil {
		i, ok := r.queue.take()
		if !ok {
			return
		}
		o := r.turn(ctx, i)
		if ctx.Err() == nil || o.Err == nil { // else it did not fail, it was ended
			r.end(i, o)
		}
		r.queue.end(i, o.Err == nil)
	}
}

// turn is one image's: it is pulled unless the disk is full.
func (r *run) turn(ctx context.Context, i int) Outcome {
	r.mu.Lock()
	full := r.full
	r.mu.Unlock()
	if full {
		return Outcome{Name: r.wants[i].Name, Class: NotTried, Err: NotTried.problem(r.wants[i].Name, nil)}
	}
	r.meter.begin(i)
	return r.one(ctx, r.wants[i])
}

func (r *run) end(i int, o Outcome) {
	r.mu.Lock()
	switch o.Class {
	case "":
		delete(r.dead, registryOf(o.Name))
	case NoSpace:
		r.full = true
	case Away, NoDNS, NoRuntime:
		r.dead[registryOf(o.Name)] = true
	}
	r.mu.Unlock()
	r.meter.end(i, o.Err == nil, r.used())
	r.done.Lock()
	defer r.done.Unlock()
	r.outcomes[i] = o
	if r.Done == nil {
		return
	}
	if err := r.Done(o); err != nil {
		r.cancel(err)
	}
}

// registryOf is the registry that a name is of; with mirrors that is not the one that was away, but they are the same for all
// of its images.
func registryOf(name string) string {
	host, _, _ := strings.Cut(name, "/")
	return host
}

// one pulls one image until it is there or another try makes no sense.
func (r *run) one(ctx context.Context, w Want) (o Outcome) {
	o.Name = w.Name
	begun := time.Now()
	defer func() { o.Took = time.Since(begun) }()
	parsed, err := ref.Parse(w.Name)
	if err != nil {
		o.Class, o.Err = BadName, BadName.problem(w.Name, err)
		return o
	}
	var login *auth.Login
	if l, ok := r.Logins.For(parsed.Name()); ok {
		login = &l
	}
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		o.Tries++
		o.As, err = r.try(ctx, w, login)
		if err == nil {
			o.Class, o.Err = "", nil
			return o
		}
		o.Class = classify(err)
		o.Err = o.Class.problem(w.Name, errors.New(r.Logins.Mask(text(err))))
		if o.Tries >= o.Class.tries(r.most(w.Name)) {
			return o
		}
		if o.Class == Busy {
			pause = longPause
		}
		if !r.wait(ctx, pause) {
			return o
		}
	}
}

func (r *run) most(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead[registryOf(name)] {
		return 1
	}
	return mostTries
}

func (r *run) wait(ctx context.Context, d time.Duration) bool {
	if r.Pause != nil {
		return r.Pause(d) && ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *run) used() int64 {
	if r.Used == nil {
		return 0
	}
	n, err := r.Used()
	if err != nil {
		return 0
	}
	return n
}

// ended are the outcomes of a run that was ended early: those that there are.
func (r *run) ended() []Outcome {
	r.done.Lock()
	defer r.done.Unlock()
	return slices.DeleteFunc(slices.Clone(r.outcomes), func(o Outcome) bool { return o.Name == "" })
}

// missing makes one Problem of all that failed. A full disk is told before anything else: it made others fail.
func missing(all []Outcome) error {
	var failed []Outcome
	for _, o := range all {
		if o.Err != nil {
			failed = append(failed, o)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	worst := failed[0]
	for _, o := range failed {
		if o.Class == NoSpace {
			worst = o
		}
	}
	if len(failed) == 1 {
		return worst.Err
	}
	first := problem.From(worst.Err)
	return &problem.Problem{
		Code: first.Code, Summary: message.F("%d of %d images could not be pulled. The first: %s", len(failed), len(all), first.Summary),
		Fix: first.Fix, Err: first.Err,
	}
}
