package network

import (
	"context"
	"fmt"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// trials are the trials of settings that NetworkManager has a checkpoint of, ours and those of others.
type trials struct {
	host    *host.Machine
	manager manager
}

func (n *Network) trials() trials { return trials{n.host, n.manager} }

// up waits for a NetworkManager that was killed or restarted.
func (t trials) up(ctx context.Context) error {
	return until(ctx, managerBack, func() (bool, error) {
		_, err := t.manager.checkpoints(ctx)
		if is(err, NoManager) {
			return false, nil
		}
		return err == nil, err
	})
}

// free is a Problem (Busy) while a checkpoint is open.
func (t trials) free(ctx context.Context) error {
	open, err := t.manager.checkpoints(ctx)
	if err != nil || len(open) == 0 {
		return err
	}
	return checkpointOpen(fmt.Errorf("the checkpoint %s is open, %s left", open[0].Path, open[0].Left.Round(time.Second)))
}

func checkpointOpen(err error) error {
	return &problem.Problem{
		Code: Busy, Summary: message.T("Someone else is trying out network settings on this node."),
		Fix: message.T("Wait until their time is up and retry, or take over: their settings are then put back first."), Err: err,
	}
}

// extend moves the deadline of the one that is open.
func (t trials) extend(ctx context.Context, by time.Duration) error {
	open, err := t.manager.checkpoints(ctx)
	if err != nil {
		return err
	}
	if len(open) == 0 {
		return tooLate()
	}
	return t.manager.extend(ctx, open[0].Path, min(by, longest))
}

// prefer gives the profiles that nmstate made for br-ex the priority that configure-ovs gives to its own. Otherwise a cable
// that is pulled and put back would start the profile that was kept for the next boot, and take the port from br-ex.
func (t trials) prefer(ctx context.Context, before []profile) error {
	known := map[string]bool{}
	for _, p := range before {
		known[p.UUID] = true
	}
	after, err := t.manager.profiles(ctx)
	if err != nil {
		return err
	}
	for _, p := range after {
		if known[p.UUID] {
			continue
		}
		if _, err := t.host.Run(ctx, "nmcli", "connection", "modify", "--temporary", "uuid", p.UUID, "connection.autoconnect-priority", "100"); err != nil {
			return &problem.Problem{Code: "NET-PRTY", Summary: message.T("NetworkManager did not take a profile's priority."), Fix: message.T("Try again."), Err: err}
		}
	}
	return nil
}
