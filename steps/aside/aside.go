// Package aside moves the records of a job at a site into a separate folder when the node comes back to the factory. The caller
// holds the lock of the state folder.
package aside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/report"
)

// records are what moves, by name or pattern below the state folder. The checksums go with what they are about, and so does the key: a
// folder of records is a whole state folder.
var records = []string{
	layout.JournalFile, "sums.jsonl", "key", "site.yaml", "sources.json", "live.json", layout.Transcript, layout.EarlierTranscript,
	report.TextFile, report.JSONFile, report.JUnitFile, report.HostsFile, report.Sums, report.SignedFile, report.FollowedFile,
	filepath.Base(layout.DiskTest), "engine.log*", "*.damaged*", "*.unreadable*",
}

// wiped are files that belong to the site alone, and to none of its records. The next site has its own PIN; until then that of the bake
// counts.
var wiped = []string{"console-lock.json", "console-before.json", "console-wrong"}

// markFile is in layout.ReturnedFolder from the moment at which a job is given up for good until all its records have moved.
const markFile = "under-way"

// NothingToReturn is the problem of a node that has no records of a site.
func NothingToReturn() error {
	return &problem.Problem{
		Code: "FAC-NEW", Summary: message.T("This node has not been at a site: it has no records to set aside."),
		Fix: message.T("Run `touchdown factory`, or `touchdown factory --reopen` where the node is sealed."),
	}
}

// Begin gives a job up for good, durably: from now on its records move, whatever happens. It returns the name of their folder.
func Begin(state string, now time.Time) (name string, err error) {
	name = layout.NextReturn(state, now)
	mark, err := json.Marshal(map[string]string{"folder": name})
	if err != nil {
		return "", fmt.Errorf("encoding the folder of records: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(state, layout.ReturnedFolder), 0o700); err != nil {
		return "", fmt.Errorf("making the folder of records: %w", err)
	}
	if err := host.SyncDir(state); err != nil {
		return "", err
	}
	if err := host.WriteFileAtomic(filepath.Join(state, layout.ReturnedFolder, markFile), append(mark, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("noting that the records move: %w", err)
	}
	return name, nil
}

// Begun is the folder into which records are on their way; "" when none are. A mark that a disk has damaged says that they are, but not
// where to.
func Begun(state string, now time.Time) (name string) {
	text, _, err := host.ReadRegular(filepath.Join(state, layout.ReturnedFolder, markFile), 1<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	var mark struct{ Folder string }
	if err != nil || json.Unmarshal(text, &mark) != nil || !layout.IsReturn(mark.Folder) {
		return layout.NextReturn(state, now)
	}
	return mark.Folder
}

// unused is a path that nothing has: what was written after a cut takes no record's place.
func unused(path string) string {
	name := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d", path, n)
	}
}

// Move moves what has not moved yet, and calls then. Each move is whole or has not happened, so it can be cut off anywhere and called again
// with the name that Begun returns. Its folder is never removed.
func Move(state, name string, then func() error) (folder string, err error) {
	folder = filepath.Join(state, layout.ReturnedFolder, name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("making the folder of records: %w", err)
	}
	for _, file := range wiped {
		if err := host.Wipe(context.Background(), filepath.Join(state, file)); err != nil {
			return "", err
		}
	}
	for _, pattern := range records {
		found, err := filepath.Glob(filepath.Join(state, pattern))
		if err != nil {
			return "", fmt.Errorf("looking for records: %w", err)
		}
		for _, file := range found {
			if err := os.Rename(file, unused(filepath.Join(folder, filepath.Base(file)))); err != nil {
				return "", fmt.Errorf("moving a record: %w", err)
			}
		}
	}
	for _, dir := range []string{folder, filepath.Dir(folder), state} {
		if err := host.SyncDir(dir); err != nil {
			return "", err
		}
	}
	if err := then(); err != nil {
		return "", err
	}
	if err := os.Remove(filepath.Join(filepath.Dir(folder), markFile)); err != nil {
		return "", fmt.Errorf("noting that the records have moved: %w", err)
	}
	return folder, host.SyncDir(filepath.Dir(folder))
}
