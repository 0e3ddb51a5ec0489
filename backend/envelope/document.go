// Package envelope signs and seals the documents on site media, and judges those that come back: who signed it, for which
// machine, whether it was used already, and with what it opens.
package envelope

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"touchdown/backend/host"
)

const (
	// Schema is the version of the document that is written and read.
	Schema = "touchdown.dev/site-media/v1"
	// payloadType is what the envelope says of its content; it is signed with it.
	payloadType = "application/vnd.touchdown.site-media.v1+json"

	// maxEnvelope is the largest envelope in bytes that is read: a site config of 1 MiB, sealed and twice in base64, has 1.8 MiB.
	maxEnvelope = 2 << 20

	maxSite    = 2 << 20 // bytes of the site config, sealed or not
	maxSerial  = 64      // characters; DMI tables hold any, makers use up to 20
	maxRevoked = 1000
)

// Sealing is what opens the site config of a document.
type Sealing string

// The kinds of sealing.
const (
	NotSealed      Sealing = "none"
	WithPassphrase Sealing = "passphrase"
	ForNode        Sealing = "node"
)

// Document is what a medium carries. All of it is signed. It has no times: a node at a new site has no clock to judge them by.
type Document struct {
	Schema     string   `json:"schema"`
	ID         string   `json:"id"`                  // made by chance; a node takes each only once
	Serial     string   `json:"serial,omitempty"`    // of the one machine that it is for
	AnySerial  bool     `json:"anySerial,omitempty"` // it is for every machine, and Serial is empty
	Unattended bool     `json:"unattended,omitempty"`
	Keep       bool     `json:"keep,omitempty"`    // the medium keeps it after the landing; else its node overwrites it
	Revoked    []string `json:"revoked,omitempty"` // ids of signing keys that are no longer to be trusted
	Sealed     Sealing  `json:"sealed"`
	Site       []byte   `json:"site"` // the site config as YAML, sealed as Sealed says
}

// New returns a document for the machine with a serial number, or for any machine when that is empty. Seal fills it.
func New(serial string) Document {
	return Document{Schema: Schema, ID: rand.Text(), Serial: serial, AnySerial: serial == "", Sealed: NotSealed}
}

// check judges a document that is to be signed, or was read.
func (d *Document) check() error {
	switch {
	case d.Schema != Schema:
		return fmt.Errorf("its schema is %q, not %s", cut(d.Schema), Schema)
	case len(d.ID) < 16 || len(d.ID) > 64 || strings.ContainsFunc(d.ID, func(r rune) bool { return !plain(r) }):
		return errors.New("its id is not 16 to 64 letters and digits")
	case d.AnySerial == (d.Serial != ""):
		return errors.New("it is neither for one serial number nor for any")
	case d.Unattended && d.AnySerial:
		return errors.New("it is unattended, and not for one serial number")
	case d.Unattended && d.Sealed == WithPassphrase:
		return errors.New("it is unattended, and opens with a passphrase that nobody is there to type")
	case !slices.Contains([]Sealing{NotSealed, WithPassphrase, ForNode}, d.Sealed):
		return fmt.Errorf("it is sealed with %q", cut(string(d.Sealed)))
	case len(d.Site) == 0 || len(d.Site) > maxSite:
		return fmt.Errorf("its site config has %d bytes", len(d.Site))
	case len(d.Revoked) > maxRevoked || slices.ContainsFunc(d.Revoked, func(id string) bool { return !isKeyID(id) }):
		return errors.New("its list of revoked keys has something else in it")
	}
	if d.AnySerial {
		return nil
	}
	return CheckSerial(d.Serial)
}

// CheckSerial judges a serial number to which a document is bound. It becomes a file's name, too. What boards without a serial number say
// is refused: a machine that says it has none for a node (host.Machine.Serial), so that the document would be for nobody.
func CheckSerial(serial string) error {
	if err := host.FileName(serial); err != nil || len(serial) > maxSerial || strings.ContainsFunc(serial, func(r rune) bool { return r > unicode.MaxASCII }) {
		return fmt.Errorf("a serial number has 1 to %d characters of ASCII, no slash, and no space at its ends", maxSerial)
	}
	if host.Placeholder(serial) {
		return errors.New("boards that have no serial number say that, so no machine can be told by it")
	}
	return nil
}

// parse reads a document strictly: what this release does not know may be what makes the document safe.
func parse(payload []byte) (*Document, error) {
	var d Document
	if err := strict(payload, &d); err != nil {
		return nil, err
	}
	return &d, d.check()
}

// strict reads one JSON document without unknown keys and with nothing behind it.
func strict(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return fmt.Errorf("reading its JSON: %w", err)
	}
	if decoder.More() {
		return errors.New("reading its JSON: there is something behind it")
	}
	return nil
}

func plain(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }

// cut shortens a text from outside for a message.
func cut(text string) string { return text[:min(len(text), 40)] }
