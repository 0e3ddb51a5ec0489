package engine

import (
	"fmt"

	"touchdown/backend/layout"
	"touchdown/steps/session"
)

// mayLook refuses the engine of a dry run where a job is under way, before anything is taken up: any other engine would go on with the job.
// Its error is a session.ErrState. A journal that cannot be read, or that another release wrote, is no reason to refuse here: the engine reports it when it opens the journal.
func mayLook(folder *stateFolder) error {
	data, err := readKept(folder.path(layout.JournalFile))
	if err != nil {
		return nil //nolint:nilerr // there is none, or openJournal tells why
	}
	job := newJob()
	for _, e := range readJournal(data).events {
		job.apply(e)
	}
	if underWay(job.state) {
		return fmt.Errorf("%w: a job on this node was interrupted (%s), and any run without --dry-run goes on with it; touchdown status shows it", session.ErrState, job.state)
	}
	return nil
}
