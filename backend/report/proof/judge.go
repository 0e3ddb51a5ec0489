package proof

import (
	"slices"

	"touchdown/backend/envelope"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Trusted fails when the key that signed the report is not among those that someone trusts.
func (p *Proof) Trusted(trust *envelope.Trust) error {
	if trust.Has(p.Key) {
		return nil
	}
	return &problem.Problem{
		Code:    "RPT-UKEY",
		Summary: message.F("The report is signed with the key %s, which is not one of the keys given.", p.Key.ID()),
		Fix:     message.T("Ask the factory for the key of this serial number. If it is another one, the report was not made by that node: do not rely on it."),
	}
}

// NotRevoked fails when the key that signed the report is among revoked ones, given by their ids.
func (p *Proof) NotRevoked(ids []string) error {
	if !slices.Contains(ids, p.Key.ID()) {
		return nil
	}
	return &problem.Problem{
		Code: "RPT-UKEY", Summary: message.F("The report is signed with the key %s, which is on the list of revoked keys.", p.Key.ID()),
		Fix: message.T("Do not rely on the report. Ask the factory why the key was revoked, and for a report that was made since."),
	}
}

// Enrolled fails when the key that signed the report is not one that the factory's ledger has for its serial number. The keys are
// those that the ledger has for it.
func (p *Proof) Enrolled(serial string, keys []string) error {
	for _, k := range keys {
		if k == p.Key.String() {
			return nil
		}
	}
	if len(keys) == 0 {
		return &problem.Problem{
			Code: "RPT-ULED", Summary: message.F("The ledger has no report key for serial number %s.", shown(serial)),
			Fix: message.T("Use the ledger of the factory that sealed this node. A node that was sealed by a release without signatures, or without a ledger, is not in it."),
		}
	}
	return &problem.Problem{
		Code:    "RPT-UKEY",
		Summary: message.F("The report is signed with the key %s, and the ledger has another one for serial number %s.", p.Key.ID(), shown(serial)),
		Fix:     message.T("The report was not made by the node that the factory sealed, or its key was replaced. Do not rely on it; ask the factory."),
	}
}

// Follows fails when another report is not the one before this one.
func (p *Proof) Follows(old *Proof) error {
	if p.follows(old) {
		return nil
	}
	return &problem.Problem{
		Code: "RPT-PREV", Summary: message.T("The earlier report is not the one that this report follows."),
		Fix: message.T("Look for the report whose SHA-256 this one names as its previous one. If there is none, a report was left out."),
	}
}

// shown is a text from outside in a sentence.
func shown(text string) string {
	if text == "" {
		return "(none)"
	}
	r := []rune(text)
	return string(r[:min(len(r), 64)])
}

func unreadable(err error) error {
	return &problem.Problem{
		Code: "RPT-SHPE", Summary: message.T("The file is not a signed report, or it was changed."),
		Fix: message.T("Give the file report.signed.json of the node, as it was copied. If it is that file, do not rely on it."), Err: err,
	}
}

func refused(err error) error {
	return &problem.Problem{
		Code: "RPT-SHPE", Summary: message.T("The signed report is not one that this release can judge, or it was changed."),
		Fix: message.T("Copy the file report.signed.json from the node again. If it stays like this, use the touchdown program of the node's own release."), Err: err,
	}
}

func forged() error {
	return &problem.Problem{
		Code: "RPT-BSGN", Summary: message.T("The signature does not fit the report: the report was changed, or the signature was forged."),
		Fix: message.T("Do not rely on the report. Copy it from the node again, and tell the person who gave it to you."),
	}
}
