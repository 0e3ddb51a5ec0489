package envelope

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// How hard scrypt makes it to try passphrases, as the power of two of its cost.
const (
	typedWork     = 18 // for what people choose, age's own default: 256 MiB and about a second
	generatedWork = 12 // for what GeneratePassphrase makes: 100 bits of chance need no help, and a thousand media are made in seconds
	maxWork       = typedWork
)

// minPassphrase is the shortest passphrase that is taken, in characters: what NIST SP 800-63B asks for with one factor. Chosen.
const minPassphrase = 15

// Lock is what a site config is sealed with.
type Lock struct {
	kind Sealing
	to   age.Recipient
}

// PassphraseLock seals with a passphrase that a person chose.
func PassphraseLock(passphrase string) (Lock, error) {
	if n := len([]rune(passphrase)); n < minPassphrase {
		return Lock{}, fmt.Errorf("the passphrase has %d characters; use at least %d, several words for example", n, minPassphrase)
	}
	return passphraseLock(passphrase, typedWork)
}

// GeneratedLock seals with a new passphrase, which it returns: 20 letters and digits in groups of five, 100 bits.
func GeneratedLock() (lock Lock, passphrase string, err error) {
	letters := rand.Text()[:20]
	passphrase = strings.Join([]string{letters[:5], letters[5:10], letters[10:15], letters[15:]}, "-")
	lock, err = passphraseLock(passphrase, generatedWork)
	return lock, passphrase, err
}

func passphraseLock(passphrase string, work int) (Lock, error) {
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return Lock{}, fmt.Errorf("sealing with a passphrase: %w", err)
	}
	to.SetWorkFactor(work)
	return Lock{WithPassphrase, to}, nil
}

// NodeLock seals for the key of one node, by its public half: "age1" and 58 characters.
func NodeLock(recipient string) (Lock, error) {
	to, err := age.ParseX25519Recipient(strings.TrimSpace(recipient))
	if err != nil {
		return Lock{}, errors.New("the node's public key is not one of age: age1 and 58 letters and digits")
	}
	return Lock{ForNode, to}, nil
}

// NewNodeKey makes the key of a node: its private half, and the public one to which media are sealed.
func NewNodeKey() (private, recipient string, err error) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", fmt.Errorf("making a node's key: %w", err)
	}
	return key.String(), key.Recipient().String(), nil
}

// Recipient is the public half of a node's key.
func Recipient(private string) (string, error) {
	key, err := age.ParseX25519Identity(strings.TrimSpace(private))
	if err != nil {
		return "", errors.New("it is not a private key of a node") // age's own error could tell a part of it
	}
	return key.Recipient().String(), nil
}

// Seal puts a site config into a document; the zero Lock leaves it readable.
func (d *Document) Seal(config []byte, lock Lock) error {
	if lock.to == nil {
		d.Sealed, d.Site = NotSealed, config
		return nil
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, lock.to)
	if err == nil {
		_, err = w.Write(config)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("sealing the site config: %w", err)
	}
	d.Sealed, d.Site = lock.kind, sealed.Bytes()
	return nil
}

// Unseal returns the site config of a document: with the passphrase, with the private half of the node's key, or, where it is not
// sealed, without either. It fails with a *problem.Problem, which does not hold the secret.
func (d *Document) Unseal(secret string) ([]byte, error) {
	if d.Sealed == NotSealed {
		return d.Site, nil
	}
	key, err := d.identity(secret)
	if err != nil {
		return nil, err
	}
	opened, err := age.Decrypt(bytes.NewReader(d.Site), key)
	if err != nil {
		return nil, d.notOpened(err)
	}
	config, err := io.ReadAll(io.LimitReader(opened, maxSite+1))
	if err != nil || len(config) > maxSite {
		return nil, &problem.Problem{Code: "MED-SEAL", Summary: message.T("The sealed site config is damaged or too large."), Fix: message.T("Make the medium again with touchdown media write."), Err: err}
	}
	return config, nil
}

func (d *Document) identity(secret string) (age.Identity, error) {
	secret = strings.TrimSpace(secret)
	if d.Sealed == ForNode {
		key, err := age.ParseX25519Identity(secret)
		if err != nil {
			return nil, refusal("MED-NKEY", message.T("The medium is sealed for a node's own key, and what was given is not such a key."), message.T("Give the private half of the node's key, which begins with AGE-SECRET-KEY-1."))
		}
		return key, nil
	}
	key, err := age.NewScryptIdentity(secret)
	if err != nil {
		return nil, refusal("MED-PASS", message.T("The medium opens with a passphrase, and none was given."), message.T("Give the passphrase that belongs to this medium."))
	}
	key.SetMaxWorkFactor(maxWork)
	return key, nil
}

// notOpened tells why a seal did not open. age's own words for a wrong passphrase are those of a wrong key.
func (d *Document) notOpened(err error) error {
	wrong := errors.Is(err, age.ErrIncorrectIdentity)
	switch {
	case wrong && d.Sealed == ForNode:
		return refusal("MED-NKEY", message.T("The medium is sealed for the key of another node."), message.T("Look for the medium of this node, or have one made for the public key that its factory record has."))
	case wrong:
		return refusal("MED-PASS", message.T("The passphrase is wrong."), message.T("Type it again, in capitals and with the dashes if it was printed so. Each medium of a batch has its own."))
	}
	return &problem.Problem{Code: "MED-SEAL", Summary: message.T("The sealed site config cannot be opened: it is damaged, or asks for more work than Touchdown accepts."), Fix: message.T("Make the medium again with touchdown media write."), Err: err}
}
