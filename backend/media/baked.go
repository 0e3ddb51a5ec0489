package media

import (
	"context"
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

// The site config that the factory put into the node, as a document that a medium could bring, and the key that signed it.
const (
	bakedFile      = layout.Media + "/baked.dsse.json"
	bakedTrustFile = layout.Media + "/baked.pub"
	// bakedKeyFile opens one that an installation medium brought: the node had no key when that was made.
	bakedKeyFile = layout.Media + "/baked.key"

	// bakedNote has the id of the document that was put in, for the seal, which comes some reboots later.
	bakedNote = layout.FactoryState + "/site"
)

// BakedSource is where the answers of that site config come from.
const BakedSource = "factory"

// Bake puts a site config into the node, in the place of an earlier one, which may start without a person at the site: bound to the serial number of this machine, sealed for its own
// key, good for one use. A copy of the disk in another machine is refused there. The document is signed with a key that nobody has
// afterwards, so that no other one can take its place. It fails with a *problem.Problem where the machine tells no serial number.
func (k Known) Bake(config []byte, unattended bool) (*envelope.Document, error) {
	serial := k.machine.Serial()
	if serial == "" {
		return nil, &problem.Problem{
			Code: "MED-SER", Summary: message.T("The firmware of this machine has no serial number, so no site config can be put in for this machine alone."),
			Fix: message.T("Have the serial number set in the firmware, or send the site config on a medium."),
		}
	}
	recipient, _, err := k.own()
	if err != nil {
		return nil, err
	}
	lock, err := envelope.NodeLock(recipient)
	if err != nil {
		return nil, fmt.Errorf("sealing the site config: %w", err)
	}
	d := envelope.New(serial)
	d.Unattended = unattended
	signed, public, err := signedOnce(&d, config, lock)
	if err != nil {
		return nil, err
	}
	// The note comes first: a power cut in between leaves one without its document, which the seal refuses, and the command is run again.
	if err := k.machine.WriteFile(bakedNote, []byte(d.ID+"\n"), 0o600); err != nil {
		return nil, err
	}
	// A file that is only replaced leaves the old one's blocks. Whether a start with that ran is not known here.
	if err := errors.Join(EndStart(k.machine, true), k.DropBaked()); err != nil {
		return nil, err
	}
	if err := k.machine.WriteFile(bakedTrustFile, public, 0o600); err != nil {
		return nil, err
	}
	return &d, k.machine.WriteFile(bakedFile, signed, 0o600)
}

// signedOnce seals a site config into a document, and signs that with a key that nobody has afterwards, whose public half it returns.
func signedOnce(d *envelope.Document, config []byte, lock envelope.Lock) (signed, public []byte, err error) {
	if err := d.Seal(config, lock); err != nil {
		return nil, nil, err
	}
	key, err := envelope.NewSigningKey()
	if err != nil {
		return nil, nil, err
	}
	signed, err = envelope.Sign(*d, key)
	return signed, key.Public().PEM(), err
}

// Baked is the document that Bake, or an installation medium, put in; nil where there was none, or TakeBack took it back. It fails with a *problem.Problem where
// the node has not that document, or could not use it at its site.
func (k Known) Baked() (*envelope.Document, error) {
	note, err := k.machine.ReadFile(bakedNote)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := usable(k, strings.TrimSpace(string(note)))
	if err != nil {
		return nil, &problem.Problem{
			Code: "MED-BAKE", Summary: message.T("The site config that was put into this node is not there any more, or cannot be used."),
			Fix: message.T("Put it in again: touchdown factory --site FILE. To seal the node without it run touchdown factory --reopen first."), Err: err,
		}
	}
	return d, nil
}

// usable is the document with an id that was put in, which the node could use.
func usable(k Known, id string) (*envelope.Document, error) {
	signed, err := k.machine.ReadFile(bakedFile)
	if err != nil {
		return nil, err
	}
	d, _, err := k.verify(signed, true)
	if err != nil {
		return nil, err
	}
	if d.ID != id {
		return nil, fmt.Errorf("it is document %s, and %s was put in", d.ID, id)
	}
	if d.Sealed == envelope.WithPassphrase { // which whoever is at the site has
		return d, nil
	}
	secret, err := k.secret(true)
	if err != nil {
		return nil, err
	}
	_, err = d.Unseal(secret)
	return d, err
}

// TakeBack wipes the site config of an earlier stay on the bench line, so that the seal asks for none, and returns whether there was one.
func (k Known) TakeBack() (was bool, err error) {
	was = k.machine.Exists(bakedFile) || k.machine.Exists(bakedNote)
	return was, errors.Join(EndStart(k.machine, true), k.DropBaked(), k.machine.Remove(bakedNote))
}

// DropBaked wipes the site config that was put in at the bake. The key goes first: what a power cut leaves opens no more, and is dropped
// by whoever calls this next.
func (k Known) DropBaked() error {
	for _, file := range []string{bakedKeyFile, bakedFile} {
		if !k.machine.Exists(file) {
			continue
		}
		if err := host.Wipe(context.Background(), k.machine.Path(file)); err != nil {
			return err
		}
	}
	return nil
}

// withBaked are media and, behind them, the site config that was put in at the bake.
func withBaked(k Known, found []*Medium) []*Medium {
	found = slices.DeleteFunc(found, func(f *Medium) bool { return f.baked })
	signed, err := k.machine.ReadFile(bakedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return found
	}
	f := &Medium{Device: "in the node", Label: "FACTORY", baked: true, signed: signed}
	if err != nil {
		f.signed, f.Refused = nil, problem.From(lost(bakedFile, err))
	}
	return append(found, f)
}

// usedUp notes that a document was used. What was put in at the bake is wiped then: the answers are the engine's by now.
func usedUp(k Known, f *Medium) error {
	err := use(k, f.document)
	if err == nil && f.baked {
		_ = k.DropBaked() // one that stays was used, keeps no landing from starting, and is wiped at the hand-over
	}
	return err
}
