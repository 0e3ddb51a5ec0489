package steps

import (
	"context"

	"touchdown/backend/message"

	"touchdown/backend"
	"touchdown/backend/factory"
)

// BakeArm shuts the gate in front of kubelet: the next boot waits for the site.
type BakeArm struct{}

var _ Undoer = (*BakeArm)(nil)

// ID names the step in the journal.
func (*BakeArm) ID() string { return "bake-arm" }

// Title says what the step does.
func (*BakeArm) Title() message.Text { return message.T("Arm the node") }

// Run shuts it; kubelet goes on until the node is switched off.
func (*BakeArm) Run(_ context.Context, node *backend.Node, report Report) error {
	changed, err := factory.Arm(node.Host)
	if changed && err == nil {
		report.Say(message.T("The node is armed: from its next boot on it waits for its site."))
	}
	return err
}

// Undo opens it and starts kubelet, which the steps before need.
func (*BakeArm) Undo(ctx context.Context, node *backend.Node, report Report) error {
	changed, err := factory.Disarm(ctx, node.Host)
	if changed && err == nil {
		report.Say(message.T("The node is not armed any more; its cluster starts."))
	}
	return err
}
