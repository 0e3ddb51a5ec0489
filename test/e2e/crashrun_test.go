package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/bench/landing"
	"touchdown/test/wait"
)

// faultKind is what befalls the node.
type faultKind string

const (
	powerCut   faultKind = "power cut"            // what was not synced is lost
	powerFlush faultKind = "power cut, log saved" // the nastier one: names without their data
	nodeKill   faultKind = "all processes killed" // the disk loses nothing
	engineKill faultKind = "engine killed"        // the node goes on
)

var faultKinds = []faultKind{powerCut, powerFlush, nodeKill, engineKill}

// fault is one of them and its moment.
type fault struct {
	kind faultKind
	at   string        // behind the first event of this name since the last fault; "": at a random moment
	wait time.Duration // then: after the engine took up its work

	fell moment
}

// moment is when a fault fell, seen from the job.
type moment string

const (
	behindEvent moment = "behind the event"
	atRandom    moment = "at a random moment"
	beforeBegin moment = "before the beginning" // nothing was heard of the job yet
	afterEnd    moment = "after the end"
)

// inLanding tells whether the job was under way.
func (b fault) inLanding() bool { return b.fell == behindEvent || b.fell == atRandom }

func (b fault) String() string {
	if b.at == "" {
		return fmt.Sprintf("%s after %.1f s", b.kind, b.wait.Seconds())
	}
	return fmt.Sprintf("%s behind %q", b.kind, b.at)
}

// errStruck ends a stream of events where the fault is injected, errEnded where the job has come to its end.
var (
	errStruck = errors.New("now")
	errEnded  = errors.New("the job has ended")
)

// ride is one landing under faults, seen from outside.
type ride struct {
	*landing.Landing

	before []event.Event // of the jobs before, that were handed over: as durable as heard
	heard  []event.Event // of this job, that must be on the disk, since the engine told them
	from   uint64        // the last event heard
	names  []string      // of the durable events, in order
	struck []fault
	ended  bool
	over   bool // the job had ended before the last fault was waited for

	secrets    string       // of the cluster that was handed over: an undo of what came later brings back the same
	earlier    time.Time    // when the job before began
	told       atomic.Bool  // the engine said that the job begins
	asked      atomic.Value // what the last client said that asked in vain
	stopAsking context.CancelFunc
}

// eventName is what an event has in common with the same one of another run.
func eventName(e event.Event) string {
	name := string(e.Kind) + " " + e.Step
	switch {
	case e.Step == "":
		name += "job"
	case e.Check != nil:
		name += " " + e.Check.ID
	}
	return name
}

// hear takes in one event and tells why the stream is to end.
func (r *ride) hear(e event.Event, name string) error {
	r.from = max(r.from, e.Seq)
	if e.Kind == event.Lost {
		return fmt.Errorf("forgotten: the engine says that records were lost: %s", e.Text)
	}
	if !e.Lifecycle() || (len(r.heard) == 0 && e.Kind != event.Started) {
		return nil
	}
	r.told.Store(true)
	r.names = append(r.names, eventName(e))
	if lasting(e) {
		r.heard = append(r.heard, e)
	}
	if e.Kind == event.Failed {
		return fmt.Errorf("%s failed: %s %s %s", e.Step, e.Problem.Code, e.Problem.Summary, e.Problem.Detail)
	}
	r.ended = e.Step == "" && (e.Kind == event.Done || e.Kind == event.Undone)
	switch {
	case eventName(e) == name:
		return errStruck
	case r.ended:
		return errEnded
	}
	return nil
}

// await follows the engine up to the moment of a fault, or to the job's end.
func (r *ride) await(ctx context.Context, b fault) error {
	r.over = r.ended
	if b.at == "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, b.wait, errStruck)
		defer cancel()
	}
	if !r.ended {
		err := wait.For(ctx, "the engine's events", func(ctx context.Context) error {
			err := r.listen(ctx, b.at)
			if errors.Is(err, session.ErrNoEngine) && ctx.Err() == nil {
				return err // it starts
			}
			return wait.Final(err)
		})
		if !errors.Is(err, errStruck) && !errors.Is(err, errEnded) {
			return err
		}
	}
	if b.at == "" {
		<-ctx.Done()
	}
	return nil
}

