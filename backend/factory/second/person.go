// Package second keeps whether a factory demands a second person for a seal, and who the two people are.
package second

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"touchdown/backend/envelope"
	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
)

// Person is a factory's demand that two people stand behind a seal, and who they are on this stay of the node on the bench line. A node
// keeps it over its reboots: no key that signs is in it.
type Person struct {
	Keys    string `json:"keys"`              // the public halves (PEM) of the keys of those who may sign
	Revoked string `json:"revoked,omitempty"` // a list of revoked keys, as envelope.ParseRevoked reads it
	Stay    string `json:"stay,omitempty"`    // for which the rest holds
	First   string `json:"first,omitempty"`   // the name of who runs the list
	Name    string `json:"name,omitempty"`    // that of the second person
	KeyFile string `json:"keyFile,omitempty"` // the whole path of the second person's private key
	Agreed  bool   `json:"agreed,omitempty"`  // the second person signs without being asked, once
}

const (
	kept = layout.FactoryState + "/second-person.json"

	maxName = 100      // bytes of a name, which stands on one or two lines of a report. Chosen
	maxKey  = 64 << 10 // bytes of a private key; one of Ed25519 has 119
)

// Of reads what the node keeps of the demand; nil where nobody demands a second person. Who they are does not outlive the stay.
func Of(m *host.Machine) (*Person, error) {
	data, err := m.ReadFile(kept)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var s Person
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("reading who has to sign the seal: %w", err)
	}
	if stay := factory.Stay(m); s.Stay != stay {
		s = Person{Keys: s.Keys, Revoked: s.Revoked, Stay: stay}
	}
	return &s, nil
}

// Keep writes it down on the node.
func (s *Person) Keep(m *host.Machine) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding who has to sign the seal: %w", err)
	}
	return m.WriteFile(kept, append(data, '\n'), 0o600)
}

// Forget takes the demand back.
func Forget(m *host.Machine) error { return m.Remove(kept) }

// AloneMay refuses to arm a node that two people have to seal (FAC-2ND).
func AloneMay(m *host.Machine) error {
	s, err := Of(m)
	if err != nil || s == nil {
		return err
	}
	return &problem.Problem{
		Code: "FAC-2ND", Summary: message.T("The seal of this node needs two people, and `bake --arm` asks nobody."),
		Fix: message.T("Seal it with `touchdown factory`."),
	}
}

// Trust is whose signature counts. Its error is of who gave the keys.
func (s *Person) Trust() (*envelope.Trust, error) {
	return envelope.ParseTrust([]byte(s.Keys), []byte(s.Revoked))
}

// CheckName judges the name of a person; "" is none.
func CheckName(name string) error {
	switch {
	case len(name) > maxName || !value.OneLine(name):
		return message.Failed(message.F("has to be one line of at most %d bytes", maxName))
	case letters(name) == "":
		return message.Failed(message.T("has to have a letter"))
	}
	return nil
}

// Same tells whether two names are of one person, however they are spelled: in other letters of the same kind, with other blanks or dots.
func Same(a, b string) bool { return strings.EqualFold(letters(a), letters(b)) }

// letters is what tells a name from others.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.L, unicode.M, unicode.N) {
			return r
		}
		return -1
	}, norm.NFKC.String(name))
}

// CheckKeyFile judges the path of a key. Whether it is there counts when it is used.
func CheckKeyFile(path string) error {
	if !filepath.IsAbs(path) || len(path) > 1<<10 || !value.OneLine(path) {
		return message.Failed(message.T("has to be the whole path of a file"))
	}
	return nil
}

// Check refuses a seal behind which two different people do not stand (FAC-2ND).
func (s *Person) Check() error {
	p := &problem.Problem{
		Code: "FAC-2ND", Summary: message.T("This seal needs two people, and not both are named."),
		Fix: message.T("Name who runs the list, and someone else who checks it: on the page \"Seal\", or with `touchdown factory --by NAME --second NAME`."),
	}
	switch {
	case CheckName(s.First) != nil || CheckName(s.Name) != nil:
		return p
	case Same(s.First, s.Name):
		p.Summary = message.F("This seal needs two people, and %s is named twice.", s.Name)
		return p
	}
	return nil
}

// Key reads the second person's private key, and refuses one that does not count (FAC-2KEY). It stays in memory.
func (s *Person) Key() (envelope.SigningKey, error) {
	unusable := func(why error) error {
		return &problem.Problem{
			Code: "FAC-2KEY", Summary: message.F("The key of %s (%s) cannot be used: %s.", s.Name, s.KeyFile, message.Detail(why)),
			Fix: message.T("Give the file with the second person's private key, for example on their stick, readable by its owner alone (chmod 600; FAT: mount -o umask=077). `touchdown factory --second-key` says whose keys count."),
		}
	}
	if s.KeyFile == "" {
		return envelope.SigningKey{}, &problem.Problem{
			Code: "FAC-2KEY", Summary: message.F("No file is named for the key of %s.", s.Name),
			Fix: message.T("Name its file: on the page \"Seal\", or with `touchdown factory --second-sign FILE`."),
		}
	}
	text, err := envelope.ReadSecret(s.KeyFile, maxKey)
	if errors.Is(err, envelope.ErrOthersMayRead) {
		err = message.Failed(message.T("others may read it"))
	}
	if err != nil {
		return envelope.SigningKey{}, unusable(err)
	}
	key, err := envelope.ParseSigningKey(text)
	if err != nil {
		return envelope.SigningKey{}, unusable(err)
	}
	trust, err := s.Trust()
	switch {
	case err != nil:
		return envelope.SigningKey{}, unusable(err)
	case trust.Has(key.Public()):
		return key, nil
	case slices.Contains(trust.IDs(), key.ID()):
		return envelope.SigningKey{}, unusable(message.Failed(message.F("key %s was revoked", key.ID())))
	}
	return envelope.SigningKey{}, unusable(message.Failed(message.F("key %s is not among those that may sign", key.ID())))
}
