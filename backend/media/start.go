package media

import (
	"errors"
	"io/fs"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/layout"
)

const (
	// sealedFile has the id of the document that the seal named, and the boot in which it did.
	sealedFile = layout.Media + "/sealed"
	// haltedFile has the id of the document whose start a person stopped.
	haltedFile = layout.Media + "/halted"
)

// Start is what a node notes of the start with a document that the factory put in, without a person.
type Start struct {
	machine *host.Machine
	id      string
}

// StartOf is the start of a machine with the document that has an id.
func StartOf(m *host.Machine, id string) Start { return Start{m, id} }

// Seal notes that the node was sealed with the document.
func (s Start) Seal() error {
	boot, err := s.machine.BootID()
	if err != nil {
		return err
	}
	return s.machine.WriteFile(sealedFile, []byte(s.id+" "+boot+"\n"), 0o600)
}

// Shipped tells whether the seal named the document and the node was booted since: an engine that starts again on the bench line, in the
// boot of the seal, lands nothing. What cannot be read is taken for no.
func (s Start) Shipped() bool {
	note, err := s.machine.ReadFile(sealedFile)
	if err != nil {
		return false
	}
	now, err := s.machine.BootID()
	was := strings.Fields(string(note))
	return err == nil && now != "" && len(was) == 2 && was[0] == s.id && was[1] != now
}

// Halt notes on disk that a person stopped the start: the document never starts without a person from then on.
func (s Start) Halt() error { return s.machine.WriteFile(haltedFile, []byte(s.id+"\n"), 0o600) }

// Halted tells whether Halt noted the document. A note that cannot be read may be about it.
func (s Start) Halted() bool {
	note, err := s.machine.ReadFile(haltedFile)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return strings.TrimSpace(string(note)) == s.id
}
