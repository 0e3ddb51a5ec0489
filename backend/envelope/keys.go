package envelope

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchdown/backend/value"
)

// SigningKey is an Ed25519 key that signs media, or one that signs releases.
type SigningKey struct{ key ed25519.PrivateKey }

// NewSigningKey makes one.
func NewSigningKey() (SigningKey, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return SigningKey{}, fmt.Errorf("making a signing key: %w", err)
	}
	return SigningKey{key}, nil
}

// ID names the key: the first 16 hexadecimal digits of the SHA-256 of its public half. People compare it.
func (k SigningKey) ID() string { return keyID(k.public()) }

func (k SigningKey) public() ed25519.PublicKey { return ed25519.PublicKey(k.key[ed25519.SeedSize:]) }

func keyID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

func isKeyID(id string) bool {
	_, err := hex.DecodeString(id)
	return err == nil && len(id) == 16 && strings.ToLower(id) == id
}

const (
	pemPrivate = "PRIVATE KEY" // PKCS 8
	pemPublic  = "PUBLIC KEY"  // PKIX
)

// Files are the key's two halves as PEM, as openssl reads them.
func (k SigningKey) Files() (private, public []byte, err error) {
	secret, err := x509.MarshalPKCS8PrivateKey(k.key)
	if err != nil {
		return nil, nil, fmt.Errorf("writing a signing key: %w", err)
	}
	open, err := x509.MarshalPKIXPublicKey(k.public())
	if err != nil {
		return nil, nil, fmt.Errorf("writing a signing key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemPrivate, Bytes: secret}), pem.EncodeToMemory(&pem.Block{Type: pemPublic, Bytes: open}), nil
}

// releaseMark is a line in front of both halves of a key that signs releases, which are programs that run as root. Without it a key is
// one for media, as all were that have none. openssl reads over it.
const releaseMark = "Touchdown key for releases"

// ForReleases is one half of a key, as Files returns it, as that of a key for releases.
func ForReleases(half []byte) []byte { return append([]byte(releaseMark+"\n"), half...) }

// marked tells whether there is the mark of a key for releases in a part of a file.
func marked(part []byte) bool {
	for line := range bytes.Lines(part) {
		if string(bytes.TrimSpace(line)) == releaseMark {
			return true
		}
	}
	return false
}

// ParseSigningKey reads the private half of a key that signs anything but releases, which openssl does.
func ParseSigningKey(text []byte) (SigningKey, error) {
	if marked(text) {
		return SigningKey{}, errors.New("it is a key for releases, which signs nothing else; touchdown media keygen makes one for media")
	}
	return parseSigningKey(text)
}

// ParseReleaseKey reads the private half of a key for releases, which signs what has nodes install one. openssl signs the release itself.
func ParseReleaseKey(text []byte) (SigningKey, error) {
	if !marked(text) {
		return SigningKey{}, errors.New("it is not a key for releases; touchdown media keygen --release makes one")
	}
	return parseSigningKey(text)
}

func parseSigningKey(text []byte) (SigningKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemPrivate {
		return SigningKey{}, errors.New("there is no private key in it; touchdown media keygen makes one")
	}
	any, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return SigningKey{}, fmt.Errorf("reading a signing key: %w", err)
	}
	key, ok := any.(ed25519.PrivateKey)
	if !ok {
		return SigningKey{}, errors.New("it is not an Ed25519 key; touchdown media keygen makes one")
	}
	return SigningKey{key}, nil
}

// Trust is whose signatures count.
type Trust struct {
	keys    map[string]ed25519.PublicKey // by id
	revoked map[string]bool
}

// ParseTrust reads the public halves of trusted keys for media, one PEM behind the other, and a list of revoked ones as ParseRevoked reads
// it, which can be empty.
func ParseTrust(keys, revoked []byte) (*Trust, error) { return parseTrust(keys, revoked, false) }

// ParseReleaseTrust does the same with keys for releases.
func ParseReleaseTrust(keys, revoked []byte) (*Trust, error) { return parseTrust(keys, revoked, true) }

func parseTrust(keys, revoked []byte, releases bool) (*Trust, error) {
	t := &Trust{keys: map[string]ed25519.PublicKey{}, revoked: map[string]bool{}}
	if _, torn := value.PEM(keys); torn > 0 {
		return nil, fmt.Errorf("reading trusted keys: block %d is cut off or damaged", torn)
	}
	for rest := keys; len(bytes.TrimSpace(rest)) > 0; {
		var block *pem.Block
		from := rest
		if block, rest = pem.Decode(rest); block == nil || block.Type != pemPublic {
			return nil, errors.New("reading trusted keys: there is something else than public keys among them")
		}
		any, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("reading trusted keys: %w", err)
		}
		key, ok := any.(ed25519.PublicKey)
		if !ok {
			return nil, errors.New("reading trusted keys: one of them is not an Ed25519 key")
		}
		switch isRelease := marked(from[:len(from)-len(rest)]); {
		case isRelease && !releases:
			return nil, fmt.Errorf("reading trusted keys: %s is a key for releases, not for media", keyID(key))
		case !isRelease && releases:
			return nil, fmt.Errorf("reading trusted keys: %s is a key for media, not for releases", keyID(key))
		}
		t.keys[keyID(key)] = key
	}
	if len(t.keys) == 0 {
		return nil, errors.New("reading trusted keys: there are none")
	}
	ids, err := ParseRevoked(revoked)
	for _, id := range ids {
		t.revoked[id] = true
	}
	return t, err
}

// IDs names the trusted keys, sorted.
func (t *Trust) IDs() []string { return slices.Sorted(maps.Keys(t.keys)) }

// ParseRevoked reads the ids of revoked keys: the first word of each line that is neither empty nor begins with #.
func ParseRevoked(text []byte) ([]string, error) {
	var ids []string
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if !isKeyID(words[0]) {
			return nil, fmt.Errorf("reading revoked keys: line %d does not begin with the id of a key, 16 hexadecimal digits", number)
		}
		ids = append(ids, words[0])
	}
	if len(ids) > maxRevoked {
		return nil, fmt.Errorf("reading revoked keys: there are %d, more than %d", len(ids), maxRevoked)
	}
	return ids, nil
}
