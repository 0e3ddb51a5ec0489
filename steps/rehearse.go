package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"touchdown/backend"
	"touchdown/backend/images"
	"touchdown/backend/message"
	"touchdown/backend/progress"
)

// rehearsal starts the node with no registry and nothing but the seeded store, and looks whether all of it comes back. The node
// reboots twice. A rehearsal that passed is not repeated while the store holds the same images.
type rehearsal struct{}

var _ Planner = (*rehearsal)(nil)

// ID names the step in the journal.
func (*rehearsal) ID() string { return "rehearse" }

// Title says what the step does.
func (*rehearsal) Title() message.Text { return message.T("Rehearse a start without registries") }

// Plan tells the two reboots. Whether the seeding before it changes the store is not known yet.
func (*rehearsal) Plan(context.Context, *backend.Node) (Plan, error) {
	return Plan{Seconds: 2 * rebootSeconds, Disturbances: []Disturbance{{
		What: message.T("two reboots"), Cause: message.T("one start without registries, then one as usual"), Seconds: 2 * rebootSeconds,
	}}}, nil
}

// Run asks for the rehearsal and reboots, and judges it once the node is back to normal.
func (s *rehearsal) Run(ctx context.Context, node *backend.Node, report Report) error {
	if err := afterRehearsal(ctx, node, report); err != nil {
		return err
	}
	r, done, err := s.last(node, report)
	if err != nil {
		return err
	}
	if !done {
		if err := ask(ctx, node, report); err != nil {
			return err
		}
		return &Reboot{message.T("a rehearsal: a start with no registry and nothing but the seeded store")}
	}
	report.Check(r.Check())
	if r.Passed() {
		return nil
	}
	return report.Note("asked", []byte("over")) // a retry rehearses again
}

// last is the rehearsal that counts: of the store as it is now, and either passed or asked for by this step.
func (*rehearsal) last(node *backend.Node, report Report) (r images.Rehearsal, done bool, err error) {
	r, err = images.LoadRehearsal(node.Host)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil || !r.Over() {
		return r, false, err
	}
	now, err := images.LoadStatus(node.Host)
	if err != nil {
		return r, false, err
	}
	asked, _, err := notedAt(report, "asked")
	if err != nil {
		return r, false, err
	}
	ours := string(asked) == r.Asked.Format(time.RFC3339Nano)
	return r, r.Generation == now.Generation && (r.Passed() || ours), nil
}

// ask notes what the node runs now, all of which has to come back.
func ask(ctx context.Context, node *backend.Node, report Report) error {
	here, err := images.Open(node.Host, node.Kube.WithProgress(report.Progress), node.Now)
	if err != nil {
		return fmt.Errorf("reaching CRI-O: %w", err)
	}
	defer here.Close()
	list, err := wantedImages(ctx, node, here, images.Listing{Offline: true}, report)
	if err != nil {
		return err
	}
	r, err := here.AskRehearsal(ctx, list)
	if err != nil {
		return err
	}
	report.Say(message.F("The node reboots for a rehearsal: %d pods have to come back without a registry.", len(r.Pods)))
	return report.Note("asked", []byte(r.Asked.Format(time.RFC3339Nano)))
}

// afterRehearsal waits while the node is in the boot of a rehearsal: registries are blocked and CRI-O's own store is covered,
// so nothing may be seeded or judged. That boot ends automatically (touchdown-images-check.service), with it this wait.
func afterRehearsal(ctx context.Context, node *backend.Node, report Report) error {
	for {
		r, err := images.LoadRehearsal(node.Host)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !r.Running() {
			return nil
		}
		report.Progress(progress.Progress{Waiting: message.T("the end of the rehearsal; the node reboots automatically"), Usual: 600})
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(2 * time.Second):
		}
	}
}
