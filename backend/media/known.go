package media

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// What a node knows of media, below layout.Media.
const (
	trustFile   = layout.Media + "/trusted.pub" // public halves of the signing keys, PEM
	revokedFile = layout.Media + "/revoked"     // ids of keys that media revoked
	keyFile     = layout.Media + "/node.key"    // private half of the node's own key
	publicFile  = layout.Media + "/node.pub"    // its public half
	usedFile    = layout.Media + "/used"        // ids of the documents that were used, one a line
	leftFile    = layout.Media + "/left"        // what was left on media last, so that it is not left again after a restart
)

// chosenFile has the keys that the bench line was told, for the bake, which comes after a reboot.
const chosenFile = layout.FactoryState + "/media.pub"

// usedText is the list of what was used. Its first line has their number, so that a list that lost some is not a list.
func usedText(ids []string) []byte {
	return []byte(strings.Join(append([]string{fmt.Sprintf("# site media that this node has used: %d", len(ids))}, ids...), "\n") + "\n")
}

// Known is what a node knows of media: whose signatures it trusts, its own key, and what it has used.
type Known struct{ machine *host.Machine }

// Of is what a machine knows.
func Of(m *host.Machine) Known { return Known{m} }

// Trusts lists the ids of the keys that the node trusts, sorted; none where it was given none.
func (k Known) Trusts() ([]string, error) {
	keys, err := k.machine.ReadFile(trustFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	trust, err := envelope.ParseTrust(keys, nil)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", trustFile, err)
	}
	return trust.IDs(), nil
}

// Choose keeps the public halves of keys for Chosen.
func (k Known) Choose(keys []byte) error { return k.machine.WriteFile(chosenFile, keys, 0o600) }

