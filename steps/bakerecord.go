package steps

import (
	"context"
	"errors"

	"touchdown/backend"
	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
	"touchdown/backend/message"
)

// bakeRecord writes down what leaves the factory, and lays the keys for site media and for releases, if there are any.
type bakeRecord struct {
	Tool     string
	Keys     mediaKeys
	Releases releaseKeys
}

var _ interface {
	Planner
	Undoer
} = (*bakeRecord)(nil)

// ID names the step in the journal.
func (*bakeRecord) ID() string { return "bake-record" }

// Title says what the step does.
func (*bakeRecord) Title() message.Text { return message.T("Write the factory's record") }

// Plan tells the keys.
func (s *bakeRecord) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	media, err := s.Keys.plan(node)
	if err != nil {
		return Plan{}, err
	}
	releases, err := s.Releases.plan(node)
	return Plan{Changes: append(media.Changes, releases.Changes...)}, err
}

// Run writes the record where it says something new.
func (s *bakeRecord) Run(ctx context.Context, node *backend.Node, report Report) error {
	if err := errors.Join(s.Keys.lay(node, report), s.Releases.lay(node, report)); err != nil {
		return err
	}
	if kubelet.Gated(node.Host) && host.HasKubelet(node.Host) { // it was written before the node was armed, and the API is away
		return nil
	}
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

// Undo removes the record and the keys.
func (s *bakeRecord) Undo(_ context.Context, node *backend.Node, report Report) error {
	if err := s.Keys.takeAway(node, report); err != nil {
		return err
	}
	return node.Host.Remove(layout.FactoryRecord)
}
