package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"touchdown/backend/message"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
)

// restoreNote tells how far putting the cluster's backup back is: a letter for each time, "b" begun and "d" done.
const restoreNote = "restore"

// mostRestores is how often the backup is put back in one landing: a disk that damages the database a third time is broken.
const mostRestores = 2

// save makes the cluster's backup before it starts. A landing goes on without one: it is needed only where the power fails at a
// bad moment.
func (s *Kubelet) save(ctx context.Context, node *backend.Node, report Report) error {
	const id, title = "cluster-backup", "Backup of the cluster's state"
	report.Progress(Progress{Waiting: message.T("a backup of the cluster's state")})
	err := kubelet.Save(ctx, node.Host)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("making a backup of the cluster: %w", context.Cause(ctx))
	case err != nil:
		report.Check(Check{
			ID: id, Title: message.T(title), Status: check.Warn, Observed: message.Data(err.Error()), Expected: message.F("a backup in %s", layout.ClusterBackup),
			Fix: message.T("The landing goes on without it. Keep the power on until it has ended."),
		})
	default:
		report.Check(Check{ID: id, Title: message.T(title), Status: check.Pass, Observed: message.Data(layout.ClusterBackup)})
	}
	return nil
}

// await waits for the API. Where a loss of power has damaged the cluster's database, it offers to put the backup back.
func (s *Kubelet) await(ctx context.Context, node *backend.Node, report Report, wait func() error) error {
	for {
		err := wait()
		if err == nil || !s.restorable(node, report, err) {
			return err
		}
		const yes, no = "restore", "stop"
		answer, asked := report.Ask(ctx, Question{
			ID: "cluster-restore", Text: message.T("The cluster's database is damaged. Put its backup back?"),
			Detail:  message.F("The power failed while the database was being written, and now it does not start. The backup is from before the cluster was started here. With it the cluster starts again, the work goes on, and nothing is lost. The damaged files are kept in %s.", kubelet.Damaged),
			Choices: []Choice{{yes, message.T("Yes, put the backup back")}, {no, message.T("No, stop here")}}, Default: yes, Deadline: 300,
		})
		switch {
		case asked != nil:
			return fmt.Errorf("asking about the backup of the cluster: %w", asked)
		case answer != yes:
			return err
		}
		if err := s.restore(ctx, node, report); err != nil {
			return err
		}
	}
}

// restorable tells whether err is a damaged database, of which this landing has a backup that is not used up.
func (s *Kubelet) restorable(node *backend.Node, report Report, err error) bool {
	p, ok := errors.AsType[*problem.Problem](err)
	done, noted := restores(report)
	opened, saved := s.opened(report)
	return ok && p.Code == kubelet.Torn && errors.Join(noted, saved) == nil && len(done) < mostRestores && opened && kubelet.Restorable(node.Host)
}

// opened tells whether this landing opened the kubelet's gate: else the cluster was in use before, and its backup is old.
func (*Kubelet) opened(report Report) (bool, error) {
	_, opened, err := savedAt(report, "gate")
	return opened, err
}

// restore puts the backup back and starts the cluster from it.
func (s *Kubelet) restore(ctx context.Context, node *backend.Node, report Report) error {
	done, err := restores(report)
	if err != nil {
		return err
	}
	if n := len(done); n == 0 || done[n-1] == 'd' {
		done = append(done, 'b')
	}
	if err := report.Note(restoreNote, done); err != nil {
		return fmt.Errorf("noting that the backup goes back: %w", err)
	}
	report.Progress(Progress{Waiting: message.T("the backup of the cluster to be put back")})
	if err := kubelet.Restore(ctx, node.Host); err != nil {
		return fmt.Errorf("putting the backup of the cluster back: %w", err)
	}
	done[len(done)-1] = 'd'
	if err := report.Note(restoreNote, done); err != nil {
		return fmt.Errorf("noting that the backup is back: %w", err)
	}
	report.Say(message.F("The cluster's database was damaged. Its backup is back, and the cluster starts from it. The damaged files are in %s.", kubelet.Damaged))
	return kubelet.Release(ctx, node.Host)
}

// resume ends a restore that a loss of power cut off: nothing may start before it is whole.
func (s *Kubelet) resume(ctx context.Context, node *backend.Node, report Report) error {
	done, err := restores(report)
	if err != nil || !slices.Contains(done, 'b') {
		return err
	}
	return s.restore(ctx, node, report)
}

// PrepareUndo puts the backup back where the database does not start: what the steps changed in the cluster is undone with it,
// and without an API none of them could undo it.
func (s *Kubelet) PrepareUndo(ctx context.Context, node *backend.Node, report Report) error {
	if err := s.resume(ctx, node, report); err != nil {
		return err
	}
	if running, _ := node.Kube.Within(formTimeout).Ready(ctx); running || kubelet.Gated(node.Host) {
		return nil
	}
	if err := kubelet.Damage(node.Host); err == nil || !s.restorable(node, report, err) {
		return nil
	}
	return s.restore(ctx, node, report)
}

func restores(report Report) ([]byte, error) {
	done, _, err := notedAt(report, restoreNote)
	if err != nil {
		return nil, fmt.Errorf("reading whether the backup was put back: %w", err)
	}
	return done, nil
}
