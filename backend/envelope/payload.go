package envelope

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// PublicKey is the public half of a SigningKey.
type PublicKey struct{ key ed25519.PublicKey }

// Public is the half of the key that everybody may have.
func (k SigningKey) Public() PublicKey { return PublicKey{k.public()} }

// ParsePublicKey reads what String writes.
func ParsePublicKey(text string) (PublicKey, error) {
	der, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return PublicKey{}, errors.New("a public key is not base64")
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return PublicKey{}, errors.New("a public key is not in the form SubjectPublicKeyInfo")
	}
	key, ok := parsed.(ed25519.PublicKey)
	if p := (PublicKey{key}); ok && p.String() == text { // one key has one spelling
		return p, nil
	}
	return PublicKey{}, errors.New("a public key is not of Ed25519")
}

// String is the key as the one line of its PEM block: the base64 of its SubjectPublicKeyInfo, 60 characters.
func (p PublicKey) String() string { return base64.StdEncoding.EncodeToString(p.der()) }

// PEM is the key as openssl reads it.
func (p PublicKey) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: pemPublic, Bytes: p.der()})
}

// ID names the key, as SigningKey.ID does.
func (p PublicKey) ID() string { return keyID(p.key) }

func (p PublicKey) der() []byte {
	der, err := x509.MarshalPKIXPublicKey(p.key)
	if err != nil { // only for kinds of keys that it does not know
		panic(err)
	}
	return der
}

// Has tells whether a key is among the trusted ones, and was not revoked.
func (t *Trust) Has(p PublicKey) bool {
	known, ok := t.keys[p.ID()]
	return ok && known.Equal(p.key) && !t.revoked[p.ID()]
}

// Signature signs a payload as DSSE does: the type of the payload is signed with it.
func (k SigningKey) Signature(payloadType string, payload []byte) []byte {
	return ed25519.Sign(k.key, dsse.PAE(payloadType, payload))
}

// Signed tells whether a signature is of this key, for this payload and type.
func (p PublicKey) Signed(payloadType string, payload, signature []byte) bool {
	return len(p.key) == ed25519.PublicKeySize && ed25519.Verify(p.key, dsse.PAE(payloadType, payload), signature)
}

// SignedFile tells which trusted key has signed a file as openssl does, over its bytes alone. A document in an envelope is signed with its
// type in front, so that neither signature is good for the other.
func (t *Trust) SignedFile(data, signature []byte) (id string, ok bool) {
	for id, key := range t.keys {
		if !t.revoked[id] && ed25519.Verify(key, data, signature) {
			return id, true
		}
	}
	return "", false
}

// Key is the trusted key with an id, if it is there and was not revoked.
func (t *Trust) Key(id string) (p PublicKey, ok bool) {
	p.key, ok = t.keys[id]
	return p, ok && !t.revoked[id]
}

// Envelope puts a payload with its signature into a DSSE envelope: one line of JSON.
func (k SigningKey) Envelope(payloadType string, payload []byte) ([]byte, error) {
	return Enclose(payloadType, payload, Signature{k.ID(), k.Signature(payloadType, payload)})
}

// Countersign adds a second signature to an envelope that SigningKey.Envelope wrote with another key.
func (k SigningKey) Countersign(payloadType string, text []byte) ([]byte, error) {
	p, err := OpenAs(payloadType, text)
	switch {
	case err != nil:
		return nil, err
	case len(p.Signatures) != 1:
		return nil, errors.New("it has two signatures already")
	case p.Signatures[0].KeyID == k.ID():
		return nil, errors.New("the first signature is of the same key")
	}
	return Enclose(payloadType, p.Payload, p.Signatures[0], Signature{k.ID(), k.Signature(payloadType, p.Payload)})
}

// Enclose is the envelope of a payload and of signatures of it that were made elsewhere. It does not check them.
func Enclose(payloadType string, payload []byte, signatures ...Signature) ([]byte, error) {
	e := dsse.Envelope{PayloadType: payloadType, Payload: base64.StdEncoding.EncodeToString(payload)}
	for _, s := range signatures {
		e.Signatures = append(e.Signatures, dsse.Signature{KeyID: s.KeyID, Sig: base64.StdEncoding.EncodeToString(s.Bytes)})
	}
	text, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("writing an envelope: %w", err)
	}
	return append(text, '\n'), nil
}

// Parcel is what an envelope holds. Nothing of it is proven until a key that someone trusts has signed the payload.
type Parcel struct {
	Payload    []byte
	Signatures []Signature // one, or two of different keys
}

// Signature is what an envelope has of one.
type Signature struct {
	KeyID string // of the key that is said to have signed
	Bytes []byte
}

// OpenAs takes an envelope with one signature, or two, apart. It has to be, to the byte, what SigningKey.Envelope or Countersign writes: an
// envelope in which anything can be changed without being noticed convinces nobody.
func OpenAs(payloadType string, text []byte) (*Parcel, error) {
	var e dsse.Envelope
	if err := strict(text, &e); err != nil {
		return nil, err
	}
	if n := len(e.Signatures); e.PayloadType != payloadType || n < 1 || n > 2 {
		return nil, fmt.Errorf("it has %d signatures and holds %q, not one or two and %s", n, cut(e.PayloadType), payloadType)
	}
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		return nil, errors.New("what it holds is not base64")
	}
	p := &Parcel{Payload: payload}
	for _, s := range e.Signatures {
		signature, err := base64.StdEncoding.DecodeString(s.Sig)
		if err != nil || !isKeyID(s.KeyID) {
			return nil, errors.New("a signature is not base64, or has no valid id of a key")
		}
		p.Signatures = append(p.Signatures, Signature{s.KeyID, signature})
	}
	if len(p.Signatures) == 2 && p.Signatures[0].KeyID == p.Signatures[1].KeyID {
		return nil, errors.New("both signatures are of one key")
	}
	again, err := Enclose(payloadType, payload, p.Signatures...)
	if err != nil || !bytes.Equal(again, text) {
		return nil, errors.New("it is not written as Touchdown writes it")
	}
	return p, nil
}
