// Package ledger keeps what makes each shipped node itself, a JSON line for each, so that a node made from the disk of another one
// is found before it is shipped: both would be one cluster, with one set of keys.
package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// format is the version of a line. It only rises.
const format = 1

// Entry is a line of the ledger.
type Entry struct {
	Format    int               `json:"format"`
	Sealed    time.Time         `json:"sealed"`
	Serial    string            `json:"serial,omitempty"` // of the machine
	MACs      []string          `json:"macs,omitempty"`   // of its ports, sorted
	ClusterID string            `json:"clusterID"`
	Keys      map[string]string `json:"keys"`                     // SHA-256 of the public keys, by what they are
	ReportKey string            `json:"reportKey,omitempty"`      // the public key for the signatures of its reports: the line of a PEM file
	Shared    string            `json:"sharedIdentity,omitempty"` // why it may share them with another node
	Seal
	Returned time.Time `json:"returned,omitzero"`  // when it came back to the factory; zero: the line tells that it was sealed
	Wiped    time.Time `json:"wiped,omitzero"`     // when it was wiped, by its own signed statement; zero: it was not, since this line
	MediaKey string    `json:"mediaKey,omitempty"` // the node's public key, for which site media are sealed
	Before   string    `json:"before,omitempty"`   // SHA-256 of all lines before it; lines of earlier releases have none
}

// Seal is who stands behind a seal, where two people do; it is empty where one does.
type Seal struct {
	SealedBy     string `json:"sealedBy,omitempty"`
	SecondPerson string `json:"secondPerson,omitempty"`
	SecondKey    string `json:"secondKey,omitempty"` // the second person's public key, in the form of ReportKey
}

// Clash is another node with the same identity.
type Clash struct {
	Other  Entry
	Shared []message.Text // what is the same: "the cluster id", "the CA key router-ca"
}

// Text says it in a sentence's end: "SN 1234, sealed on 2026-01-02: the cluster id and 3 more".
func (c Clash) Text() message.Text {
	what := c.Shared[0]
	if n := len(c.Shared) - 1; n > 0 {
		what = message.F("%s and %d more", what, n)
	}
	serial := message.Data(c.Other.Serial)
	if c.Other.Serial == "" {
		serial = message.T("not known")
	}
	return message.F("SN %s, sealed on %s: %s", serial, c.Other.Sealed.UTC().Format(time.DateOnly), what)
}

// unit tells whether both lines are of one machine: a node that is sealed again is not a copy of itself. Ports can move, and some have
// the same address in all machines of a kind, so two serial numbers tell more than they do.
func (e Entry) unit(o Entry) bool {
	if e.Serial != "" && o.Serial != "" && e.Serial != o.Serial {
		return false
	}
	if len(e.MACs) > 0 && len(o.MACs) > 0 {
		return slices.ContainsFunc(e.MACs, func(mac string) bool { return slices.Contains(o.MACs, mac) })
	}
	return e.Serial != "" && e.Serial == o.Serial
}

// shares lists what the two have in common.
func (e Entry) shares(o Entry) (what []message.Text) {
	if e.ClusterID != "" && e.ClusterID == o.ClusterID {
		what = append(what, message.T("the cluster id"))
	}
	if e.MediaKey != "" && e.MediaKey == o.MediaKey {
		what = append(what, message.T("the key for site media"))
	}
	theirs := slices.Collect(maps.Values(o.Keys))
	for _, name := range slices.Sorted(maps.Keys(e.Keys)) {
		if slices.Contains(theirs, e.Keys[name]) {
			what = append(what, keyText(name))
		}
	}
	return what
}

// keyText is the name of a key of an entry.
func keyText(name string) message.Text {
	if ca, is := strings.CutPrefix(name, caKey); is {
		return message.F("the CA key %s", ca)
	}
	if host, is := strings.CutPrefix(name, hostKey); is {
		return message.F("the SSH host key %s", host)
	}
	if name == reportKey {
		return message.T("the report key")
	}
	return message.Data(name)
}

// Prepare makes an empty ledger where there is none yet, and tells whether it did; one that is there has to be usable. Nothing else
// makes one: later a file that is missing means that its volume is not mounted.
func Prepare(path string) (made bool, err error) {
	_, err = Find(path, Entry{})
	if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return false, unusable(path, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return false, unusable(path, err)
	}
	return true, nil
}

