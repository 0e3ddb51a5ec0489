package media

import (
	"bytes"
	"errors"
	"strings"

	"touchdown/backend/envelope"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Installed is a site config that an installation medium brings to the node that it installs.
type Installed struct {
	Config     []byte // YAML
	Serial     string // of the machine that it is for
	Unattended bool   // it may start without a person at the site
	Passphrase string // which a person types at the site; "" for none
}

// Files are what the installed node finds as if Bake had put the site config in, by their paths: for root alone, and wiped at the same
// times. Whoever makes the medium decides what runs as root on the node, so that the signature of another key would protect
// nothing: the document is signed with one that nobody has afterwards, as the bake's is. Without a passphrase it is sealed for a key
// that lies beside it, and not for the node's own, which stays unknown to whoever has the medium.
func (i Installed) Files() (*envelope.Document, map[string][]byte, error) {
	if err := envelope.CheckSerial(i.Serial); err != nil {
		return nil, nil, err
	}
	d := envelope.New(i.Serial)
	d.Unattended = i.Unattended
	private, recipient, err := envelope.NewNodeKey()
	if err != nil {
		return nil, nil, err
	}
	files := map[string][]byte{}
	var lock envelope.Lock
	if i.Passphrase != "" {
		lock, err = envelope.PassphraseLock(i.Passphrase)
	} else {
		files[bakedKeyFile] = []byte(private + "\n")
		lock, err = envelope.NodeLock(recipient)
	}
	if err != nil {
		return nil, nil, err
	}
	if files[bakedFile], files[bakedTrustFile], err = signedOnce(&d, i.Config, lock); err != nil {
		return nil, nil, err
	}
	files[bakedNote], files[usedFile] = []byte(d.ID+"\n"), usedText(nil)
	return &d, files, nil
}

// ReadInstalled reads what Files made: the document, and the site config in it, nil where it opens with a passphrase. All are nil where there
// is none. file returns nil for one that is not there. It fails with a *problem.Problem where the node could not use what is there.
func ReadInstalled(file func(path string) []byte) (*envelope.Document, []byte, error) {
	if file(bakedFile) == nil && file(bakedNote) == nil {
		return nil, nil, nil
	}
	d, config, err := readInstalled(file)
	if err != nil {
		return nil, nil, DamagedInstalled(err)
	}
	return d, config, nil
}

// DamagedInstalled is the problem of an installation medium with a site config that no node could use.
func DamagedInstalled(err error) error {
	return &problem.Problem{
		Code: "LVE-STE", Summary: message.T("The site config in the image is damaged, and the node could not use it."),
		Fix: message.T("Make the image again with touchdown iso embed --site."), Err: err,
	}
}

func readInstalled(file func(path string) []byte) (*envelope.Document, []byte, error) {
	trust, err := envelope.ParseTrust(file(bakedTrustFile), nil)
	if err != nil {
		return nil, nil, err
	}
	d, _, err := envelope.Verify(file(bakedFile), trust)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case strings.TrimSpace(string(file(bakedNote))) != d.ID:
		return nil, nil, errors.New("its note names another document")
	case !bytes.Equal(file(usedFile), usedText(nil)):
		return nil, nil, errors.New("the list of what was used is not an empty one")
	case d.Sealed == envelope.WithPassphrase:
		return d, nil, nil
	}
	config, err := d.Unseal(string(file(bakedKeyFile)))
	return d, config, err
}
