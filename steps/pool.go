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

// poolBatch lets the node's pool take a step's changes at once. patience may be zero.
func poolBatch(ctx context.Context, c *kube.Cluster, o originals, patience nodeconfig.Patience) nodeconfig.Batch {
	if patience == (nodeconfig.Patience{}) {
		patience = nodeconfig.Usual()
	}
	pause := poolPause(o.report)
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
	return nodeconfig.Batch{Cluster: c, Save: o.save, Patience: patience, Pause: pause}
}

// pauseNote says whether a step has paused the pool, or has unpaused it again. An empty note would look like a half-written one.
const pauseNote, pauseHolds, pauseEnded = "pause", "paused", "ended"

// poolPause is a step's pause of the node's pool.
func poolPause(report Report) kube.Pause {
	noted, err := report.Noted(pauseNote)
	return kube.Pause{
		Pool: layout.Pool, Ours: err == nil && string(noted) == pauseHolds,
		Note: func(paused bool) error {
			if paused {
				return report.Note(pauseNote, []byte(pauseHolds))
			}
			return report.Note(pauseNote, []byte(pauseEnded))
		},
	}
}

// poolHeld tells whether the cluster's owner has paused the pool, as far as the API can be asked.
func poolHeld(ctx context.Context, c *kube.Cluster, report Report) bool {
	_, held, err := poolPause(report).State(ctx, c)
	return err == nil && held
}

// poolTakes says why the pool would not take a new configuration.
func poolTakes(ctx context.Context, c *kube.Cluster, report Report) error {
	if poolHeld(ctx, c, report) {
		return nodeconfig.Held()
	}
	return nodeconfig.Working(ctx, c)
}

// undoBatch puts back, in one batch too, what a step changed of the cluster with poolBatch. patience may be zero.
func undoBatch(ctx context.Context, node *backend.Node, report Report, patience nodeconfig.Patience) error {
	c, o := telling(node.Kube, report), originals{report}
	first, _ := report.Saved("rendered-001") // nothing was rendered where it is missing
	if len(o.all()) == 0 && len(first) == 0 {
		return nil
	}
	err := poolBatch(ctx, c, o, patience).Undo(ctx, string(first), func(ctx context.Context) (bool, error) {
		changed, err := o.restore(ctx, c)
		return len(changed) > 0, err
	})
	if err != nil {
		return fmt.Errorf("putting the node's configuration back: %w", err)
	}
	return nil
}
