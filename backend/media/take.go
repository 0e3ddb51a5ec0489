package media

import (
	"cmp"
	"slices"

	"touchdown/backend/envelope"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Taken is a site config from a medium.
type Taken struct {
	Text   []byte       // YAML
	Source string       // where its answers come from: "stick SITECONFIG"
	Use    func() error // notes on disk that a person used it; nothing may change on its word before
	Begin  func() error // notes on disk that a start with it and nobody there begins, until EndStart; nothing may change on its word before
}

// Take opens the site config of a document, by its id, on a medium that the last look found: with a passphrase, or with the node's
// own key. A device's name would do for whatever was put into the socket since a person looked. It fails with a *problem.Problem.
func (w *Watcher) Take(id, passphrase string) (*Taken, error) {
	found := w.Found()
	i := slices.IndexFunc(found, func(f *Medium) bool { return f.id != "" && f.id == id })
	if i < 0 {
		return nil, &problem.Problem{
			Code: "MED-AWAY", Summary: message.T("The medium that was chosen is no longer there."),
			Fix: message.T("Put it in again and wait until it is listed, or choose another one that is listed."),
		}
	}
	f := w.judged(found[i])
	if f.Refused != nil {
		return nil, f.Refused
	}
	secret := passphrase
	if f.Sealed() == envelope.ForNode {
		var err error
		if secret, err = w.known.secret(f.baked); err != nil {
			return nil, err
		}
	}
	text, err := f.document.Unseal(secret)
	if err != nil {
		return nil, err
	}
	source := "stick " + cmp.Or(f.Label, f.Device)
	if f.baked {
		source = BakedSource
	}
	return &Taken{
		Text: text, Source: source,
		Use: func() error { return usedUp(w.known, f) }, Begin: func() error { return begin(w.known, f) },
	}, nil
}
