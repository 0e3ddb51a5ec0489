package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"touchdown/backend/problem"
	"touchdown/steps"
)

// journalFormat is the first line of every journal.
const journalFormat = `{"journal":"touchdown/v1"}`

// maxJournalLine bounds one record. The largest record is a check with evidence, a few KiB, and Masker.event bounds what
// backends write; a longer line is damage, not data.
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
	size int64 // bytes known to be whole records
}

// openJournal reads the journal at path, creating it when absent, and returns its events. A last record cut
// short by a power failure is removed, because appending to it would glue two records together. A damaged
// record elsewhere ends what can be trusted: it and what follows are moved to a file beside the journal, named
// in damage. Nothing is lost by that but history: the machine is observed again in any case.
func openJournal(path string) (j *journal, events []steps.Event, damage string, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, "", fmt.Errorf("opening the journal: %w", err)
	}
	events, good, rest, err := readJournal(file)
	if err != nil {
		file.Close()
		return nil, nil, "", err
	}
	if len(bytes.TrimSpace(rest)) > 0 && bytes.Contains(bytes.TrimRight(rest, "\n"), []byte("\n")) {
		damage = path + ".damaged"
		if err := os.WriteFile(damage, rest, 0o600); err != nil {
			file.Close()
			return nil, nil, "", fmt.Errorf("keeping the damaged end of the journal: %w", err)
		}
	}
	j = &journal{file: file, size: good}
	if err := j.start(path); err != nil {
		file.Close()
		return nil, nil, "", err
	}
	return j, events, damage, nil
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
	return syncDir(filepath.Dir(path))
}

// readJournal returns the whole records, the offset where they end, and the bytes after it.
func readJournal(r io.Reader) (events []steps.Event, good int64, rest []byte, err error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, 0, nil, fmt.Errorf("reading the journal: %w", err)
	}
	lines := bufio.NewReader(bytes.NewReader(data))
	for first := true; ; first = false {
		line, err := lines.ReadBytes('\n')
		if err != nil || len(line) > maxJournalLine {
			return events, good, data[good:], nil
		}
		if first {
			if err := checkFormat(line); err != nil {
				return nil, 0, nil, err
			}
		} else {
			var e steps.Event
			if json.Unmarshal(line, &e) != nil || e.Kind == "" {
				return events, good, data[good:], nil
			}
			events = append(events, e)
		}
		good += int64(len(line))
	}
}

func checkFormat(line []byte) error {
	if string(bytes.TrimRight(line, "\n")) == journalFormat {
		return nil
	}
	return &problem.Problem{
		Code: "JRNLFMT", Summary: "The journal was written by another version of Touchdown.",
		Fix: "Finish the job with the version that began it, or move the state folder aside to start anew.",
		Err: fmt.Errorf("first line of the journal is %.60q", line),
	}
}

// append adds a record; when durable it is on the disk before append returns. A record that could not be
// written whole leaves the journal as it was.
func (j *journal) append(e steps.Event, durable bool) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encoding a journal record: %w", err)
	}
	if len(line) >= maxJournalLine {
		return fmt.Errorf("a journal record of %d bytes is too long: it would be read as damage", len(line))
	}
	return j.write(append(line, '\n'), durable)
}

func (j *journal) write(line []byte, durable bool) error {
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
	if err := j.file.Truncate(j.size); err != nil {
		return fmt.Errorf("cutting the journal: %w", err)
	}
	return nil
}

func journalProblem(err error) error {
	p := &problem.Problem{
		Code: "JRNL-ERR", Summary: "The journal cannot be written, so the work stopped before its next change.",
		Fix: "Look at the disk that holds the state folder, then retry.", Err: err,
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		p.Code = "DSK-FULL"
		p.Summary = "The disk is full, so the work stopped before its next change."
		p.Fix = "Free at least 64 MiB on the disk that holds the state folder, then retry."
	}
	return p
}

// syncDir makes a created or renamed entry of dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}
