// Package proof signs the reports of a node, and convinces somebody who was not there: it judges signed reports from outside by the
// keys that this person trusts. A signed report is an in-toto test-result in a DSSE envelope that holds the report itself.
package proof

import (
	"bytes"
	"errors"
	"io/fs"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// NodeKey reads the key by which a node signs its reports, and makes it where there is none yet. A damaged one is not replaced: the
// factory's ledger knows it, and would not know another one.
func NodeKey(m *host.Machine) (envelope.SigningKey, error) {
	text, err := m.ReadFile(layout.ReportKey)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(m)
	}
	if err != nil {
		return envelope.SigningKey{}, noKey(err)
	}
	key, err := envelope.ParseSigningKey(text)
	if err != nil {
		return envelope.SigningKey{}, noKey(err)
	}
	public := key.Public().PEM()
	if kept, err := m.ReadFile(layout.ReportPublic); err == nil && bytes.Equal(kept, public) {
		return key, nil
	}
	if err := m.WriteFile(layout.ReportPublic, public, 0o600); err != nil {
		return envelope.SigningKey{}, noKey(err)
	}
	return key, nil
}

func makeKey(m *host.Machine) (envelope.SigningKey, error) {
	key, err := envelope.NewSigningKey()
	if err != nil {
		return envelope.SigningKey{}, noKey(err)
	}
	private, public, err := key.Files()
	if err != nil {
		return envelope.SigningKey{}, noKey(err)
	}
	err = m.WriteFiles(host.File{Path: layout.ReportKey, Data: private, Perm: 0o600}, host.File{Path: layout.ReportPublic, Data: public, Perm: 0o600})
	if err != nil {
		return envelope.SigningKey{}, noKey(err)
	}
	return key, nil
}

func noKey(err error) error {
	return &problem.Problem{
		Code: "RPT-KEY", Summary: message.F("The node's key for its reports, %s, cannot be used.", layout.ReportKey),
		Fix: message.T("The report is complete, only its signature is missing. If the file is damaged, remove it to have a new key made; the factory's ledger does not know that one."), Err: err,
	}
}
