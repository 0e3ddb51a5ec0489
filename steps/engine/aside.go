package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/aside"
	"touchdown/steps/view"
)

// SetAside ends the job at a site for good, and moves its records into a dated folder below layout.ReturnedFolder, whose path it returns.
// It needs an engine that has ended, and a job of which nothing can be undone: one that was undone, was handed over, or never began.
// Secrets and originals are wiped. then is called when the records have moved. Where a power cut came in between, it goes on with both,
// and has to before an engine reads the records.
func SetAside(dir string, now time.Time, then func() error) (folder string, err error) {
	if name := aside.Begun(dir, now); name != "" {
		lock, err := takeLock(filepath.Join(dir, "lock"))
		if err != nil {
			return "", err
		}
		defer lock.Close()
		return aside.Move(dir, name, then)
	}
	s, err := openFolder(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := mayGoAside(s); err != nil {
		return "", err
	}
	if err := errors.Join(s.wipeSecrets(), s.wipeSaved()); err != nil {
		return "", err
	}
	name, err := aside.Begin(dir, now)
	if err != nil {
		return "", err
	}
	s.sums.close() // it moves with what it is about
	return aside.Move(dir, name, then)
}

// mayGoAside tells why the records of the job have to stay.
func mayGoAside(s *stateFolder) error {
	data, err := readKept(s.path(layout.JournalFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the journal: %w", err)
	}
	read, j := readJournal(data), newJob()
	if read.foreign != "" {
		return otherVersion(read.foreign)
	}
	for _, e := range read.events {
		j.apply(e)
	}
	lost := len(s.losses) > 0 || read.bad > 0 || s.sums.mark != nil && s.sums.mark.Seq > read.last()
	switch {
	case lost || j.doubtful:
		return &problem.Problem{
			Code: "FAC-RECS", Summary: message.T("Records of the job at the site were damaged or lost, so it is not certain how it ended."),
			Fix: message.T("Restart the engine (systemctl restart touchdown-engine), continue or undo at its console, then run the same command again."),
		}
	case len(read.events) == 0:
		return aside.NothingToReturn()
	case j.state == view.IsUndone, j.handedOver && !underWay(j.state), !j.touched():
		return nil
	}
	return &problem.Problem{
		Code: "FAC-BUSY", Summary: unended(j.state),
		Fix: message.T("Let it come to its end at the wizard, or undo it with `touchdown undo`; then run the same command again."),
	}
}

// unended tells where a landing is that has not ended.
func unended(s view.State) message.Text {
	switch s {
	case view.HasFailed:
		return message.T("The landing of this node has failed, and was not undone.")
	case view.InQuestion:
		return message.T("The landing of this node waits for an answer.")
	case view.Working:
		return message.T("The landing of this node is not finished.")
	case view.UndoingAll:
		return message.T("The landing of this node is being undone.")
	}
	return message.T("The landing of this node has not ended, or has stopped on its way.")
}
