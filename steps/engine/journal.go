package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/event"
)

// journalFormat is the first line of every journal; like every other line it ends with its checksum.
const journalFormat = `{"journal":"touchdown/v2","crc":"ede84ed7"}`

// journalV1 is the first line of the previous release's journals, whose records have no checksum.
const journalV1 = `{"journal":"touchdown/v1"}`

// maxJournalLine bounds one record. The largest record is a check with evidence, a few KiB, and Masker.event bounds what
// backends write.
const maxJournalLine = 1 << 20

// journalFile is what the journal needs of a file; a test puts a full disk in its place.
type journalFile interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
}

// journal is the event stream on disk, one JSON record a line.
type journal struct {
	file journalFile
	size int64   // bytes known to be whole records
	torn bool    // something else may follow them
	read reading // what was found when it was opened
}

// shut stands for a file that cannot be opened for writing.
type shut struct{ err error }

func (s shut) Write([]byte) (int, error) { return 0, s.err }
func (s shut) Sync() error               { return s.err }
func (s shut) Truncate(int64) error      { return nil }
func (s shut) Close() error              { return nil }

// orShut is a file that was opened, or what fails with the reason why it was not.
func orShut(file *os.File, err error) journalFile {
	if err != nil {
		return shut{err}
	}
	return file
}

// openJournal reads the journal at path, creating it when absent, and returns its events. A last record cut
// short by a power failure is removed, because appending to it would glue two records together. Of a damaged journal the
// records that can be read are taken; as it was found it is kept in a file beside it, named in damage. Only a journal of
// another version is an error.
func openJournal(path string) (j *journal, events []event.Event, damage string, err error) {
	data, readErr := readKept(path)
	file, damage, openErr := openOwn(path, os.O_APPEND)
	unread := readErr != nil && !errors.Is(readErr, fs.ErrNotExist) // perhaps a disk that gives no more of it
	if openErr == nil && damage == "" && unread {
		if damage, _ = putAside(path, ".damaged"); damage != "" {
			file.Close()
			file, _, openErr = openOwn(path, os.O_APPEND)
		}
	}
	j = &journal{file: orShut(file, openErr), read: readJournal(data)}
	j.read.gone = unread || damage != ""
	j.size = j.read.good
	switch {
	case j.read.foreign != "":
		return nil, nil, "", errors.Join(otherVersion(j.read.foreign), j.file.Close())
	case damage != "": // the file is a new one
		if j.size = 0; j.read.good > maxKept/2 || j.replace(path) != nil { // one that large would soon be too large again
			_ = j.start(path) // what cannot be written now fails when something is recorded, and is told then
		}
	case j.read.bad > 0 || j.read.old:
		damage = j.renew(path, data)
	default:
		_ = j.start(path)
	}
	return j, j.read.events, damage, nil
}

// start cuts off what is not a whole record and writes the first line of a new journal.
func (j *journal) start(path string) error {
	if err := j.rewind(); err != nil {
		return err
	}
	if j.size > 0 {
		return nil
	}
	if err := j.write([]byte(journalFormat+"\n"), true); err != nil {
		return err
	}
	return host.SyncDir(filepath.Dir(path))
}

// renew replaces a damaged journal, or one of the previous release, by the records that were read. It returns where the
// damaged one is kept. Where the disk lets it do neither, the journal stays and is found again by the next engine.
func (j *journal) renew(path string, data []byte) (damage string) {
	if j.read.bad > 0 {
		name, err := asideName(path, ".damaged")
		if err == nil && (os.Link(path, name) == nil || host.WriteFileAtomic(name, data, 0o600) == nil) {
			damage = name
		}
	}
	if j.read.bad > 0 && damage == "" || j.replace(path) != nil {
		_ = j.rewind()
	}
	return damage
}

// replace puts a journal with the records that were read in the place of the one that was found.
func (j *journal) replace(path string) error {
	whole := bytes.Join(append([][]byte{[]byte(journalFormat + "\n")}, j.read.lines...), nil)
	if err := host.WriteFileAtomic(path, whole, 0o600); err != nil {
		return err
	}
	_ = j.file.Close() // nobody finds it any more
	file, _, err := openOwn(path, os.O_APPEND)
	j.file, j.size = orShut(file, err), int64(len(whole))
	return nil
}

func otherVersion(first string) error {
	return &problem.Problem{
		Code: "JRN-FRMT", Summary: message.T("The journal was written by another version of Touchdown."),
		Fix: message.T("Finish the job with the version that began it, or move the state folder aside to start again."),
		Err: fmt.Errorf("first line of the journal is %.60q", first),
	}
}

// append adds a record, which is on the disk before it returns. One that could not be
// written whole leaves the journal as it was.
func (j *journal) append(e event.Event) error {
	record, err := json.Marshal(downgraded(e))
	if err != nil {
		return fmt.Errorf("encoding a journal record: %w", err)
	}
	line := seal(record)
	if len(line) > maxJournalLine {
		return fmt.Errorf("a journal record of %d bytes is too long", len(line))
	}
	if j.size == 0 { // its first line could not be written when it was opened
		line = append([]byte(journalFormat+"\n"), line...)
	}
	return j.write(line, true)
}

func (j *journal) write(line []byte, durable bool) error {
	if j.torn {
		if err := j.rewind(); err != nil {
			return journalProblem(err)
		}
	}
	_, err := j.file.Write(line)
	if err == nil && durable {
		err = j.file.Sync()
	}
	if err != nil {
		return errors.Join(journalProblem(err), j.rewind())
	}
	j.size += int64(len(line))
	return nil
}

// rewind cuts off what is not a whole record; the file is open for appending, so the next record follows the last whole one.
func (j *journal) rewind() error {
	err := j.file.Truncate(j.size)
	if j.torn = err != nil; j.torn {
		return fmt.Errorf("cutting the journal: %w", err)
	}
	return nil
}

func journalProblem(err error) error {
	if errors.Is(err, syscall.EROFS) {
		return problem.ReadOnly(message.T("The file system of the state folder is read-only, so the work stopped before its next change."), err)
	}
	p := &problem.Problem{
		Code: "JRNL-ERR", Summary: message.T("The journal cannot be written, so the work stopped before its next change."),
		Fix: message.T("Look at the disk that holds the state folder, then retry."), Err: err,
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		p.Code = "DSK-FULL"
		p.Summary = message.T("The disk is full, so the work stopped before its next change.")
		p.Fix = message.T("Free at least 64 MiB on the disk that holds the state folder, then retry.")
	}
	return p
}
