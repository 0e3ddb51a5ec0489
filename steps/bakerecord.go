package steps

import (
	"context"

	"touchdown/backend/message"

	"touchdown/backend"
	"touchdown/backend/factory"
	"touchdown/backend/layout"
)

// BakeRecord writes down what leaves the factory.
type BakeRecord struct{ Tool string }

var _ Undoer = (*BakeRecord)(nil)

// ID names the step in the journal.
func (*BakeRecord) ID() string { return "bake-record" }

// Title says what the step does.
func (*BakeRecord) Title() message.Text { return message.T("Write the factory's record") }

// Run writes the record where it says something new.
func (s *BakeRecord) Run(ctx context.Context, node *backend.Node, report Report) error {
	c := node.Kube.WithProgress(report.Progress)
	wanted, err := factory.Wanted(ctx, c)
	if err != nil {
		return err
	}
	r, err := factory.MakeRecord(ctx, node.Host, c, wanted, s.Tool, node.Now())
	if err != nil {
		return err
	}
	changed, err := factory.SaveRecord(node.Host, r)
	if changed && err == nil {
		report.Say(message.F("%s is written.", layout.FactoryRecord))
	}
	return err
}

// Undo removes the record.
func (*BakeRecord) Undo(_ context.Context, node *backend.Node, _ Report) error {
	return node.Host.Remove(layout.FactoryRecord)
}
