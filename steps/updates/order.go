package updates

import (
	"context"

	"touchdown/backend/host"
	"touchdown/backend/media"
	"touchdown/backend/update"
	"touchdown/steps/event"
)

// Ordered is an order beside a release, which has the node install it with nobody there.
type Ordered struct {
	ID      string         `json:"id,omitempty"`      // "" where nobody whom the node trusts signed it
	Problem *event.Trouble `json:"problem,omitempty"` // why the node does not follow it; nil: it does
}

// Code is why the node does not follow the order; "" for no order, or one that it follows.
func (o *Ordered) Code() string {
	if o == nil || o.Problem == nil {
		return ""
	}
	return o.Problem.Code
}

// Refused is the order with what stands against it.
func (o *Ordered) Refused(why error) *Ordered {
	return &Ordered{ID: o.ID, Problem: event.TroubleOf(why)}
}

// place is a volume with a release, in a machine.
type place struct {
	machine *host.Machine
	watcher *media.Watcher
	volume  media.Volume
	keys    update.Keys
}

// order judges the order beside a release whose program says what it is, for a node with a version; nil where there is none. The program that
// it is for is the one that was read: the command that installs it is told its check sum, and takes no other.
func (p *place) order(ctx context.Context, r *update.Release, says, has string) *Ordered {
	if !p.volume.Has(update.OrderFile) {
		return nil
	}
	is := &Ordered{}
	err := func() error {
		text, err := p.watcher.ReadLarge(ctx, p.volume, update.OrderFile, update.MostOrder)
		if err != nil {
			return err
		}
		o, err := p.keys.Order(text, r.Signer)
		if err != nil {
			return err
		}
		is.ID = o.ID
		if err := o.For(p.machine.Serial(), r, says, has); err != nil {
			return err
		}
		if err := o.Left(p.machine); err != nil {
			return err
		}
		return update.SpentOn(p.machine).Against(o.ID)
	}()
	if err != nil {
		return is.Refused(err)
	}
	return is
}
