package operators

import (
	"context"
	"sync"
	"time"

	configv1 "github.com/openshift/api/config/v1"
)

// Faults are what an operator is made to do wrong until they are cleared.
type Faults struct {
	mu       sync.Mutex
	degraded map[string]bool
	stuck    map[string]bool
	changed  chan struct{}
}

// NewFaults returns none.
func NewFaults() *Faults {
	return &Faults{degraded: map[string]bool{}, stuck: map[string]bool{}, changed: make(chan struct{}, 1)}
}

// Degrade makes an operator report Degraded=True, whatever it does.
func (f *Faults) Degrade(operator string) { f.with(func() { f.degraded[operator] = true }) }

// Stick makes the next and any running roll-out of an operator go on for ever.
func (f *Faults) Stick(operator string) { f.with(func() { f.stuck[operator] = true }) }

// Clear ends all of them.
func (f *Faults) Clear() {
	f.with(func() {
		for name := range f.degraded {
			f.degraded[name] = false // kept as a name, so that its condition is put back
		}
		f.stuck = map[string]bool{}
	})
}

func (f *Faults) with(do func()) {
	f.mu.Lock()
	do()
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

func (f *Faults) isDegraded(operator string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.degraded[operator]
}

func (f *Faults) isStuck(operator string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stuck[operator]
}

// unstuck waits for as long as the operator is stuck.
func (f *Faults) unstuck(ctx context.Context, operator string) error {
	for f.isStuck(operator) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return ctx.Err()
}

// runDegraded keeps the conditions of operators that are degraded on demand, and puts them back.
func runDegraded(ctx context.Context, e *Env) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.Faults.changed:
		}
		e.Faults.mu.Lock()
		want := map[string]bool{}
		for name, on := range e.Faults.degraded {
			want[name] = on
			if !on {
				delete(e.Faults.degraded, name)
			}
		}
		e.Faults.mu.Unlock()
		for name, on := range want {
			if err := e.degraded(ctx, name, on, "BenchFault", "degraded on demand of the bench"); err != nil && ctx.Err() == nil {
				e.Log.Warn("setting a degraded operator", "operator", name, "error", err)
			}
		}
	}
}

// degraded sets the Degraded condition of an operator; a fault on demand wins.
func (e *Env) degraded(ctx context.Context, operator string, on bool, reason, message string) error {
	if e.Faults.isDegraded(operator) {
		on, reason, message = true, "BenchFault", "degraded on demand of the bench"
	}
	return e.condition(ctx, operator, configv1.OperatorDegraded, on, reason, message)
}
