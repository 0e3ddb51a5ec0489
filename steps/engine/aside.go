package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"touchdown/backend/message"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/backend/report"
)

// What of a job at a site is set aside, by name or pattern below the state folder. The checksums go with what they are about, and so
// does the key: a folder of records is a whole state folder.
var asideFiles = []string{
	layout.JournalFile, "sums.jsonl", "key", "site.yaml", "sources.json", "live.json",
	report.TextFile, report.JSONFile, report.JUnitFile, report.HostsFile, report.Sums, report.SignedFile, report.FollowedFile,
	filepath.Base(layout.DiskTest), "engine.log*", "*.damaged*", "*.unreadable*",
}

// What belongs to the site alone, and to none of its records. The next site has its own PIN; until then that of the bake counts.
var wipedAside = []string{"console-lock.json", "console-before.json", "console-wrong"}

// asideMark is in layout.ReturnedFolder from the moment at which a job is given up for good until all its records have moved.
const asideMark = "under-way"

// SetAside ends the job at a site for good, and moves its records into a dated folder below layout.ReturnedFolder, whose path it returns.
// Nothing removes that. It needs an engine that has ended, and a job that nothing can be undone of: one that was undone, was handed over, or
// never began. Secrets and originals are wiped. then is called when the records have moved; what a power cut leaves of both, FinishAside does.
func SetAside(dir string, now time.Time, then func() error) (folder string, err error) {
	if folder, err := FinishAside(dir, now, then); folder != "" || err != nil {
		return folder, err
	}
	s, err := openStore(dir)
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
	name := newAside(s.dir, now)
	mark, err := json.Marshal(map[string]string{"folder": name})
	if err != nil {
		return "", fmt.Errorf("encoding the folder of records: %w", err)
	}
	if err := os.MkdirAll(s.path(layout.ReturnedFolder), 0o700); err != nil {
		return "", fmt.Errorf("making the folder of records: %w", err)
	}
	if err := host.SyncDir(s.dir); err != nil {
		return "", err
	}
	if err := host.WriteFileAtomic(s.path(layout.ReturnedFolder, asideMark), append(mark, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("noting that the records move: %w", err)
	}
	return s.moveAside(name, then)
}

// FinishAside goes on with a SetAside that was cut off, and returns its folder; "" where none was. No engine may start before it.
func FinishAside(dir string, now time.Time, then func() error) (folder string, err error) {
	name, begun := asideBegun(dir, now)
	if !begun {
		return "", nil
	}
	lock, err := takeLock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer lock.Close()
	s := &store{dir: dir, lock: lock, sums: &sums{}}
	return s.moveAside(name, then)
}

// AsideBegun tells whether a SetAside was cut off.
func AsideBegun(dir string) bool {
	_, begun := asideBegun(dir, time.Time{})
	return begun
}

// asideBegun is the folder into which records are on their way. A mark that a disk has damaged says that they are, but not where to.
func asideBegun(dir string, now time.Time) (name string, begun bool) {
	text, err := readKept(filepath.Join(dir, layout.ReturnedFolder, asideMark))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	var mark struct{ Folder string }
	if err != nil || json.Unmarshal(text, &mark) != nil || !layout.IsReturn(mark.Folder) {
		return newAside(dir, now), true
	}
	return mark.Folder, true
}

// newAside is a name that no folder of records has yet.
func newAside(dir string, now time.Time) string {
	day := now.UTC().Format(time.DateOnly)
	for name, n := day, 2; ; name, n = fmt.Sprintf("%s-%d", day, n), n+1 {
		if _, err := os.Lstat(filepath.Join(dir, layout.ReturnedFolder, name)); err != nil {
			return name
		}
	}
}

// mayGoAside tells why the records of the job have to stay.
func mayGoAside(s *store) error {
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
			Code: RecordsLost, Summary: message.T("Records of the job at the site were damaged or lost, so it is not certain how it ended."),
			Fix: message.T("Restart the engine (systemctl restart touchdown-engine), continue or undo at its console, then run the same command again."),
		}
	case len(read.events) == 0:
		return NothingToReturn()
	case j.state == IsUndone, j.handedOver && !underWay(j.state), !j.touched():
		return nil
	}
	return &problem.Problem{
		Code: "FAC-BUSY", Summary: message.F("The landing of this node has not ended, or has stopped on its way (%s).", j.state),
		Fix: message.T("Let it come to its end at the wizard, or undo it with `touchdown undo`; then run the same command again."),
	}
}

// NothingToReturn is the problem of a node that has no records of a site.
func NothingToReturn() error {
	return &problem.Problem{
		Code: "FAC-NEW", Summary: message.T("This node has not been at a site: it has no records to set aside."),
		Fix: message.T("Run `touchdown factory`, or `touchdown factory --reopen` where the node is sealed."),
	}
}

// moveAside moves what has not moved yet. Each move is whole or has not happened, so it can be cut off anywhere and called again.
func (s *store) moveAside(name string, then func() error) (folder string, err error) {
	s.sums.close()
	folder = s.path(layout.ReturnedFolder, name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("making the folder of records: %w", err)
	}
	for _, file := range wipedAside {
		if err := host.Wipe(s.path(file)); err != nil {
			return "", err
		}
	}
	for _, pattern := range asideFiles {
		found, err := filepath.Glob(s.path(pattern))
		if err != nil {
			return "", fmt.Errorf("looking for records: %w", err)
		}
		for _, file := range found {
			if err := os.Rename(file, freeName(filepath.Join(folder, filepath.Base(file)))); err != nil {
				return "", fmt.Errorf("moving a record: %w", err)
			}
		}
	}
	for _, dir := range []string{folder, s.path(layout.ReturnedFolder), s.dir} {
		if err := host.SyncDir(dir); err != nil {
			return "", err
		}
	}
	if err := then(); err != nil {
		return "", err
	}
	mark := s.path(layout.ReturnedFolder, asideMark)
	if err := os.Remove(mark); err != nil {
		return "", fmt.Errorf("noting that the records have moved: %w", err)
	}
	return folder, host.SyncDir(filepath.Dir(mark))
}

// freeName is a path that nothing has: what an engine wrote after a cut takes no record's place.
func freeName(path string) string {
	name := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d", path, n)
	}
}
