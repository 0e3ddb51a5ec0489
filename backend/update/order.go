package update

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	// OrderFile is the file beside those of a release that has nodes install it with nobody there.
	OrderFile = "update-order.dsse.json"
	// MostOrder is the largest order that is read, in bytes: 1,000 serial numbers of 64 characters in base64 have 90 KB.
	MostOrder = 128 << 10

	// orderType is what the envelope says of its content, and is signed with it: no other signature of the key is good for an order.
	orderType   = "application/vnd.touchdown.update-order.v1+json"
	orderSchema = "touchdown.dev/update-order/v1"

	mostSerials = 1000
	mostVersion = 64 // characters
)

// Order has the nodes with some serial numbers install the program of a release with nobody there, each once. None is for any machine: a
// stick that is lost would start on every node that trusts the key. It has no times, as a node may have no clock to judge them by. An old
// one is worth nothing all the same: a node takes only a program that is newer than its own, and a revoked key orders nothing.
type Order struct {
	Schema  string   `json:"schema"`
	ID      string   `json:"id"`      // made by chance
	Program string   `json:"program"` // its SHA-256, in hexadecimal
	Version string   `json:"version"` // that the program tells
	Serials []string `json:"serials"` // as the firmware tells them, without regard to case
}

// NewOrder is an order for the program of a release that tells a version.
func NewOrder(r *Release, version string, serials []string) *Order {
	return &Order{Schema: orderSchema, ID: rand.Text(), Program: r.Sum(), Version: version, Serials: serials}
}

// check judges an order that is to be signed, or was read.
func (o *Order) check() error {
	_, notHex := hex.DecodeString(o.Program)
	switch {
	case o.Schema != orderSchema:
		return fmt.Errorf("its schema is not %s", orderSchema)
	case len(o.ID) < 16 || len(o.ID) > 64 || strings.Trim(o.ID, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "":
		return errors.New("its id is not 16 to 64 capitals and digits")
	case len(o.Program) != 64 || notHex != nil:
		return errors.New("its program is not a SHA-256")
	case len(o.Version) > mostVersion || parsed(o.Version) == nil:
		return errors.New("its version is not that of a release, such as v1.9 or v1.9.2")
	case len(o.Serials) == 0 || len(o.Serials) > mostSerials:
		return fmt.Errorf("it has %d serial numbers, not 1 to %d", len(o.Serials), mostSerials)
	}
	for _, serial := range o.Serials {
		if err := envelope.CheckSerial(serial); err != nil {
			return fmt.Errorf("%.80q: %w", serial, err)
		}
	}
	return nil
}

// Sign is the content of OrderFile.
func (o *Order) Sign(key envelope.SigningKey) ([]byte, error) {
	err := o.check()
	var payload, text []byte
	if err == nil {
		payload, err = json.Marshal(o)
	}
	if err == nil {
		text, err = key.Envelope(orderType, payload)
	}
	if err == nil && len(text) > MostOrder {
		err = fmt.Errorf("it has %d bytes, more than %d", len(text), MostOrder)
	}
	if err != nil {
		return nil, fmt.Errorf("signing an order: %w", err)
	}
	return text, nil
}

// Order reads the content of OrderFile beside a release that a key has signed, by its id (UPD-SHPE; UPD-FRGD where not that key has signed
// the order, too). The command that installs the release judges that key again, so that an order of a key that was revoked meanwhile ends.
func (k Keys) Order(text []byte, signer string) (*Order, error) {
	malformed := func(err error) error {
		return &problem.Problem{
			Code: "UPD-SHPE", Summary: message.F("The update order on the stick (%s) is not an order of this release of Touchdown.", OrderFile),
			Fix: message.T("Make the stick again with touchdown media write --release FOLDER --unattended."), Err: err,
		}
	}
	p, err := envelope.OpenAs(orderType, text)
	if err != nil {
		return nil, malformed(err)
	}
	if !k.signed(p, signer) {
		return nil, &problem.Problem{
			Code: "UPD-FRGD", Summary: message.T("The key that signed the release on the stick has not signed the update order beside it, or the order was changed afterwards."),
			Fix: message.T("Do not use the stick. Have one made with the key for releases; if someone handed it to you like this, tell your security contact."),
		}
	}
	o := &Order{}
	if err := json.Unmarshal(p.Payload, o); err != nil {
		return nil, malformed(err)
	}
	// What this release does not know may be what makes the order safe, so nothing else may be in it.
	if again, err := json.Marshal(o); err != nil || !bytes.Equal(again, p.Payload) {
		return nil, malformed(errors.Join(errors.New("it is not written as Touchdown writes it"), err))
	}
	if err := o.check(); err != nil {
		return nil, malformed(err)
	}
	return o, nil
}

// signed tells whether a trusted key for releases, the one with this id, has signed an order.
func (k Keys) signed(p *envelope.Parcel, signer string) bool {
	return k.Releases != nil && slices.ContainsFunc(p.Signatures, func(s envelope.Signature) bool {
		key, known := k.Releases.Key(s.KeyID)
		return known && s.KeyID == signer && key.Signed(orderType, p.Payload, s.Bytes)
	})
}

// Left refuses the program that the node had last (UPD-LEFT): a person went back from it.
func (o *Order) Left(n Node) error {
	program, err := n.ReadFile(layout.PreviousProgram)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the program before: %w", err)
	}
	if sum := sha256.Sum256(program); !strings.EqualFold(o.Program, hex.EncodeToString(sum[:])) {
		return nil
	}
	return &problem.Problem{
		Code: "UPD-LEFT", Summary: message.F("The update order on the stick is for %s, from which a person took this node back.", o.Version),
		Fix: message.T("Install the release at a console if the node is to have it again."),
	}
}

// For judges an order on a machine with a serial number, whose program has a version, for the release beside it, whose program told what it
// says (UPD-HASH, UPD-VERS, UPD-SERL, UPD-UNKN, UPD-NEWR).
func (o *Order) For(serial string, r *Release, says, has string) error {
	refused := func(code string, summary, fix message.Text) error {
		return &problem.Problem{Code: code, Summary: summary, Fix: fix}
	}
	told, _ := VersionIn(says)
	isFor := func(s string) bool { return strings.EqualFold(s, serial) }
	switch {
	case !strings.EqualFold(o.Program, r.Sum()):
		return refused("UPD-HASH", message.T("The update order on the stick is not for the program beside it."),
			message.T("Make the stick again with touchdown media write: release and order belong together."))
	case told != o.Version:
		return refused("UPD-VERS", message.F("The update order on the stick says %s, and the program that it is for says %s.", o.Version, told),
			message.T("Make the stick again with touchdown media write."))
	case serial == "" || !slices.ContainsFunc(o.Serials, isFor):
		return refused("UPD-SERL", message.F("The update order on the stick is not for this machine, whose serial number is %q.", serial),
			message.T("Have a stick made whose order names this serial number, or install the release at a console."))
	case parsed(has) == nil:
		return refused("UPD-UNKN", message.F("The update order on the stick is for %s. Whether that is newer than %s, which this node has, cannot be told.", o.Version, has),
			message.T("Install the release at a console."))
	case !newer(o.Version, has):
		return refused("UPD-NEWR", message.F("The update order on the stick is for %s, which is not newer than %s on this node.", o.Version, has),
			message.T("Nothing is wrong where the node was updated meanwhile: take the stick out. At a console the release can be installed all the same."))
	}
	return nil
}
