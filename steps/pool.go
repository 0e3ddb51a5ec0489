package steps

import (
	"context"
	"errors"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/nodeconfig"
)

// poolBatch lets the node's pool take a step's changes at once. timeouts may be zero.
func poolBatch(ctx context.Context, c *kube.Cluster, o originals, timeouts nodeconfig.Timeouts) (nodeconfig.Batch, error) {
	if timeouts == (nodeconfig.Timeouts{}) {
		timeouts = nodeconfig.Usual()
	}
	pause, err := poolPause(o.report)
	if err != nil {
		return nodeconfig.Batch{}, err
	}
	note := pause.Note
	pause.Note = func(paused bool) error {
		if !paused {
			return note(false)
		}
		rendered, err := kube.Rendered(ctx, c, layout.Pool)
		if err != nil {
			return err
		}
		return errors.Join(o.mark("rendered", rendered), note(true))
	}
	return nodeconfig.Batch{Cluster: c, Save: o.save, Timeouts: timeouts, Pause: pause}, nil
}

// pauseNote says whether a step has paused the pool, or has unpaused it again. An empty note would look like a half-written one.
const pauseNote, pauseHolds, pauseEnded = "pause", "paused", "ended"

// poolPause is a step's pause of the node's pool.
func poolPause(report Report) (kube.Pause, error) {
	noted, made, err := notedAt(report, pauseNote)
	if err != nil {
		return kube.Pause{}, fmt.Errorf("reading whether this work paused the pool: %w", err)
	}
	return kube.Pause{
		Pool: layout.Pool, Ours: string(noted) == pauseHolds, Made: made,
		Note: func(paused bool) error {
			if paused {
				return report.Note(pauseNote, []byte(pauseHolds))
			}
			return report.Note(pauseNote, []byte(pauseEnded))
		},
	}, nil
}

// poolHeld refuses a pool that the cluster's owner has paused, as far as the API can be asked.
func poolHeld(ctx context.Context, c *kube.Cluster, report Report) error {
	pause, err := poolPause(report)
	if err != nil {
		return nil
	}
	if _, held, err := pause.State(ctx, c); err != nil || !held {
		return nil
	}
	return pause.Held()
}

// poolTakes says why the pool would not take a new configuration.
func poolTakes(ctx context.Context, c *kube.Cluster, report Report) error {
	pause, err := poolPause(report)
	if err != nil {
		return err
	}
	return pause.Takes(ctx, c)
}

// runBatch writes changes in one batch and waits until the node has them. timeouts may be zero.
func runBatch(ctx context.Context, c *kube.Cluster, o originals, timeouts nodeconfig.Timeouts, changes []nodeconfig.Change) error {
	batch, err := poolBatch(ctx, c, o, timeouts)
	if err != nil {
		return err
	}
	return batch.Run(ctx, changes)
}

// undoBatch puts back, in one batch too, what a step changed of the cluster with poolBatch. timeouts may be zero.
func undoBatch(ctx context.Context, node *backend.Node, report Report, timeouts nodeconfig.Timeouts) error {
	c, o := node.Kube.WithProgress(report.Progress), newOriginals(report)
	all, _, err := o.all()
	if err != nil {
		return err
	}
	first, rendered, err := savedAt(report, "rendered-001")
	if err != nil || len(all) == 0 && !rendered {
		return err
	}
	batch, err := poolBatch(ctx, c, o, timeouts)
	if err != nil {
		return err
	}
	err = batch.Undo(ctx, string(first), func(ctx context.Context) (bool, error) {
		changed, err := o.restore(ctx, c)
		return len(changed) > 0, err
	})
	if err != nil {
		return fmt.Errorf("putting the node's configuration back: %w", err)
	}
	return nil
}
