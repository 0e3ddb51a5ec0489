package kube

import (
	"context"
	"fmt"
	"time"
)

// Pause is a pause of a MachineConfigPool, in which it takes all changes at once. A pool that stays paused takes no change of anyone's
// and no update of the cluster. So a pause always leaves a note on disk first: after a power cut its maker knows it as its own and ends
// it. A pause of the cluster's owner is never ended.
type Pause struct {
	Pool string
	Ours bool                    // the note says that the pool is paused by us, if it is paused
	Made bool                    // a note is there: this work has paused the pool, now or before
	Note func(paused bool) error // keeps on disk that the pool is paused by us from here on, or that it no longer is
}

// State tells whether the pool is paused, and whether the cluster's owner holds it.
func (p Pause) State(ctx context.Context, c *Cluster) (paused, held bool, err error) {
	pool, _, err := c.Pool(ctx, p.Pool)
	if err != nil {
		return false, false, err
	}
	return pool.Spec.Paused, pool.Spec.Paused && !p.Ours, nil
}

// Begin notes the pause and begins it.
func (p Pause) Begin(ctx context.Context, c *Cluster) error {
	if err := p.Note(true); err != nil {
		return fmt.Errorf("noting the pause: %w", err)
	}
	return p.set(ctx, c, true)
}

// End ends the pause and notes it. It goes on for a while when the work was cancelled.
func (p Pause) End(ctx context.Context, c *Cluster) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(30*time.Second, c.Pace.Limit))
	defer cancel()
	if err := p.set(ctx, c, false); err != nil {
		return err
	}
	if err := p.Note(false); err != nil {
		return fmt.Errorf("noting the end of the pause: %w", err)
	}
	return nil
}

// set saves no original: what undo has to bring about is a pool that is not paused, whatever was saved.
func (p Pause) set(ctx context.Context, c *Cluster, paused bool) error {
	_, err := c.ChangeSpec(ctx, MachineConfigPool(p.Pool), func(spec map[string]any) error {
		if now, _ := spec["paused"].(bool); now != paused {
			spec["paused"] = paused
		}
		return nil
	}, func(Ref, []byte) error { return nil })
	return err
}