// listen hears the engine's events until one of them, or the job's end.
func (r *ride) listen(ctx context.Context, name string) error {
	engine, err := r.Session()
	if err != nil {
		return err
	}
	err = engine.Events(ctx, "", r.from, func(events []event.Event) error {
		for _, e := range events {
			if err := r.hear(e, name); err != nil {
				return err
			}
		}
		return nil
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// moment is when a fault falls that await has just waited for.
func (r *ride) moment(b fault) moment {
	switch {
	case r.over:
		return afterEnd
	case b.at != "" && len(r.names) > 0 && r.names[len(r.names)-1] == b.at:
		return behindEvent // also of the last event
	case r.ended:
		return afterEnd
	case len(r.heard) == 0:
		return beforeBegin
	}
	return atRandom
}

// inject injects the fault, and has the node come up again.
func (r *ride) inject(ctx context.Context, b fault) error {
	var err error
	switch b.kind {
	case powerCut, powerFlush:
		err = r.Node.PowerCut(ctx, b.kind == powerFlush)
	case nodeKill:
		err = r.Node.Kill(ctx)
	case engineKill:
		_, err = r.Node.Run(ctx, "systemctl", "kill", "--signal=KILL", "--kill-whom=main", "touchdown-engine")
	}
	b.fell = r.moment(b)
	r.struck = append(r.struck, b)
	if err != nil {
		return err
	}
	if b.kind != engineKill {
		if err := r.Node.Boot(ctx); err != nil {
			return err
		}
	}
	return r.remembers(ctx)
}

// snapshot asks the engine as soon as one answers.
func (r *ride) snapshot(ctx context.Context) (*view.Snapshot, error) {
	var s *view.Snapshot
	err := wait.For(ctx, "the engine", func(ctx context.Context) error {
		engine, err := r.Session()
		if err != nil {
			return wait.Final(err) // the node is off
		}
		one, cancel := context.WithTimeout(ctx, wait.Timeout(0)) // an engine that hangs is asked again
		defer cancel()
		s, err = engine.Snapshot(one)
		return err
	})
	return s, err
}

// begin has the node landed by nobody in particular: the client that asks for it ends with the first fault, and another one
// asks again only for as long as the engine has not said that it begins.
func (r *ride) begin(ctx context.Context, config string, more ...string) {
	ctx, r.stopAsking = context.WithCancel(ctx)
	earlier := r.earlier
	go func() {
		_ = wait.For(ctx, "the job to begin", func(ctx context.Context) bool {
			if r.told.Load() {
				return true
			}
			out, code, err := r.Apply(ctx, config, more...)
			if err == nil && code == 0 {
				return true
			}
			r.asked.Store(fmt.Sprintf("apply: exit %d, %v: %s", code, err, out))
			engine, err := r.Session()
			if err != nil {
				return false
			}
			s, err := engine.Snapshot(ctx)
			return err == nil && s.Started.After(earlier)
		})
	}()
}

// under injects all faults, one after the other, for as long as the job lives.
func (r *ride) under(ctx context.Context, faults []fault) error {
	for _, b := range faults {
		if err := r.await(ctx, b); err != nil {
			return fmt.Errorf("before %s: %w", b, err)
		}
		if err := r.inject(ctx, b); err != nil {
			return fmt.Errorf("after %s: %w", b, err)
		}
	}
	return nil
}

// toEnd waits until the job has ended.
func (r *ride) toEnd(ctx context.Context) error {
	return r.await(ctx, fault{at: "none"})
}

// undo chooses to put everything back, wherever the job is.
func (r *ride) undo(ctx context.Context) error {
	return wait.For(ctx, "the undo to begin", func(ctx context.Context) error {
		s, err := r.snapshot(ctx)
		if err != nil {
			return wait.Final(err)
		}
		verb := session.Undo
		switch s.State {
		case view.Inspecting, view.Collecting, view.Reviewed: // all faults were injected before the job began
			verb = ""
		case view.Working, view.InQuestion:
			verb = session.Cancel
		case view.UndoingAll, view.IsUndone:
			r.ended = false
			return nil
		}
		if verb != "" {
			err = r.Do(ctx, session.Action{Verb: verb})
		}
		if err != nil && !errors.Is(err, session.ErrState) && !errors.Is(err, session.ErrNoEngine) {
			return wait.Final(fmt.Errorf("choosing undo in state %s: %w", s.State, err))
		}
		return fmt.Errorf("the job is %s", s.State)
	})
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
