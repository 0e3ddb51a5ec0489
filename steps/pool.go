package steps

import (
	"context"
	"errors"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/nodeconfig"
)

// poolBatch lets the node's pool take a step's changes at once. timeouts may be zero.
func poolBatch(ctx context.Context, node *backend.Node, c *kube.Cluster, o originals, timeouts nodeconfig.Timeouts) (nodeconfig.Batch, error) {
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
		if err := o.mark("rendered", rendered); err != nil {
			return err
		}
		return note(true)
	}
	return nodeconfig.Batch{Cluster: c, Save: o.save, Timeouts: timeouts, Pause: pause, Drifted: putBackFiles(node, o.report)}, nil
}

// sharedPause says whether the work has paused the pool, or has unpaused it again: a pause that one step could not end is known to the
// others as the work's own. pauseNote says the same of one step's batch. An empty note would look like a half-written one.
const (
	sharedPause = "job-" + pauseNote // see Report.Note
	pauseNote   = "pause"
	pauseHolds  = "paused"
	pauseEnded  = "ended"
)

// poolPause is a step's pause of the node's pool.
func poolPause(report Report) (kube.Pause, error) {
	_, made, err := notedAt(report, pauseNote)
	if err != nil {
		return kube.Pause{}, fmt.Errorf("reading whether this step paused the pool: %w", err)
	}
	ours, err := poolPaused(report)
	if err != nil {
		return kube.Pause{}, err
	}
	return kube.Pause{
		Pool: layout.Pool, Ours: ours, Made: made,
		Note: func(paused bool) error {
			first, second, state := sharedPause, pauseNote, pauseEnded
			if paused {
				first, second, state = pauseNote, sharedPause, pauseHolds
			}
			if err := report.Note(first, []byte(state)); err != nil {
				return err
			}
			return report.Note(second, []byte(state))
		},
	}, nil
}

// poolPaused tells whether the pool, if it is paused, is paused by this work.
func poolPaused(report Report) (bool, error) {
	for _, key := range []string{sharedPause, pauseNote} { // the release before this one kept the step's alone
		noted, there, err := notedAt(report, key)
		if there || err != nil {
			return string(noted) == pauseHolds, err
		}
	}
	return false, nil
}

// poolHalf tells of a batch of the step that did not end: the pool may be paused, and some of the changes are written.
func poolHalf(report Report) (message.Text, error) {
	noted, _, err := notedAt(report, pauseNote)
	if err != nil || string(noted) != pauseHolds {
		return message.Text{}, err
	}
	return message.F("not all changes to the configuration of this node were made (MachineConfigPool %s)", layout.Pool), nil
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

// endPause ends a pause of this work, in which the node would take nothing.
func endPause(ctx context.Context, c *kube.Cluster, report Report) error {
	pause, err := poolPause(report)
	if err != nil || !pause.Ours {
		return err
	}
	return pause.End(ctx, c)
}

// runBatch writes changes in one batch and waits until the node has them. timeouts may be zero.
func runBatch(ctx context.Context, node *backend.Node, o originals, timeouts nodeconfig.Timeouts, changes []nodeconfig.Change) error {
	c := node.Kube.WithProgress(o.report.Progress)
	batch, err := poolBatch(ctx, node, c, o, timeouts)
	if err != nil {
		return err
	}
	if err := batch.Run(ctx, changes); err != nil {
		return err
	}
	// Another step, or the cluster's owner, may have ended the pause of a batch that was cut off.
	half, err := poolHalf(o.report)
	if err != nil || half.String() == "" {
		return err
	}
	return o.report.Note(pauseNote, []byte(pauseEnded))
}

// undoBatch puts back, in one batch too, what a step changed of the cluster with poolBatch. timeouts may be zero.
func undoBatch(ctx context.Context, node *backend.Node, report Report, timeouts nodeconfig.Timeouts) error {
	c, o := node.Kube.WithProgress(report.Progress), newOriginals(report)
	all, _, err := o.all()
	if err != nil {
		return err
	}
	first, rendered, err := savedAt(report, "rendered-001")
	if err != nil {
		return err
	}
	half, err := poolHalf(report)
	if err != nil || len(all) == 0 && !rendered && half.String() == "" {
		return err
	}
	batch, err := poolBatch(ctx, node, c, o, timeouts)
	if err != nil {
		return err
	}
	batch.Cut = half.String() != ""
	var changed []kube.Ref
	err = batch.Undo(ctx, string(first), func(ctx context.Context) (bool, error) {
		var err error
		changed, err = o.restore(ctx, c)
		return len(changed) > 0, err
	})
	if err != nil {
		err = fmt.Errorf("putting the node's configuration back: %w", err)
		if batch.Cut || len(changed) > 0 { // the pause ends all the same, and the batch is half: the next undo waits for its rendering
			noted := report.Note(pauseNote, []byte(pauseHolds))
			err = errors.Join(err, noted)
		}
		return err
	}
	return nil
}
