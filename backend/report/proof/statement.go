package proof

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"touchdown/backend/check"
	"touchdown/backend/envelope"
	"touchdown/backend/report"
)

// What a signed report says of itself: see https://github.com/in-toto/attestation, spec/v1 and spec/predicates/test-result.md.
const (
	payloadType   = "application/vnd.in-toto+json"
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://in-toto.io/attestation/test-result/v0.1"
)

// MaxSigned is the largest signed report in bytes that is read: the report twice in base64, and what is said of it.
const MaxSigned = 2 * report.MaxJSON

// The form of in-toto, with the fields that a report needs.
type (
	statement struct {
		Type          string     `json:"_type"`
		Subject       []resource `json:"subject"`
		PredicateType string     `json:"predicateType"`
		Predicate     predicate  `json:"predicate"`
	}
	resource struct {
		Name        string            `json:"name,omitempty"`
		URI         string            `json:"uri,omitempty"`
		Digest      map[string]string `json:"digest,omitempty"`
		Content     []byte            `json:"content,omitempty"` // the report: one file proves itself
		MediaType   string            `json:"mediaType,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	predicate struct {
		Result        string     `json:"result"` // PASSED, WARNED or FAILED
		Configuration []resource `json:"configuration"`
		Passed        []string   `json:"passedTests"`
		Warned        []string   `json:"warnedTests"`
		Failed        []string   `json:"failedTests"`
	}
)

// Sign adds to a document whose signature its report has, and returns how the report is signed.
func Sign(d *report.Document, key envelope.SigningKey) func(json []byte) ([]byte, error) {
	d.Signer = &report.Signer{KeyID: key.ID(), PublicKey: key.Public().String()}
	return func(raw []byte) ([]byte, error) {
		is, err := report.Parse(raw)
		if err != nil {
			return nil, err
		}
		if is.Signer == nil || is.Signer.PublicKey != key.Public().String() {
			return nil, errors.New("signing the report: it is for another key")
		}
		payload, err := report.Canonical(state(is, raw, label(is, raw, key)))
		if err != nil {
			return nil, err
		}
		return key.Envelope(payloadType, payload)
	}
}

// state says of a report what in-toto's test-result can.
func state(d *report.Document, raw []byte, label string) statement {
	subject := resource{
		Name: report.JSONFile, Digest: map[string]string{"sha256": report.Digest(raw)}, Content: raw, MediaType: "application/json",
		Annotations: map[string]string{"serial": d.Node.Serial, "kind": d.Kind, "verdict": d.Verdict},
	}
	if label != "" {
		subject.Annotations["label"] = label
	}
	return statement{statementType, []resource{subject}, predicateType, results(d)}
}

func results(d *report.Document) predicate {
	p := predicate{
		Result:        "PASSED",
		Configuration: []resource{{Name: "report", URI: "https://" + d.Schema, Annotations: map[string]string{"touchdown": d.Touchdown}}},
		Passed:        []string{}, Warned: []string{}, Failed: []string{},
	}
	for _, c := range d.Checks {
		name := c.Step + "/" + c.ID
		switch c.Status {
		case check.Pass:
			p.Passed = append(p.Passed, name)
		case check.Fail:
			p.Failed = append(p.Failed, name)
		default: // what was not checked or waived has not passed
			p.Warned = append(p.Warned, name)
		}
	}
	switch {
	case len(p.Failed) > 0:
		p.Result = "FAILED"
	case len(p.Warned)+len(d.Warnings) > 0:
		p.Result = "WARNED"
	}
	return p
}

// Proof is a signed report whose signature is that of the key that it names. Whose key that is, it cannot prove itself.
type Proof struct {
	Report *report.Document
	JSON   []byte             // the report to the byte
	Signed []byte             // the whole envelope
	Key    envelope.PublicKey // that signed it
	Label  string             // the same in short, for a QR code; "" when it would be too long for one
	Digest string             // SHA-256 of JSON
	Second string             // id of the key that is said to have signed too, "" for none: see Countersigned

	parcel *envelope.Parcel
}

// Open reads a signed report from outside, and refuses one in which anything was changed.
func Open(text []byte) (*Proof, error) {
	if len(text) > MaxSigned {
		return nil, refused(fmt.Errorf("it has %d bytes, more than %d", len(text), MaxSigned))
	}
	parcel, err := envelope.OpenAs(payloadType, text)
	if err != nil {
		return nil, unreadable(err)
	}
	var s statement
	if err := report.ReadCanonical(parcel.Payload, &s); err != nil {
		return nil, refused(err)
	}
	if s.Type != statementType || s.PredicateType != predicateType || len(s.Subject) != 1 {
		return nil, refused(fmt.Errorf("it states %.80q about %d things, not a test-result about one", s.PredicateType, len(s.Subject)))
	}
	subject := s.Subject[0]
	d, err := report.Parse(subject.Content)
	if err != nil {
		return nil, refused(err)
	}
	first := parcel.Signatures[0]
	if d.Signer == nil || d.Signer.KeyID != first.KeyID {
		return nil, refused(errors.New("the report does not name the key that signed it"))
	}
	key, err := envelope.ParsePublicKey(d.Signer.PublicKey)
	if err != nil || !key.Signed(payloadType, parcel.Payload, first.Bytes) {
		return nil, forged()
	}
	p := &Proof{Report: d, JSON: subject.Content, Signed: text, Key: key, Digest: report.Digest(subject.Content), Label: subject.Annotations["label"], parcel: parcel}
	if len(parcel.Signatures) > 1 {
		p.Second = parcel.Signatures[1].KeyID
	}
	return p, p.agrees(s)
}

// agrees compares what a statement says with the report that it is about: a person may see only one of both.
func (p *Proof) agrees(s statement) error {
	want, is, subject := results(p.Report), s.Predicate, s.Subject[0]
	same := subject.Digest["sha256"] == p.Digest && is.Result == want.Result &&
		slices.Equal(is.Passed, want.Passed) && slices.Equal(is.Warned, want.Warned) && slices.Equal(is.Failed, want.Failed) &&
		subject.Annotations["serial"] == p.Report.Node.Serial && subject.Annotations["verdict"] == p.Report.Verdict
	if !same {
		return refused(errors.New("what it states of the report is not what the report says"))
	}
	if p.Label == "" {
		return nil
	}
	l, err := ReadLabel(p.Label)
	if err != nil {
		return err
	}
	if l.Key != p.Key.String() || l.Digest != p.Digest || l.Serial != p.Report.Node.Serial || l.Verdict != p.Report.Verdict {
		return refused(errors.New("its label for the QR code is of another report"))
	}
	return nil
}

// follows tells whether this report names another one as the one before it.
func (p *Proof) follows(old *Proof) bool {
	return p.Report.Previous != nil && p.Report.Previous.SHA256 == old.Digest && p.Report.Node.Serial == old.Report.Node.Serial
}

func digestOf(hexadecimal string) ([]byte, error) {
	sum, err := hex.DecodeString(hexadecimal)
	if err != nil || len(sum) != sha256.Size || hex.EncodeToString(sum) != hexadecimal {
		return nil, errors.New("a digest is not the SHA-256 of a report")
	}
	return sum, nil
}

func base64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
