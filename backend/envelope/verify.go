package envelope

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// maxSignatures is how many signatures of an envelope are looked at. Chosen: ours has one, a change of keys would have two.
const maxSignatures = 4

// Sign puts a document into a DSSE envelope.
func Sign(d Document, key SigningKey) ([]byte, error) {
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("signing a document: %w", err)
	}
	payload, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("signing a document: %w", err)
	}
	return key.Envelope(payloadType, payload)
}

// Open reads an envelope without asking who signed it, to show what it says of itself. Nothing may be done on its word.
func Open(text []byte) (*Document, error) {
	_, payload, err := open(text)
	if err != nil {
		return nil, err
	}
	return readable(payload)
}

// Verify reads an envelope that a trusted key signed, and returns the id of that key. It fails with a *problem.Problem.
func Verify(text []byte, trust *Trust) (d *Document, signer string, err error) {
	e, payload, err := open(text)
	if err != nil {
		return nil, "", err
	}
	if signer, err = trust.judge(e.Signatures, dsse.PAE(e.PayloadType, payload)); err != nil {
		return nil, "", err
	}
	d, err = readable(payload)
	return d, signer, err
}

// For judges whether a document is for a machine: its serial number, "" when the firmware has none, and the ids of the documents
// that it has used.
func (d *Document) For(serial string, used []string) error {
	switch {
	case slices.Contains(used, d.ID):
		return refusal("MED-USED", message.T("This machine has used the medium before."), message.T("Make a new one with touchdown media write; each is good for one use."))
	case d.AnySerial:
		return nil
	case serial == "":
		return refusal("MED-SER", message.F("The medium is for the machine with serial number %s, and this machine's firmware has none.", d.Serial), message.T("Have the serial number set in the firmware, or make a medium with --any-serial, for use with a person at the console."))
	case !strings.EqualFold(serial, d.Serial):
		return refusal("MED-SER", message.F("The medium is for the machine with serial number %s; this one has %s.", d.Serial, serial), message.T("Look for the medium that has this machine's serial number, or have one made."))
	}
	return nil
}

// open takes an envelope apart.
func open(text []byte) (*dsse.Envelope, []byte, error) {
	malformed := func(err error) error {
		return &problem.Problem{Code: "MED-SHPE", Summary: message.T("The file on the medium is not a signed site config of this release."), Fix: message.T("Make it again with touchdown media write."), Err: err}
	}
	if len(text) > maxEnvelope {
		return nil, nil, malformed(fmt.Errorf("it has %d bytes, more than %d", len(text), maxEnvelope))
	}
	var e dsse.Envelope
	if err := strict(text, &e); err != nil {
		return nil, nil, malformed(err)
	}
	if e.PayloadType != payloadType {
		return nil, nil, malformed(fmt.Errorf("its payload is %q, not %s", cut(e.PayloadType), payloadType))
	}
	payload, err := e.DecodeB64Payload()
	if err != nil {
		return nil, nil, malformed(err)
	}
	return &e, payload, nil
}

func readable(payload []byte) (*Document, error) {
	d, err := parse(payload)
	if err != nil {
		return nil, &problem.Problem{Code: "MED-SHPE", Summary: message.T("The document on the medium contradicts itself, or is of another release."), Fix: message.T("Make it again with touchdown media write."), Err: err}
	}
	return d, nil
}

// judge looks for a signature that counts. Where there is none it tells the reason that is nearest to one that does.
func (t *Trust) judge(signatures []dsse.Signature, signed []byte) (signer string, err error) {
	if len(signatures) == 0 {
		return "", refusal("MED-NSGN", message.T("The document on the medium is not signed."), message.T("Make it again with touchdown media write and the factory's signing key. If someone handed it to you like this, tell your security contact."))
	}
	if len(signatures) > maxSignatures {
		return "", refusal("MED-SHPE", message.F("The document on the medium has %d signatures.", len(signatures)), message.T("Make it again with touchdown media write."))
	}
	var unknown, revoked, forged error
	for _, s := range signatures {
		key, known := t.keys[s.KeyID]
		raw, err := base64.StdEncoding.DecodeString(s.Sig)
		switch {
		case t.revoked[s.KeyID]:
			revoked = refusal("MED-RVKD", message.F("The key %s, which signed the medium, was revoked.", s.KeyID), message.T("Have the medium signed with a key that is still valid. Do not use other media of this key."))
		case !known:
			unknown = refusal("MED-UKEY", message.F("The key %s, which signed the medium, is not trusted here.", name(s.KeyID)), message.T("Have it signed with a key that this node trusts, or add the public key to the trusted ones."))
		case err != nil || !ed25519.Verify(key, signed, raw):
			forged = refusal("MED-BSGN", message.F("The signature of key %s does not fit the document: it was changed, or the signature was forged.", s.KeyID), message.T("Do not use the medium. Make a new one, and tell your security contact."))
		default:
			return s.KeyID, nil
		}
	}
	for _, err := range []error{forged, revoked, unknown} {
		if err != nil {
			return "", err
		}
	}
	return "", errors.New("no signature was judged")
}

// name shows a key's id as an envelope says it, when it looks like one.
func name(id string) message.Text {
	if isKeyID(id) {
		return message.Data(id)
	}
	return message.T("(without a valid id)")
}

func refusal(code string, summary, fix message.Text) error {
	return &problem.Problem{Code: code, Summary: summary, Fix: fix}
}
