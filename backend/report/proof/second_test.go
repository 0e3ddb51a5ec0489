package proof_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"touchdown/backend/envelope"
	"touchdown/backend/report/proof"
)

// byTwo is a report that names two people, as the node signed it, and with the second person's signature.
func byTwo(t *testing.T) (node *proof.Proof, both []byte, anna envelope.SigningKey) {
	t.Helper()
	d := document()
	d.SealedBy, d.SecondPerson = "Ben Weber", "Anna Huber"
	node, anna = signed(t, d, key(t)), key(t)
	both, err := node.Countersign(anna)
	if err != nil {
		t.Fatal(err)
	}
	return node, both, anna
}

// TestASecondSignatureIsOfItsKey: who trusts a key sees whether it has signed this report; all else is refused.
func TestASecondSignatureIsOfItsKey(t *testing.T) {
	_, both, anna := byTwo(t)
	p, err := proof.Open(both)
	if err != nil || p.Second != anna.ID() || p.Report.SecondPerson != "Anna Huber" {
		t.Fatalf("%+v, %v", p, err)
	}
	trust := func(keys, revoked []byte) *envelope.Trust {
		t.Helper()
		trust, err := envelope.ParseTrust(keys, revoked)
		if err != nil {
			t.Fatal(err)
		}
		return trust
	}
	if err := p.Countersigned(trust(anna.Public().PEM(), nil)); err != nil {
		t.Error(err)
	}
	_, others, _ := byTwo(t)
	moved := edited(t, both, func(e *dsse.Envelope) { e.Signatures[1].Sig = envelopeOf(t, others).Signatures[1].Sig })
	forged, err := proof.Open(moved)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"RPT-2KEY":              p.Countersigned(trust(key(t).Public().PEM(), nil)),
		"RPT-2KEY, revoked":     p.Countersigned(trust(anna.Public().PEM(), []byte(anna.ID()))),
		"RPT-2SGN, of another":  forged.Countersigned(trust(anna.Public().PEM(), nil)),
		"RPT-SCND, a third one": func() error { _, err := p.Countersign(key(t)); return err }(),
	} {
		if want, _, _ := strings.Cut(name, ","); code(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func envelopeOf(t *testing.T, text []byte) (e dsse.Envelope) {
	t.Helper()
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func edited(t *testing.T, text []byte, edit func(*dsse.Envelope)) []byte {
	t.Helper()
	e := envelopeOf(t, text)
	edit(&e)
	again, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return append(again, '\n')
}

// TestPageNamesTheSecondPerson: the offline page reads what two have signed, names both, and says that it does not check the second
// signature, or that it is missing.
func TestPageNamesTheSecondPerson(t *testing.T) {
	p, both, anna := byTwo(t)
	reverse := func(e *dsse.Envelope) { e.Signatures[0], e.Signatures[1] = e.Signatures[1], e.Signatures[0] }
	twice := func(e *dsse.Envelope) { e.Signatures[1] = e.Signatures[0] }
	third := func(e *dsse.Envelope) {
		e.Signatures = append(e.Signatures, dsse.Signature{KeyID: key(t).ID(), Sig: "AAAA"})
	}
	nobody := func(e *dsse.Envelope) { e.Signatures[1].KeyID = "<b>" }
	all := []struct{ Text, Status, Second string }{
		{string(both), "good", "key " + anna.ID() + ": NOT CHECKED by this page; touchdown report verify --second-key does"},
		{string(p.Signed), "good", "MISSING: this file has the signature of the node alone"},
		{string(edited(t, both, reverse)), "bad", ""},
		{string(edited(t, both, twice)), "bad", ""},
		{string(edited(t, both, third)), "bad", ""},
		{string(edited(t, both, nobody)), "bad", ""},
		{strings.Replace(string(both), `"keyid"`, `"note":"","keyid"`, 1), "bad", ""},
	}
	var said []struct {
		Status string
		Found  struct{ SealedBy, Person, Second string }
	}
	node(t, `(async () => { const all = []; for (const c of input.All) all.push(await judge(c.Text, input.Key)); console.log(JSON.stringify(all)) })()`,
		map[string]any{"All": all, "Key": string(p.Key.PEM())}, &said)
	for i, c := range all {
		is := said[i]
		if is.Status != c.Status || is.Found.Second != c.Second || c.Status == "good" && (is.Found.SealedBy != "Ben Weber" || is.Found.Person != "Anna Huber") {
			t.Errorf("case %d: %+v, want %s with %q", i, is, c.Status, c.Second)
		}
	}
}
