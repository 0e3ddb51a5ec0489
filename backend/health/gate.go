package health

import (
	"context"
	"fmt"
	"sync"
)

// gate keeps the readers of lists from asking an API that is away: one asks, all others wait.
type gate struct {
	mu     sync.Mutex
	isOpen bool
	opened chan struct{} // closed while the gate is open
}

func newGate() *gate { return &gate{opened: make(chan struct{})} }

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen {
		g.isOpen = true
		close(g.opened)
	}
}

// shut tells whether the gate was open.
func (g *gate) shut() (was bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if was = g.isOpen; was {
		g.isOpen, g.opened = false, make(chan struct{})
	}
	return was
}

// pass waits until the gate is open.
func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	opened := g.opened
	g.mu.Unlock()
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the cluster's API: %w", ctx.Err())
	}
}
