package media

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/layout"
)

// beginFile notes a start with a document and nobody there. The engine's journal tells whether that start ran.
const beginFile = layout.Media + "/begin"

// beginning is that note. It has all that it takes to note the document as used: the medium may be gone by then.
type beginning struct {
	ID      string   `json:"id"`
	Revoked []string `json:"revoked,omitempty"`
	Baked   bool     `json:"baked,omitempty"`
}

// recording keeps what reads the list of used documents and writes it again apart: the engine notes what it could not before without its own
// lock.
var recording sync.Mutex

// begin notes that a start with a document begins. It fails where the document could not be noted as used later.
func begin(k Known, f *Medium) error {
	recording.Lock()
	defer recording.Unlock()
	if err := mayUse(k, f.document); err != nil {
		return err
	}
	note, err := json.Marshal(beginning{f.document.ID, f.document.Revoked, f.baked})
	if err != nil {
		return fmt.Errorf("noting a start: %w", err)
	}
	return k.machine.WriteFile(beginFile, append(note, '\n'), 0o600)
}

// EndStart ends the start that Taken.Begin noted, if there is one. Where it ran, its document is noted as used, and one that was put in at the
// bake is wiped. Where it did not, the document can start the landing again. Cut off or failed, it goes on with the next call.
func EndStart(m *host.Machine, ran bool) error {
	recording.Lock()
	defer recording.Unlock()
	text, err := m.ReadFile(beginFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case !ran:
		return m.Remove(beginFile)
	}
	var is beginning
	if err == nil {
		err = json.Unmarshal(text, &is)
	}
	if err == nil && is.ID == "" {
		err = errors.New("it names no document")
	}
	if err != nil {
		return lost(beginFile, err)
	}
	k := Of(m)
	if err := spend(k, is.ID, is.Revoked); err != nil {
		return err
	}
	if is.Baked { // the answers are the engine's by now
		if err := k.DropBaked(); err != nil {
			return err
		}
	}
	return m.Remove(beginFile)
}

// use notes that a document was used, and which keys it revokes, on disk before it returns. One that was used already is refused.
func use(k Known, d *envelope.Document) error {
	recording.Lock()
	defer recording.Unlock()
	if err := mayUse(k, d); err != nil {
		return err
	}
	return spend(k, d.ID, d.Revoked)
}

// mayUse fails where a document cannot be used now.
func mayUse(k Known, d *envelope.Document) error {
	used, err := k.used()
	if err != nil {
		return err
	}
	if err := d.For(k.machine.Serial(), used); err != nil {
		return err
	}
	_, err = revoking(k, d.Revoked)
	return err
}

// spend notes a document as used, and keys as revoked, unless that is noted.
func spend(k Known, id string, revoked []string) error {
	used, err := k.used()
	if err != nil {
		return err
	}
	text, err := revoking(k, revoked)
	if err != nil {
		return err
	}
	if text != nil {
		if err := k.machine.WriteFile(revokedFile, text, 0o600); err != nil {
			return err
		}
	}
	if slices.Contains(used, id) {
		return nil
	}
	return k.machine.WriteFile(usedFile, usedText(append(used, id)), 0o600)
}
