package proof_test

import (
	"testing"

	"touchdown/backend/report"
	"touchdown/backend/report/proof"
)

// FuzzOpen: no signed report from outside ends the reader; one that opens is what its key signed, to the byte.
func FuzzOpen(f *testing.F) {
	k, err := newKey()
	if err != nil {
		f.Fatal(err)
	}
	d := document()
	sign := proof.Sign(d, k)
	raw, err := d.JSON()
	if err != nil {
		f.Fatal(err)
	}
	good, err := sign(raw)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(raw)
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30K","signatures":[{"keyid":"0000000000000000","sig":""}]}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := proof.Open(text)
		if err == nil && (report.Digest(p.JSON) != p.Digest || p.Report == nil || p.Key.ID() != p.Report.Signer.KeyID) {
			t.Errorf("%+v", p)
		}
		if _, err := report.Parse(text); err == nil && len(text) == 0 {
			t.Error("nothing is a report")
		}
	})
}

// FuzzReadLabel: no text of a QR code ends the reader.
func FuzzReadLabel(f *testing.F) {
	f.Add("touchdown-report:1?serial=SN-1&verdict=landed&made=2026-11-21T12:34:56Z&sha256=AA&key=AA&sig=AA")
	f.Add("touchdown-report:1?serial=%")
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := proof.ReadLabel(text); err == nil && l.KeyID == "" {
			t.Errorf("%+v", l)
		}
	})
}
