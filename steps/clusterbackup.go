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

// restoreNote tells how far putting the cluster's backup back is: a letter for each time. It is that of the backup when it is begun
// and "d" when it is done.
const restoreNote = "restore"

// source is a backup of the cluster.
type source struct {
	folder string
	letter byte // in restoreNote
}

// backups are those that can be put back: the one that this landing may use up, and the one from before an earlier landing.
var backups = []source{{layout.ClusterBackup, 'b'}, {kubelet.Kept, 'k'}}

// mostRestores is how often the backup is put back in one landing: a disk that damages the database a third time is broken.
const mostRestores = 2

// keepBackup makes the backup of a cluster of which nothing runs, where it has none since it was stopped. The work goes on without
// one: it is needed only where the power fails at a bad moment.
func keepBackup(ctx context.Context, node *backend.Node, report Report) error {
	report.Progress(Progress{Waiting: message.T("a backup of the cluster's state")})
	var err error
	if !kubelet.Restorable(node.Host, layout.ClusterBackup) {
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
	c := Check{ID: "cluster-backup", Title: message.T("Backup of the cluster's state"), Status: check.Pass, Observed: message.Data(layout.ClusterBackup)}
	if err != nil {
		c.Status, c.Observed, c.Expected = check.Warn, message.Data(err.Error()), message.F("a backup in %s", layout.ClusterBackup)
		c.Fix = message.T("The work goes on without it. Keep the power on until the landing has ended.")
	}
	report.Check(c)
}

// await waits for the API. Where a loss of power has damaged the cluster's database, it offers to put a backup back.
func (s *Kubelet) await(ctx context.Context, node *backend.Node, report Report, wait func() error) error {
	for {
		err := wait()
		if err == nil {
			return nil
		}
		from, there := s.restorable(node, report, err)
		if !there {
			return err
		}
		answer, asked := report.Ask(ctx, from.question())
		switch {
		case asked != nil:
			return fmt.Errorf("asking about the backup of the cluster: %w", asked)
		case answer != putItBack:
			return err
		}
		if err := s.restore(ctx, node, report, from); err != nil {
			return err
		}
	}
}

// putItBack is the answer that allows it.
const putItBack = "restore"

// question asks whether the backup is put back. Nothing is lost with the one of this landing; the one from before an earlier landing
// takes from people what they have done since, so that only a person, or the site config in so many words, says yes to it.
func (f source) question() Question {
	q := Question{
		ID: "cluster-restore", Text: message.T("The cluster's database is damaged. Put its backup back?"),
		Detail:  message.F("The power failed while the database was being written, and now it does not start. The backup is from before the cluster was started here. With it the cluster starts again, the work goes on, and nothing is lost. The damaged files are kept in %s.", kubelet.Damaged),
		Choices: []Choice{{putItBack, message.T("Yes, put the backup back")}, {"stop", message.T("No, stop here")}}, Default: putItBack, Deadline: 300,
	}
	if f.folder == kubelet.Kept {
		q.ID, q.Text = "cluster-reset", message.T("The cluster's database is damaged. Put the cluster back as it was before its landing?")
		q.Detail = message.F("The power failed while the database was being written, and now it does not start. The only backup on this node is from before its landing. With it the cluster starts again and is landed again, but applications, users and settings that were added since are lost. The damaged files are kept in %s: support may be able to save more.", kubelet.Damaged)
		q.Default, q.Deadline = "stop", 0
	}
	return q
}

// restorable tells whether err is a damaged database, and which backup that is not used up helps.
func (s *Kubelet) restorable(node *backend.Node, report Report, err error) (source, bool) {
	p, ok := errors.AsType[*problem.Problem](err)
	done, noted := restores(report)
	opened, saved := s.opened(report)
	if !ok || p.Code != kubelet.Torn || errors.Join(noted, saved) != nil || len(done) >= mostRestores {
		return source{}, false
	}
	for _, from := range backups {
		if (opened || from.folder == kubelet.Kept) && kubelet.Restorable(node.Host, from.folder) {
			return from, true
		}
	}
	return source{}, false
}

// opened tells whether this landing opened the kubelet's gate: else the cluster was in use before, and its backup is old.
func (*Kubelet) opened(report Report) (bool, error) {
	_, opened, err := savedAt(report, "gate")
	return opened, err
}

// restore puts the backup back and starts the cluster from it.
func (*Kubelet) restore(ctx context.Context, node *backend.Node, report Report, from source) error {
	done, err := restores(report)
	if err != nil {
		return err
	}
	if n := len(done); n == 0 || done[n-1] == 'd' {
		done = append(done, from.letter)
	}
	if err := report.Note(restoreNote, done); err != nil {
		return fmt.Errorf("noting that the backup goes back: %w", err)
	}
	report.Progress(Progress{Waiting: message.T("the backup of the cluster to be put back")})
	if err := kubelet.Restore(ctx, node.Host, from.folder); err != nil {
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
	if err != nil {
		return err
	}
	for _, from := range backups {
		if slices.Contains(done, from.letter) {
			return s.restore(ctx, node, report, from)
		}
	}
	return nil
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
	from, there := s.restorable(node, report, kubelet.Damage(node.Host))
	if !there || from.folder == kubelet.Kept { // what people did since the landing is no undo's to take
		return nil
	}
	return s.restore(ctx, node, report, from)
}

func restores(report Report) ([]byte, error) {
	done, _, err := notedAt(report, restoreNote)
	if err != nil {
		return nil, fmt.Errorf("reading whether the backup was put back: %w", err)
	}
	return done, nil
}
