package steps

import (
	"context"
	"fmt"
	"time"

	"touchdown/backend"
	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/kubelet"
	"touchdown/backend/message"
	"touchdown/backend/progress"
)

// bakeArm shuts the gate in front of kubelet, stops the cluster and keeps a backup of it: the next boot waits for the site.
type bakeArm struct{}

var _ Undoer = (*bakeArm)(nil)

// ID names the step in the journal.
func (*bakeArm) ID() string { return "bake-arm" }

// Title says what the step does.
func (*bakeArm) Title() message.Text { return message.T("Arm the node") }

// Run shuts it. Nothing of the cluster runs afterwards, so that a node whose power is pulled, which is how many leave the bench
// line, has no database that was being written; and the backup is from before storage and road.
func (*bakeArm) Run(ctx context.Context, node *backend.Node, report Report) error {
	if rests(node.Host) {
		if host.HasKubelet(node.Host) {
			backupCheck(report, nil)
		}
		return nil
	}
	if err := starts(ctx, node, report); err != nil {
		return err
	}
	if err := kubelet.Drop(ctx, node.Host); err != nil { // its cluster ran since
		return err
	}
	if _, err := factory.Arm(node.Host); err != nil {
		return err
	}
	report.Say(message.T("The node is armed: from its next boot on it waits for its site."))
	return rest(ctx, node, report)
}

// rests tells whether nothing is left to do: the node is armed, and its cluster was stopped and has a backup.
func rests(m *host.Machine) bool {
	return kubelet.Gated(m) && (!host.HasKubelet(m) || kubelet.Restorable(m))
}

// starts lets a cluster prove by its API that its database is good: in storage nobody would see that it is damaged, and a backup of it
// would be worth nothing. One that was armed and lost its power before it had its backup starts once more.
func starts(ctx context.Context, node *backend.Node, report Report) error {
	if !host.HasKubelet(node.Host) {
		return nil
	}
	if kubelet.Gated(node.Host) {
		report.Progress(progress.Progress{Waiting: message.T("the cluster to start once more, since its last stop was cut off")})
		if err := kubelet.Release(ctx, node.Host); err != nil {
			return err
		}
	}
	return awaitFactory(ctx, node, report)
}

// awaitFactory waits for the API of a node on the bench line.
func awaitFactory(ctx context.Context, node *backend.Node, report Report) error {
	if !host.HasKubelet(node.Host) {
		return nil
	}
	return kubelet.Await(ctx, node.Host, node.Kube.WithProgress(report.Progress), apiLimit)
}

// restLimit bounds the wait for a cluster that does not stop: the node ships all the same.
const restLimit = 10 * time.Minute

// rest stops the cluster of an armed node and keeps a backup of it. What does not stop is no reason to keep the node: its next boot
// starts nothing, and its landing makes the backup.
func rest(ctx context.Context, node *backend.Node, report Report) error {
	if !host.HasKubelet(node.Host) {
		return nil
	}
	report.Progress(progress.Progress{Waiting: message.T("the kubelet and its containers to stop")})
	bounded, cancel := context.WithTimeout(ctx, restLimit)
	defer cancel()
	err := kubelet.Stop(bounded, node.Host)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("stopping the cluster: %w", context.Cause(ctx))
	case err != nil:
		backupCheck(report, err)
		return nil
	}
	return keepBackup(ctx, node, report)
}

// Undo opens it and starts the cluster, whose API the undo of the steps before needs. The backup is out of date from then on: it stays
// until the cluster has shown that it starts.
func (*bakeArm) Undo(ctx context.Context, node *backend.Node, report Report) error {
	if err := kubelet.Keep(ctx, node.Host); err != nil {
		return err
	}
	changed, err := factory.Disarm(ctx, node.Host)
	if err != nil {
		return err
	}
	if changed {
		report.Say(message.T("The node is not armed any more; its cluster starts."))
	}
	if err := awaitFactory(ctx, node, report); err != nil {
		return err
	}
	return kubelet.Drop(ctx, node.Host)
}
