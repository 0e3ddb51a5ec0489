// Package updates has what engine, consoles and command share about a release of Touchdown on a stick: which one it is, whether it may
// take the place of the node's program, and what became of that. Only backend/update judges a release, and only the command
// `touchdown update` exchanges the program: the engine is stopped meanwhile.
package updates

import (
	"context"
	"errors"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/update"
	"touchdown/steps/event"
)

// State is where an offer is.
type State string

// The states.
const (
	Asks    State = "asks"    // a person may have it installed
	Refused State = "refused" // the node does not take it, and Problem tells why
	Reads   State = "reads"   // a person wants it, and the command reads it
	Tries   State = "tries"   // its engine is tried; the one that tells it may be that one
	Done    State = "done"    // it has the place of the node's program
	Failed  State = "failed"  // Problem tells why, and what the node has
)

// Offer is a release on a stick, as consoles see it.
type Offer struct {
	State   State          `json:"state"`
	Volume  string         `json:"volume"`            // "TOUCHDOWN (sdb)"
	Device  string         `json:"device,omitempty"`  // "sdb"
	Version string         `json:"version,omitempty"` // of the release
	Has     string         `json:"has,omitempty"`     // of the node's program when a person was asked
	Signer  string         `json:"signer,omitempty"`  // id of the key that signed it
	Program string         `json:"program,omitempty"` // SHA-256 of its program
	Problem *event.Trouble `json:"problem,omitempty"`
	Order   *Ordered       `json:"order,omitempty"` // beside it; nil for none. One of an update that runs, or has ended: what began it
}

// Code is what stands against the release, or how its update failed; "" for nothing.
func (o *Offer) Code() string {
	if o == nil || o.Problem == nil {
		return ""
	}
	return o.Problem.Code
}

// Runs tells whether an update is under way.
func (o *Offer) Runs() bool { return o != nil && (o.State == Reads || o.State == Tries) }

// Shown tells whether it takes a page: a person is asked, or has to know.
func (o *Offer) Shown() bool { return o != nil && o.State != Done }

// Keys are whose signature counts on a machine, and whose does not.
func Keys(m *host.Machine) (keys update.Keys, err error) {
	keys.Media, err = media.Of(m).Trust(false)
	if p, ok := errors.AsType[*problem.Problem](err); err != nil && (!ok || p.Code != "MED-UKEY") {
		return keys, err
	}
	keys.Releases, err = media.ReleasesOf(m).Trust()
	return keys, err
}

// One is the only volume of those with a release (UPD-MANY where there are several).
func One(volumes []media.Volume) (*media.Volume, error) {
	if len(volumes) == 1 {
		return &volumes[0], nil
	}
	var names []string
	for _, v := range volumes {
		names = append(names, v.Name)
	}
	return nil, &problem.Problem{
		Code: "UPD-MANY", Summary: message.F("There are several volumes with a release: %s.", strings.Join(names, ", ")),
		Fix: message.T("Leave one stick in, or name the volume: touchdown update --from-stick=NAME."),
	}
}

// Read reads the release on a volume that the watcher found. The signature is judged before the program is read.
func Read(ctx context.Context, w *media.Watcher, v media.Volume, keys update.Keys) (*update.Release, error) {
	return update.From(v.Name, keys, func(file string, most int64) ([]byte, error) { return w.ReadLarge(ctx, v, file, most) })
}

// Judge reads the release on the only volume with one and has its program tell its version, which changes nothing. It returns nil where the
// node has that program already. What has a problem is refused.
func Judge(ctx context.Context, m *host.Machine, w *media.Watcher, volumes []media.Volume, has string) *Offer {
	o := &Offer{State: Asks, Has: has}
	err := func() error {
		v, err := One(volumes)
		if err != nil {
			return err
		}
		o.Volume, o.Device = v.Name, v.Device
		keys, err := Keys(m)
		if err != nil {
			return err
		}
		release, err := Read(ctx, w, *v, keys)
		if err != nil {
			return err
		}
		if release.Is(m) {
			o = nil
			return nil
		}
		o.Signer, o.Program = release.Signer, release.Sum()
		said, err := release.Try(ctx, m, false)
		if err != nil {
			return err
		}
		o.Version, err = update.VersionIn(said)
		if err == nil {
			o.Order = (&place{m, w, *v, keys}).order(ctx, release, said, has)
		}
		return err
	}()
	if err != nil {
		o.State, o.Problem = Refused, event.TroubleOf(err)
	}
	return o
}
