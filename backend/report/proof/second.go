package proof

import (
	"bytes"

	"touchdown/backend/envelope"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Countersign adds the signature of a second person to a signed report: four eyes. It signs what the node signed, to the byte.
func (p *Proof) Countersign(key envelope.SigningKey) ([]byte, error) {
	if p.Second != "" {
		return nil, &problem.Problem{
			Code: "RPT-SCND", Summary: message.F("The report has a second signature already, of key %s.", p.Second),
			Fix: message.T("A report has two signatures at most. To see whose the second one is, run touchdown report verify --second-key."),
		}
	}
	signed, err := key.Countersign(payloadType, p.Signed)
	if err != nil {
		return nil, &problem.Problem{
			Code: "RPT-SCND", Summary: message.T("The report cannot be signed a second time with this key."),
			Fix: message.T("Use the key of a person, not the node's own."), Err: err,
		}
	}
	return signed, nil
}

// Countersigned fails when the report has no second signature of a key that someone trusts.
func (p *Proof) Countersigned(trust *envelope.Trust) error {
	if p.Second == "" {
		return &problem.Problem{
			Code: "RPT-SCND", Summary: message.T("The report has no second signature."),
			Fix: message.T("Have the second person check the report and sign it with touchdown report countersign. A node's report.signed.json has a second signature only if two people sealed it, and a QR code never has one."),
		}
	}
	key, known := trust.Key(p.Second)
	if !known {
		return &problem.Problem{
			Code: "RPT-2KEY", Summary: message.F("The second signature is of the key %s, which is not one of the keys given, or was revoked.", p.Second),
			Fix: message.T("Ask who signed the report, and for the public key of that person. Until then, count only the signature of the node."),
		}
	}
	if !key.Signed(payloadType, p.parcel.Payload, p.parcel.Signatures[1].Bytes) {
		return &problem.Problem{
			Code: "RPT-2SGN", Summary: message.F("The second signature, of key %s, does not fit the report: it was forged, or taken from another report.", p.Second),
			Fix: message.T("Do not rely on it. Ask the second person to sign the report again, and tell whoever gave it to you."),
		}
	}
	return nil
}

// Extends tells whether a signed report is another one with the signature of a second person behind that of the node. Whether that one
// counts, Countersigned tells.
func Extends(have, signed []byte) bool {
	both, err := envelope.OpenAs(payloadType, have)
	if err != nil || len(both.Signatures) != 2 {
		return false
	}
	alone, err := envelope.Enclose(payloadType, both.Payload, both.Signatures[0])
	return err == nil && bytes.Equal(alone, signed)
}

// Alone is the report as the node signed it, without a second signature.
func (p *Proof) Alone() (*Proof, error) {
	if p.Second == "" {
		return p, nil
	}
	text, err := envelope.Enclose(payloadType, p.parcel.Payload, p.parcel.Signatures[0])
	if err != nil {
		return nil, err
	}
	return Open(text)
}
