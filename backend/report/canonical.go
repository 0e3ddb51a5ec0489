package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"touchdown/backend/check"
	"touchdown/backend/envelope"
	"touchdown/backend/value"
)

// MaxJSON is the largest report in bytes that is read. One with 500 checks and their evidence has a quarter of a MiB. Chosen.
const MaxJSON = 2 << 20

// JSON is the canonical form: sorted keys, two spaces, a newline at the end. The same document gives the same bytes.
func (d *Document) JSON() ([]byte, error) { return Canonical(d) }

// Canonical is a document in the form in which reports and what is signed of them are written.
func Canonical(document any) ([]byte, error) {
	raw, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	return sorted(raw)
}

func sorted(raw []byte) ([]byte, error) {
	// Maps are encoded with sorted keys, whatever the order of the fields in Go.
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var all any
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	return out.Bytes(), nil
}

// ReadCanonical reads JSON from outside that has to be in the canonical form. Keys that this release does not know are left out.
func ReadCanonical(data []byte, into any) error {
	if err := value.OneMeaning(data); err != nil {
		return fmt.Errorf("reading the report: %w", err)
	}
	again, err := sorted(data)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, data) {
		return errors.New("reading the report: it is not in the canonical form in which Touchdown writes it; it was changed, or written by something else")
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("reading the report: %w", err)
	}
	return nil
}

// Parse reads a report from outside. What this release does not know in it is left out.
func Parse(data []byte) (*Document, error) {
	if len(data) > MaxJSON {
		return nil, fmt.Errorf("reading the report: it has %d bytes, more than %d", len(data), MaxJSON)
	}
	d := &Document{}
	if err := ReadCanonical(data, d); err != nil {
		return nil, err
	}
	if d.Schema != Schema {
		return nil, fmt.Errorf("reading the report: its schema is %.60q, not %s", d.Schema, Schema)
	}
	if d.Kind != Landing && d.Kind != Factory {
		return nil, fmt.Errorf("reading the report: its kind is %.60q, neither %s nor %s", d.Kind, Landing, Factory)
	}
	for i, c := range d.Checks {
		if !slices.Contains([]check.Status{check.Pass, check.Warn, check.Fail, check.Skip, check.Waived}, c.Status) {
			return nil, fmt.Errorf("reading the report: the status of check %d is %.60q, which no check has", i+1, c.Status)
		}
	}
	if s := d.Signer; s != nil {
		key, err := envelope.ParsePublicKey(s.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("reading the report: %w", err)
		}
		if key.ID() != s.KeyID {
			return nil, errors.New("reading the report: the id of its key is not that of the key")
		}
	}
	return d, nil
}
