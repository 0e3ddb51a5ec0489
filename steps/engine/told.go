package engine

import (
	"errors"
	"io/fs"
	"path/filepath"

	"touchdown/backend/layout"
)

// ChecksTold are the IDs of the checks that the journal of a state folder tells of; none where there is no journal. It changes nothing, and
// needs no engine.
func ChecksTold(dir string) (map[string]bool, error) {
	data, err := readKept(filepath.Join(dir, layout.JournalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	told := map[string]bool{}
	for _, e := range readJournal(data).events {
		if e.Check != nil {
			told[e.Check.ID] = true
		}
	}
	return told, nil
}
