package steps

import (
	"context"
	"errors"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
)

// restoreNote tells how far putting the cluster's backup back is: a letter for each time.
const (
	restoreNote = "restore"

	restoreBegun = 'b' // nothing may start before the backup is whole
	restoreBack  = 'r' // the cluster can start from it
	restoreDone  = 'd' // it was started
)

// mostRestores is how often the backup is put back in one landing: a disk that damages the database a third time is broken.
const mostRestores = 2

// keepBackup makes the backup of a cluster of which nothing runs, where it has none since it was stopped. The work goes on without
// one: it is needed only where the power fails at a bad moment.
func keepBackup(ctx context.Context, node *backend.Node, report Report) error {
	report.Progress(progress.Progress{Waiting: message.T("a backup of the cluster's state")})
	var err error
	if !kubelet.Restorable(node.Host) {
		err = kubelet.Save(ctx, node.Host)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("making a backup of the cluster: %w", context.Cause(ctx))
	}
	backupCheck(report, err)
	return nil
}

// backupCheck tells whether there is a backup, and why there is none.
func backupCheck(report Report, err error) {
	c := check.Check{ID: "cluster-backup", Title: message.T("Backup of the cluster's state"), Status: check.Pass, Observed: message.Data(layout.ClusterBackup)}
	if err != nil {
		c.Status, c.Observed, c.Expected = check.Warn, message.Detail(err), message.F("a backup in %s", layout.ClusterBackup)
		c.Fix = message.T("The work goes on without it. Keep the power on until the landing has ended.")
	}
	report.Check(c)
}

// awaitAPI waits for the API. Where a loss of power has damaged the cluster's database, it offers to put the backup back.
func awaitAPI(ctx context.Context, node *backend.Node, report Report, wait func() error) error {
	for {
		err := wait()
		if err == nil || !canRestore(node, report, err) {
			return err
		}
		if full := kubelet.Room(ctx, node.Host); full != nil {
			p := *problem.From(err)
			p.Fix = message.F("The backup in %s would help, but cannot be put back: %s. Free some space on /var, then retry.", layout.ClusterBackup, full)
			return &p
		}
		answer, asked := report.Ask(ctx, restoreQuestion())
		switch {
		case asked != nil:
			return fmt.Errorf("asking about the backup of the cluster: %w", asked)
		case answer != putItBack:
			return err
		}
		if err := restoreBackup(ctx, node, report); err != nil {
			return err
		}
	}
}

// putItBack is the answer that allows it.
const putItBack = "restore"

// restoreQuestion asks whether the backup is put back: nothing is lost with it, and with nobody there the work goes on.
func restoreQuestion() Question {
	return Question{
		ID: "cluster-restore", Text: message.T("The cluster's database is damaged. Put its backup back?"),
		Detail:  message.F("The power failed while the database was being written, and now it does not start. The backup is from before the cluster was started here. With it the cluster starts again, the work goes on, and nothing is lost. The damaged files are kept in %s.", kubelet.Damaged),
		Choices: []Choice{{putItBack, message.T("Yes, put the backup back")}, {"stop", message.T("No, stop here")}}, Default: putItBack, Deadline: 300,
	}
}

// canRestore tells whether err is a damaged database, and the backup is that of the cluster which this landing started. One that was
// in use before has none: it would take from people what they have done since.
func canRestore(node *backend.Node, report Report, err error) bool {
	p, ok := errors.AsType[*problem.Problem](err)
	done, noted := restores(report)
	opened, saved := gateOpened(report)
	return ok && p.Code == kubelet.Torn && errors.Join(noted, saved) == nil && opened && len(done) < mostRestores && kubelet.Restorable(node.Host)
}

// gateOpened tells whether this landing opened the kubelet's gate.
func gateOpened(report Report) (bool, error) {
	_, opened, err := savedAt(report, "gate")
	return opened, err
}

// restoreBackup puts the backup back and starts the cluster from it.
func restoreBackup(ctx context.Context, node *backend.Node, report Report) error {
	done, err := restores(report)
	if err != nil {
		return err
	}
	if err := noteRestores(report, append(done, restoreBegun)); err != nil {
		return err
	}
	return resumeRestore(ctx, node, report)
}

// resumeRestore ends a restore that has begun, after a loss of power too.
func resumeRestore(ctx context.Context, node *backend.Node, report Report) error {
	done, err := restores(report)
	last := len(done) - 1
	if err != nil || last < 0 || done[last] == restoreDone {
		return err
	}
	if done[last] == restoreBegun {
		report.Progress(progress.Progress{Waiting: message.T("the backup of the cluster to be put back")})
		if err := kubelet.Restore(ctx, node.Host); err != nil {
			return fmt.Errorf("putting the backup of the cluster back: %w", err)
		}
		done[last] = restoreBack
		if err := noteRestores(report, done); err != nil {
			return err
		}
		report.Say(message.F("The cluster's database was damaged. Its backup is back, and the cluster starts from it. The damaged files are in %s.", kubelet.Damaged))
	}
	if err := kubelet.Release(ctx, node.Host); err != nil {
		return err
	}
	done[last] = restoreDone
	return noteRestores(report, done)
}

func restores(report Report) ([]byte, error) {
	done, _, err := notedAt(report, restoreNote)
	if err != nil {
		return nil, fmt.Errorf("reading whether the backup was put back: %w", err)
	}
	return done, nil
}

func noteRestores(report Report, done []byte) error {
	if err := report.Note(restoreNote, done); err != nil {
		return fmt.Errorf("noting how far putting the backup back is: %w", err)
	}
	return nil
}
