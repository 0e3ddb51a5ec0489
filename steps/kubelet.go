package steps

import (
	"context"
	"fmt"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/kubelet"
	"touchdown/backend/message"
	"touchdown/backend/progress"
)

// kubeletGate lets the cluster start: network, clock and names of the site are in place. From here on the node is landing.
type kubeletGate struct {
	Limit time.Duration // zero: 15 minutes; a control plane with expired certificates takes up to ten to renew them
}

// apiLimit bounds the wait for the API of a cluster that starts.
const apiLimit = 15 * time.Minute

var (
	_ Planner      = (*kubeletGate)(nil)
	_ Undoer       = (*kubeletGate)(nil)
	_ UndoPreparer = (*kubeletGate)(nil)
)

// ID names the step in the journal.
func (*kubeletGate) ID() string { return "kubelet" }

// Title says what the step does.
func (*kubeletGate) Title() message.Text { return message.T("Start the cluster") }

// Plan tells that the cluster starts, where it does not run yet.
func (*kubeletGate) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	if !kubelet.Gated(node.Host) {
		return Plan{}, nil
	}
	return Plan{
		Changes: []Change{{What: message.T("Cluster on this node"), Old: message.T("held back since the factory"), New: message.T("started")}}, Seconds: apiSeconds,
	}, nil
}

// Run makes a backup of the cluster, opens the kubelet's gate and waits for the API.
func (s *kubeletGate) Run(ctx context.Context, node *backend.Node, report Report) error {
	if err := resumeRestore(ctx, node, report); err != nil {
		return err
	}
	if running, _ := node.Kube.Ready(ctx); host.HasKubelet(node.Host) && (!running || kubelet.Gated(node.Host)) {
		if err := s.release(ctx, node, report); err != nil {
			return err
		}
	}
	limit := s.Limit
	if limit == 0 {
		limit = apiLimit
	}
	err := awaitAPI(ctx, node, report, func() error {
		return kubelet.Await(ctx, node.Host, node.Kube.WithProgress(report.Progress), limit)
	})
	if err != nil {
		return fmt.Errorf("waiting for the API: %w", err)
	}
	report.Check(check.Check{ID: "api", Title: message.T("The cluster's API answers"), Status: check.Pass, Observed: message.Data(node.Kube.Address())})
	return nil
}

func (s *kubeletGate) release(ctx context.Context, node *backend.Node, report Report) error {
	if kubelet.Gated(node.Host) {
		opened, err := gateOpened(report)
		if err != nil {
			return err
		}
		if !opened { // else what lies on the disk is not what left the factory
			if err := keepBackup(ctx, node, report); err != nil {
				return err
			}
		}
		// Undo closes only a gate that was closed when the work began.
		if err := report.Save("gate", []byte("closed")); err != nil {
			return fmt.Errorf("noting the kubelet's gate: %w", err)
		}
		report.Say(message.T("The cluster on this node is started."))
	} else if kubelet.Active(ctx, node.Host) {
		return nil
	}
	report.Progress(progress.Progress{Waiting: message.T("CRI-O and the kubelet to start")})
	return kubelet.Release(ctx, node.Host)
}

// Undo holds the cluster back again. The identity that left the factory is a cluster on the disk of which nothing runs: all that
// was changed through its API has been put back before, and what is undone after this, the network, does not need it.
func (s *kubeletGate) Undo(ctx context.Context, node *backend.Node, report Report) error {
	if closed, err := gateOpened(report); !closed { // it was open when the work began
		return err
	}
	report.Progress(progress.Progress{Waiting: message.T("the kubelet and its containers to stop")})
	if err := kubelet.Hold(ctx, node.Host); err != nil {
		return fmt.Errorf("holding the cluster back: %w", err)
	}
	report.Say(message.T("The cluster on this node is held back again, as it left the factory."))
	return nil
}

// PrepareUndo puts the backup back where the database does not start: what the steps changed in the cluster is undone with it,
// and without an API none of them could undo it. Where the disk has no room for it, the undo does what it can.
func (s *kubeletGate) PrepareUndo(ctx context.Context, node *backend.Node, report Report) error {
	if err := resumeRestore(ctx, node, report); err != nil {
		return err
	}
	if running, _ := node.Kube.Ready(ctx); running || kubelet.Gated(node.Host) {
		return nil
	}
	if !canRestore(node, report, kubelet.Damage(node.Host)) || kubelet.Room(ctx, node.Host) != nil {
		return nil
	}
	return restoreBackup(ctx, node, report)
}
