package proof

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/report"
)

// A label is a report in short, for a QR code:
//
//	touchdown-report:1?serial=SN-4711&verdict=landed&made=2026-11-21T12:34:56Z&sha256=...&key=...&sig=...
//
// The key is a raw Ed25519 key; it, the digest and the signature are base64 with the letters of URLs. All before &sig= is signed.
const (
	labelStart = "touchdown-report:1?"
	labelType  = "application/vnd.touchdown.report-label.v1"

	// maxLabel is the longest label in bytes: what a QR code of 89 modules holds (version 18, level M), which a telephone reads from paper.
	maxLabel = 560
	// spki is how the base64 of every Ed25519 key begins, as SubjectPublicKeyInfo (RFC 8410).
	spki = "MCowBQYDK2VwAyEA"
)

// Label is a label that was read, and whose signature is that of the key in it.
type Label struct {
	Serial  string    `json:"serial"`
	Verdict string    `json:"verdict"`
	Made    time.Time `json:"made"`
	Digest  string    `json:"sha256"` // of the report's JSON
	Key     string    `json:"publicKey"`
	KeyID   string    `json:"keyID"`
}

// text is a label without its signature.
func (l Label) text() (string, error) {
	sum, err := digestOf(l.Digest)
	if err != nil {
		return "", err
	}
	raw := strings.TrimSuffix(strings.TrimPrefix(l.Key, spki), "=")
	key := strings.NewReplacer("+", "-", "/", "_").Replace(raw)
	return labelStart + "serial=" + quoted(l.Serial) + "&verdict=" + quoted(l.Verdict) + "&made=" + l.Made.UTC().Format(time.RFC3339) +
		"&sha256=" + base64url(sum) + "&key=" + key, nil
}

// quoted writes all but ASCII letters, digits and -._ as %XX. The page that reads labels does the same, to the byte.
func quoted(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// label makes the label of a report, "" when it is too long for a QR code.
func label(d *report.Document, raw []byte, key envelope.SigningKey) string {
	text, err := Label{Serial: d.Node.Serial, Verdict: d.Verdict, Made: d.Made, Digest: report.Digest(raw), Key: key.Public().String()}.text()
	if err != nil {
		return ""
	}
	text += "&sig=" + base64url(key.Signature(labelType, []byte(text)))
	if len(text) > maxLabel {
		return ""
	}
	return text
}

// ReadLabel reads a label from outside, and refuses one in which anything was changed.
func ReadLabel(text string) (*Label, error) {
	l, signed, signature, err := takeLabel(text)
	if err != nil {
		return nil, refused(err)
	}
	key, err := envelope.ParsePublicKey(l.Key)
	if err != nil {
		return nil, refused(err)
	}
	if !key.Signed(labelType, []byte(signed), signature) {
		return nil, forged()
	}
	l.KeyID = key.ID()
	return l, nil
}

// takeLabel takes a label apart. One that is not written as text writes it is none.
func takeLabel(text string) (l *Label, signed string, signature []byte, err error) {
	none := errors.New("the label is not one of a report")
	query, ok := strings.CutPrefix(text, labelStart)
	signed, sig, both := strings.Cut(text, "&sig=")
	if !ok || !both || len(text) > maxLabel {
		return nil, "", nil, none
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, "", nil, none
	}
	made, err := time.Parse(time.RFC3339, values.Get("made"))
	if err != nil {
		return nil, "", nil, none
	}
	sum, err := base64.RawURLEncoding.DecodeString(values.Get("sha256"))
	if err != nil {
		return nil, "", nil, none
	}
	raw, err := base64.RawURLEncoding.DecodeString(values.Get("key"))
	if err != nil {
		return nil, "", nil, none
	}
	l = &Label{
		Serial: values.Get("serial"), Verdict: values.Get("verdict"), Made: made,
		Digest: fmt.Sprintf("%x", sum), Key: spki + base64.StdEncoding.EncodeToString(raw),
	}
	again, err := l.text()
	if err != nil || again != signed {
		return nil, "", nil, none
	}
	signature, err = base64.RawURLEncoding.DecodeString(sig)
	if err != nil || base64url(signature) != sig { // the decoder leaves line ends out
		return nil, "", nil, none
	}
	return l, signed, signature, nil
}
