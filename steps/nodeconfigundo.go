package steps

import (
	"context"

	"touchdown/backend"
	"touchdown/backend/message"
)

// Undo puts all of it back, in one batch too.
func (s *nodeConfig) Undo(ctx context.Context, node *backend.Node, report Report) error {
	return undoBatch(ctx, node, report, s.Timeouts)
}

// PrepareUndo puts back a batch that did not end, before any other step is undone: the node would take its changes with the first one's.
func (s *nodeConfig) PrepareUndo(ctx context.Context, node *backend.Node, report Report) error {
	half, err := s.Half(report)
	if err != nil || half.String() == "" {
		return err
	}
	return s.Undo(ctx, node, report)
}

// Half tells of a batch that did not end.
func (*nodeConfig) Half(report Report) (message.Text, error) { return poolHalf(report) }

// Abandon puts the batch back, which ends the pause.
func (s *nodeConfig) Abandon(ctx context.Context, node *backend.Node, report Report) error {
	return s.Undo(ctx, node, report)
}
