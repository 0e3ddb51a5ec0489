package nodeconfig

import (
	"context"
	"fmt"
	"time"

	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
)

// Paused tells whether the configuration of the node's pool is paused, by Touchdown or by the owner.
func Paused(ctx context.Context, c *kube.Cluster) (bool, error) {
	p, _, err := c.Pool(ctx, layout.Pool)
	if err != nil {
		return false, err
	}
	return p.Spec.Paused, nil
}

// Held is the Problem of a pool that the cluster's owner has paused: whatever was written, the node would not take it.
func Held() *problem.Problem {
	return &problem.Problem{
		Code:    "NCF-HELD",
		Summary: "The configuration of this node is paused (MachineConfigPool master), and Touchdown has not paused it.",
		Fix: "Nothing was written. Find out why it is paused; then its owner can end the pause: " +
			"oc patch machineconfigpool master --type merge -p '{\"spec\":{\"paused\":false}}'. Then retry.",
	}
}

// Working refuses what needs a new configuration of the pool where nothing would make one: the operator puts the cluster's own settings into
// its ControllerConfig, and the controller renders (openshift/machine-config-operator 7ff337a4f, pkg/operator/sync.go, pkg/controller/render).
func Working(ctx context.Context, c *kube.Cluster) error {
	const namespace = "openshift-machine-config-operator"
	for _, deployment := range []string{"machine-config-operator", "machine-config-controller"} {
		why, err := c.Idle(ctx, namespace, deployment)
		if err != nil {
			return err
		}
		if why != "" {
			return &problem.Problem{
				Code:    "NCF-IDLE",
				Summary: "The Machine Config Operator does not run, so the node would not take a new configuration: " + why + ".",
				Fix:     fmt.Sprintf("Nothing was written. The cluster's owner can start it: oc scale deployment -n %s %s --replicas 1. Then retry.", namespace, deployment),
			}
		}
	}
	return nil
}

// paused tells whether the pool is paused, and whether the cluster's owner holds it.
func (b Batch) paused(ctx context.Context) (paused, held bool, err error) {
	paused, err = Paused(ctx, b.Cluster)
	return paused, paused && !b.Marked, err
}

// without does what needs no configuration of the pool. What does is refused before anything is written, unless the node has it.
func (b Batch) without(ctx context.Context, changes, pending []Change) error {
	if Renders(pending) {
		return Held()
	}
	if Renders(changes) {
		p, _, err := b.Cluster.Pool(ctx, layout.Pool)
		if err != nil {
			return err
		}
		if _, ours, err := b.missing(ctx, p.Status.Configuration.Name, changes); err != nil {
			return err
		} else if ours {
			return Held()
		}
	}
	return b.write(ctx, pending)
}

func (b Batch) pause(ctx context.Context) error {
	if err := b.Mark(); err != nil {
		return fmt.Errorf("noting the pause: %w", err)
	}
	return b.setPaused(ctx, true)
}

// unpause goes on for a while when the work was cancelled.
func (b Batch) unpause(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(30*time.Second, b.Cluster.Pace.Limit))
	defer cancel()
	if err := b.setPaused(ctx, false); err != nil {
		return err
	}
	if err := b.Unmark(); err != nil {
		return fmt.Errorf("noting the end of the pause: %w", err)
	}
	return nil
}

// setPaused saves no original: what undo has to bring about is a pool that is not paused, whatever was saved.
func (b Batch) setPaused(ctx context.Context, paused bool) error {
	_, err := b.Cluster.ChangeSpec(ctx, kube.MachineConfigPool(layout.Pool), func(spec map[string]any) error {
		if now, _ := spec["paused"].(bool); now != paused {
			spec["paused"] = paused
		}
		return nil
	}, func(kube.Ref, []byte) error { return nil })
	return err
}
