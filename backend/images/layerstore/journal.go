package layerstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	// maxJournal is from when on the journal is cut to its last records, bytes: some hundred of them.
	maxJournal  = 1 << 20
	keptRecords = 100
)

// record is one line of the journal: what is about to be done, and how it ended.
type record struct {
	At         time.Time `json:"at"`
	Op         string    `json:"op"`    // add, move, switch, prune, repair
	Phase      string    `json:"phase"` // begin, sure (from here on it is brought to its end), done, failed, forgotten
	Generation int       `json:"generation,omitempty"`
	Primary    string    `json:"primary,omitempty"` // of a move: the store that is moved from
	Layers     []string  `json:"layers,omitempty"`  // of a move: those to rename, each after its parent
	Doubles    []string  `json:"doubles,omitempty"` // of a move: those that the image store has already
	Images     []string  `json:"images,omitempty"`  // of a move: ids to take out of the primary
	Error      string    `json:"error,omitempty"`
}

// journal is the image store's journal, in its folder.
type journal struct{ disk }

func (p *Store) journal() journal { return journal{p.disk()} }

// journaled writes what is begun, does it, and writes how it ended.
func (j journal) journaled(r record, do func() error) error {
	r.Phase = "begin"
	if err := j.note(r); err != nil {
		return err
	}
	err := do()
	end := record{Op: r.Op, Generation: r.Generation, Phase: "done"}
	if err != nil {
		end.Phase, end.Error = "failed", err.Error()
	}
	return errors.Join(err, j.note(end))
}

// note adds a record, durably.
func (j journal) note(r record) error {
	r.At = time.Now().UTC()
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	j.step("note " + r.Op + " " + r.Phase)
	name := filepath.Join(j.dir, journalFile)
	_, isNew := os.Lstat(name)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the journal: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	j.step("noted " + r.Op + " " + r.Phase)
	if isNew != nil {
		return host.SyncDir(j.dir)
	}
	return nil
}

// records reads the journal. A last line that a power cut tore is not a record; it is cut off, so that the next one does not
// stick to it.
func (j journal) records() ([]record, error) {
	name := filepath.Join(j.dir, journalFile)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	var all []record
	var lines []string
	for line := range strings.Lines(string(data)) {
		var r record
		if json.Unmarshal([]byte(line), &r) == nil && strings.HasSuffix(line, "\n") {
			all, lines = append(all, r), append(lines, line)
		}
	}
	if len(data) > maxJournal && len(lines) > keptRecords {
		lines = lines[len(lines)-keptRecords:]
	}
	if whole := strings.Join(lines, ""); whole != string(data) {
		return all, host.WriteFileAtomic(name, []byte(whole), 0o600)
	}
	return all, nil
}

// cutOff tells which operation did not come to its end.
func cutOff(r record) message.Text {
	switch r.Op {
	case "add":
		return message.F("Adding the images to generation %d was cut off.", r.Generation)
	case "switch":
		return message.F("The switch to the images of generation %d was cut off.", r.Generation)
	case "move":
		return message.F("Moving the images into generation %d was cut off.", r.Generation)
	case "prune":
		return message.T("Removing unused images was cut off.")
	}
	return message.T("The repair of the image store was cut off.")
}

// begin takes the image store's lock for an operation, unless an earlier one has to be brought to its end first.
func (p *Store) begin() (func(), error) {
	unlock, err := p.lock()
	if err != nil {
		return nil, err
	}
	all, err := p.journal().records()
	if err == nil {
		if r, sure, found := unfinished(all); found && sure {
			err = &problem.Problem{
				Code: "STR-HALF", Summary: cutOff(r),
				Fix: message.T("Restart Touchdown, which finishes it."),
			}
		}
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// unfinished is the last operation that was begun and not ended, and whether it has to be brought to its end.
func unfinished(all []record) (r record, sure, found bool) {
	for _, each := range all {
		switch each.Phase {
		case "begin":
			r, sure, found = each, false, true
		case "sure":
			r, sure, found = each, true, true
		case "failed":
			found = found && sure // what is sure goes on until it is done
		default:
			found = false
		}
	}
	return r, sure, found
}