// Chosen are the keys that were given to Choose last, nil for none.
func (k Known) Chosen() ([]byte, error) {
	keys, err := k.machine.ReadFile(chosenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return keys, err
}

// Lay has the node trust the keys whose public halves are given, and no others, and makes its own key where it has none. It
// returns whether it changed something.
func (k Known) Lay(keys []byte) (changed bool, err error) {
	if _, err := envelope.ParseTrust(keys, nil); err != nil {
		return false, err
	}
	_, changed, err = k.own()
	if err != nil {
		return false, err
	}
	laid, err := k.put(trustFile, keys) // the trusted keys come last: without them no medium is used
	return changed || laid, err
}

// own makes the node's own key and its list of what was used, where it has none, and returns the key's public half.
func (k Known) own() (recipient string, changed bool, err error) {
	private, err := k.machine.ReadFile(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		changed = true
		var key string
		if key, _, err = envelope.NewNodeKey(); err == nil {
			private = []byte(key + "\n")
			err = k.machine.WriteFile(keyFile, private, 0o600)
		}
	}
	if err != nil {
		return "", false, err
	}
	if recipient, err = envelope.Recipient(string(private)); err != nil {
		return "", false, fmt.Errorf("reading %s: %w", keyFile, err)
	}
	// A list that was lost is not made good by an empty one.
	if !k.machine.Exists(usedFile) && !k.machine.Exists(trustFile) && !k.machine.Exists(bakedTrustFile) {
		if _, err := k.put(usedFile, usedText(nil)); err != nil {
			return "", false, err
		}
		changed = true
	}
	laid, err := k.put(publicFile, []byte(recipient+"\n"))
	return recipient, changed || laid, err
}

// put writes a file unless it has that content, and tells whether it did.
func (k Known) put(file string, data []byte) (changed bool, err error) {
	if old, err := k.machine.ReadFile(file); err == nil && bytes.Equal(old, data) {
		return false, nil
	}
	return true, k.machine.WriteFile(file, data, 0o600)
}

// Forget takes away the keys that Lay and Releases.Lay laid, and the site config that Bake put in, with its key: the next bake starts over. Media that are sealed for the node do not open any
// more. Which media were used and which keys are revoked stays: a node that is baked again must not take an old medium for a new one.
func (k Known) Forget() error {
	errs := []error{EndStart(k.machine, true), k.DropBaked()} // whether that start ran is not known here
	for _, file := range []string{beginFile, trustFile, releaseFile, bakedTrustFile, keyFile, publicFile, haltedFile, sealedFile, overFile} {
		errs = append(errs, k.machine.Remove(file))
	}
	return errors.Join(errs...)
}

// Recipient is the public half of the node's own key, for which media are sealed; "" where it has none.
func (k Known) Recipient() (string, error) {
	text, err := k.machine.ReadFile(publicFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// secret is the private half of the node's own key, or, for a site config that an installation medium brought, of the one beside it.
func (k Known) secret(baked bool) (string, error) {
	if baked && k.machine.Exists(bakedKeyFile) {
		text, err := k.machine.ReadFile(bakedKeyFile)
		return string(text), err
	}
	text, err := k.machine.ReadFile(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &problem.Problem{
			Code: "MED-NKEY", Summary: message.T("The medium is sealed for a node's own key, and this node has none."),
			Fix: message.T("Have a medium made that is sealed with a passphrase."), Err: err,
		}
	}
	return string(text), err
}

// verify reads a signed document that this node may use now: one of a medium, or the one that was put in at the bake.
func (k Known) verify(text []byte, baked bool) (d *envelope.Document, signer string, err error) {
	trust, err := k.Trust(baked)
	if err != nil {
		return nil, "", err
	}
	used, err := k.used()
	if err != nil {
		return nil, "", err
	}
	if d, signer, err = envelope.Verify(text, trust); err != nil {
		return nil, "", err
	}
	return d, signer, d.For(k.machine.Serial(), used)
}

// is tells whether a signed document is the one with an id, for this node and signed with a key that it trusts.
func (k Known) is(text []byte, id string) bool {
	trust, err := k.Trust(false)
	if err != nil {
		return false
	}
	d, _, err := envelope.Verify(text, trust)
	return err == nil && d.ID == id && d.For(k.machine.Serial(), nil) == nil
}

// Trust is whose signatures count now, a Problem (MED-UKEY) where the node trusts none. What was put in at the bake was signed with a key
// that was made for it and thrown away.
func (k Known) Trust(baked bool) (*envelope.Trust, error) {
	file := trustFile
	if baked {
		file = bakedTrustFile
	}
	keys, err := k.machine.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &problem.Problem{
			Code: "MED-UKEY", Summary: message.T("This node trusts no key that signs media."),
			Fix: message.T("Enter the answers at the console. The factory adds the key with touchdown factory --media-key."), Err: err,
		}
	}
	if err != nil {
		return nil, lost(file, err)
	}
	revoked, err := Revoked(k.machine)
	if err != nil {
		return nil, err
	}
	trust, err := envelope.ParseTrust(keys, revoked)
	if err != nil {
		return nil, lost(file, err)
	}
	return trust, nil
}

// Revoked is the list of keys that media have revoked, as envelope.ParseRevoked reads it; nil where none did.
func Revoked(m *host.Machine) ([]byte, error) {
	revoked, err := m.ReadFile(revokedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, lost(revokedFile, err)
	}
	return revoked, nil
}

// used are the ids of the documents that were used. Without that record no medium is: it may be one of them.
func (k Known) used() ([]string, error) {
	text, err := k.machine.ReadFile(usedFile)
	if err != nil {
		return nil, lost(usedFile, err)
	}
	_, list, _ := strings.Cut(string(text), "\n")
	ids := strings.Fields(list)
	if !bytes.Equal(text, usedText(ids)) {
		return nil, lost(usedFile, errors.New("it is not as it was written"))
	}
	return ids, nil
}

// Last is the document that was used last; "" where none was.
func (k Known) Last() (string, error) {
	used, err := k.used()
	if err != nil || len(used) == 0 {
		return "", err
	}
	return used[len(used)-1], nil
}

// revoking is the list of revoked keys with more in it; nil where it has them all.
func revoking(k Known, ids []string) ([]byte, error) {
	text, err := Revoked(k.machine)
	if err != nil {
		return nil, err
	}
	known, err := envelope.ParseRevoked(text)
	if err != nil {
		return nil, lost(revokedFile, err)
	}
	more := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(known, id) })
	if len(more) == 0 {
		return nil, nil
	}
	text = []byte(strings.Join(append(known, more...), "\n") + "\n")
	_, err = envelope.ParseRevoked(text) // more than are kept: the node could not read them again
	return text, err
}

// lost is the error of a record that is not there or cannot be read: the node does not guess.
func lost(file string, err error) error {
	return &problem.Problem{
		Code: "MED-REC", Summary: message.F("The node's record %s cannot be read, so no medium is used.", file),
		Fix: message.T("Enter the answers at the console, and tell your support."), Err: err,
	}
}