// Find reads a ledger and returns the other machines with the same identity.
func Find(path string, e Entry) ([]Clash, error) {
	var is found
	if _, err := scan(path, is.compare(e)); err != nil {
		return nil, err
	}
	return is.clashes, nil
}

// found is what a ledger tells about a node.
type found struct {
	clashes []Clash
	entered bool   // the last line of this machine says what it is now
	last    *Entry // that line
}

// compare compares each line with the node.
func (is *found) compare(e Entry) visit {
	return func(_ string, _ []byte, o Entry) error {
		if e.unit(o) {
			is.entered, is.last = same(e, o) && o.Returned.IsZero() && o.Wiped.IsZero(), &o
		} else if what := e.shares(o); len(what) > 0 {
			is.clashes = append(is.clashes, Clash{o, what})
		}
		return nil
	}
}

// same compares two lines of one machine but for their time.
func same(a, b Entry) bool {
	return a.Serial == b.Serial && slices.Equal(a.MACs, b.MACs) && a.ClusterID == b.ClusterID && maps.Equal(a.Keys, b.Keys) &&
		a.ReportKey == b.ReportKey && a.MediaKey == b.MediaKey && a.Shared == b.Shared && a.Seal == b.Seal
}

// Enter adds the node to the ledger, unless another one has its identity: then it fails as Copy says, but for an entry that says why it
// may. The ledger has to be there (Prepare). Nobody else writes it meanwhile, so of two copies that are sealed at the same time one is refused. A node that is in it stays.
func Enter(path string, e Entry) error {
	return add(path, e, func(is found) (*Entry, error) {
		switch {
		case len(is.clashes) > 0 && e.Shared == "":
			return nil, Copy(is.clashes)
		case is.entered:
			return nil, nil
		}
		return &e, nil
	})
}

// add adds the line that choose makes of what the ledger tells about a node, if it makes one. Nobody else writes meanwhile.
func add(path string, e Entry, choose func(found) (*Entry, error)) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK, 0)
	if err != nil {
		return unusable(path, err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return unusable(path, err)
	}
	var is found
	all, err := read(f, is.compare(e))
	if err != nil {
		return unusable(path, err)
	}
	chosen, err := choose(is)
	if err != nil || chosen == nil {
		return err
	}
	chosen.Format, chosen.Before = format, all.digest()
	line, err := json.Marshal(chosen)
	if err != nil {
		return fmt.Errorf("encoding a line of the ledger: %w", err)
	}
	if !all.ended {
		line = append([]byte("\n"), line...)
	}
	if err := f.Truncate(all.good); err != nil {
		return unusable(path, err)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return unusable(path, err)
	}
	if err := f.Sync(); err != nil {
		return unusable(path, err)
	}
	return nil
}

// Copy refuses a node that has the identity of others.
func Copy(clashes []Clash) error {
	texts := make([]message.Text, min(len(clashes), 3))
	for i := range texts {
		texts[i] = clashes[i].Text()
	}
	others := message.Join(texts, "; ")
	if n := len(clashes) - len(texts); n > 0 {
		others = message.F("%s, and %d more nodes", others, n)
	}
	return &problem.Problem{
		Code:    "FAC-TWN",
		Summary: message.F("This node has the identity of another one in the ledger: %s.", others),
		Fix:     message.T("Install it again instead of copying a disk. If it has to be, run touchdown factory --shared-identity REASON."),
	}
}

func unusable(path string, err error) error {
	if at, ok := errors.AsType[*broken](err); ok {
		return at.problem(path, err)
	}
	p := &problem.Problem{
		Code: "FAC-LEDG", Summary: message.F("The ledger %s cannot be used.", path),
		Fix: message.T("Check its name, and the volume that it lies on; or give another ledger with --ledger FILE. Then retry."), Err: err,
	}
	if errors.Is(err, fs.ErrNotExist) {
		p.Summary = message.F("The ledger %s is not there.", path)
		p.Fix = message.T("Check its name. If it lies on a stick or a share, mount that again at the same place; or give another ledger with --ledger FILE.")
	}
	return p
}
