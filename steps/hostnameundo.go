package steps

import (
	"context"
	"errors"

	"touchdown/backend"
	"touchdown/backend/kubelet"
	"touchdown/backend/message"
)

// PrepareUndo lets a node in again that has left its cluster: the end of the undo forgets its labels, and after it nobody approves its
// requests. Where the node does not come back, the undo goes on: the network must be put back on a node whose cluster never starts, too.
func (s *siteHostname) PrepareUndo(ctx context.Context, node *backend.Node, report Report) error {
	half, err := s.Half(report)
	if err == nil && half.String() == "" || kubelet.Gated(node.Host) { // gated: the undo holds the cluster back already
		return nil
	}
	if err == nil {
		err = s.Abandon(ctx, node, report)
	}
	_, reboots := errors.AsType[*Reboot](err)
	if err == nil || ctx.Err() != nil || reboots && s.Site.Spec.Policy.AllowReboot {
		return err
	}
	r, _ := noted(report)
	node.Log.Error("the node could not rejoin its cluster", "name", r.To, "labels", r.Labels, "error", err)
	report.Say(message.F("The node could not rejoin its cluster. The undo goes on. The next landing lets the node in again, but its labels may be lost: the log lists them. Cause: %s", message.Detail(err)))
	return nil
}
