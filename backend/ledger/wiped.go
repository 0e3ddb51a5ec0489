package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
)

// statementType is the type under which a node signs that it is wiped. No signature of a report or of a medium is good for it.
const statementType = "application/vnd.touchdown.wiped+json"

// MaxStatement is more than a statement has, in bytes.
const MaxStatement = 16 << 10

// Wiped is what a node says of itself when it is wiped. It is signed by the key of its reports, which that wipe destroys: a ledger that
// knows the key takes it, once. That nothing is left on a disk nobody can sign.
type Wiped struct {
	Statement int       `json:"statement"` // the version of the form
	At        time.Time `json:"wiped"`     // when the wipe began, by the node's clock
	Serial    string    `json:"serial,omitempty"`
	MACs      []string  `json:"macs,omitempty"`
	Hostname  string    `json:"hostname,omitempty"`
	Version   string    `json:"touchdown"`
}

// WipedNow is what a machine says.
func WipedNow(m *host.Machine, version string, now time.Time) (Wiped, error) {
	e := Entry{Serial: m.Serial()}
	if err := e.readPorts(m); err != nil {
		return Wiped{}, err
	}
	name, _ := m.Hostname()
	return Wiped{Statement: format, At: now.UTC().Truncate(time.Second), Serial: e.Serial, MACs: e.MACs, Hostname: name, Version: version}, nil
}

// entry is the machine that the statement is of.
func (w Wiped) entry() Entry { return Entry{Serial: w.Serial, MACs: w.MACs} }

// Of tells whether the statement is of that machine.
func (w Wiped) Of(m *host.Machine) bool {
	now, err := WipedNow(m, "", time.Time{})
	return err == nil && w.entry().unit(now.entry())
}

// Sign puts the statement into an envelope, signed by the key of the node's reports.
func (w Wiped) Sign(key envelope.SigningKey) ([]byte, error) {
	payload, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encoding the statement of a wipe: %w", err)
	}
	return key.Envelope(statementType, payload)
}

// signedWipe is a statement with its signature, which proves nothing yet.
type signedWipe struct {
	Wiped
	parcel *envelope.Parcel
}

// ReadWiped reads a statement. It does not judge its signature: EnterWiped does.
func ReadWiped(signed []byte) (Wiped, error) {
	s, err := openWiped(signed)
	return s.Wiped, err
}

func openWiped(signed []byte) (s signedWipe, err error) {
	if _, is := unfinished(signed); is {
		return s, &problem.Problem{
			Code: "FAC-WPRT", Summary: message.T("The wipe had not finished when this file was written."),
			Fix: message.T("Run `touchdown wipe NODE --statement FILE` again on the node, with the same FILE, then give FILE to the ledger."),
		}
	}
	s.parcel, err = envelope.OpenAs(statementType, signed)
	if err == nil {
		err = value.OneMeaning(s.parcel.Payload)
	}
	if err == nil {
		err = json.Unmarshal(s.parcel.Payload, &s.Wiped)
	}
	if err == nil && (s.Statement < 1 || s.Statement > format) {
		err = fmt.Errorf("this release does not know form %d", s.Statement)
	}
	if err == nil && len(s.parcel.Signatures) != 1 {
		err = errors.New("it has two signatures")
	}
	if err != nil {
		err = &problem.Problem{
			Code: "FAC-WFRM", Summary: message.T("The file is not a statement that a node was wiped, or it is damaged."),
			Fix: message.T("Give the file that `touchdown wipe NODE --statement FILE` wrote, once more from where it was written."), Err: err,
		}
	}
	return s, err
}

// early is a statement while its wipe is under way. It is the key of the node's reports that signs, and that goes with the wipe.
type early struct {
	Under     string `json:"wipe"`
	Statement []byte `json:"statement"` // to the byte: its form is part of it
}

const underWay = "not finished"

// Unfinished is a signed statement as it is kept until its wipe has finished: no ledger takes it for one.
func Unfinished(signed []byte) ([]byte, error) {
	kept, err := json.Marshal(early{underWay, signed})
	if err != nil {
		return nil, fmt.Errorf("keeping the statement of a wipe: %w", err)
	}
	return append(kept, '\n'), nil
}

// Finished returns the statement of a wipe that has finished from what Unfinished made. A release before kept the statement itself.
func Finished(kept []byte) []byte {
	if signed, is := unfinished(kept); is {
		return signed
	}
	return kept
}

func unfinished(kept []byte) (signed []byte, is bool) {
	var e early
	if len(kept) > 2*MaxStatement || value.OneMeaning(kept) != nil || json.Unmarshal(kept, &e) != nil || e.Under != underWay {
		return nil, false
	}
	return e.Statement, true
}

// EnterWiped adds the line of a wiped machine to a ledger: its last line, with the time of the wipe. It tells whether the line is new: the
// same statement again adds none. The statement has to be signed by the key with which the machine was sealed last, so that one of an
// earlier wipe is refused once the machine was sealed again.
func EnterWiped(path string, signed []byte) (w Wiped, added bool, err error) {
	s, err := openWiped(signed)
	if err != nil {
		return w, false, err
	}
	err = add(path, s.entry(), func(is found) (*Entry, error) {
		if err := s.judge(is.last); err != nil || !is.last.Wiped.IsZero() {
			return nil, err
		}
		gone := *is.last
		gone.Wiped, gone.Returned, added = s.At, time.Time{}, true
		return &gone, nil
	})
	return s.Wiped, added, err
}

// WipedBy tells whether a key has signed a statement.
func WipedBy(signed []byte, key envelope.PublicKey) bool {
	s, err := openWiped(signed)
	return err == nil && s.signedBy(key)
}

func (s signedWipe) signedBy(key envelope.PublicKey) bool {
	is := s.parcel.Signatures[0]
	return is.KeyID == key.ID() && key.Signed(statementType, s.parcel.Payload, is.Bytes)
}

// judge holds a statement to the last line of its machine.
func (s signedWipe) judge(last *Entry) error {
	if last == nil {
		return &problem.Problem{
			Code: "FAC-WELS", Summary: message.T("The ledger does not know the machine that the statement is of."),
			Fix: message.T("Give the ledger with which that machine was sealed."),
		}
	}
	key, err := envelope.ParsePublicKey(last.ReportKey)
	if err == nil && s.signedBy(key) {
		return nil
	}
	return &problem.Problem{
		Code: "FAC-WSGN", Summary: message.T("The statement is not signed by the key with which the ledger knows that machine."),
		Fix: message.T("It is of another node, of a wipe before the last seal, or was changed. Nothing was added; compare its serial number and date."), Err: err,
	}
}
