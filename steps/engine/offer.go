package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	web "touchdown/backend/offer"
	"touchdown/steps/offered"
	"touchdown/steps/session"
)

// mostOffered is the size in bytes up to which a bundle is offered. It stays in memory, and the engine has little.
const mostOffered = 8 << 20

// offers has the support bundle that is offered, or was last.
type offers struct {
	mu     sync.Mutex
	now    *web.Offer
	closed bool // the engine ends: nothing is offered any more
}

// view is what people see of it; nil before the first.
func (o *offers) view() *offered.Bundle {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now == nil {
		return nil
	}
	return o.now.View()
}

// replace ends the last offer, and puts another in its place unless that is nil.
func (o *offers) replace(next *web.Offer) {
	o.mu.Lock()
	last, closed := o.now, o.closed
	if next != nil {
		o.now = next
	}
	o.mu.Unlock()
	if last != nil {
		last.Close()
	}
	if next != nil && closed {
		next.Close()
	}
}

// close ends the last offer for good.
func (o *offers) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.replace(nil)
}

// offerBundle makes a bundle and offers it at the node's addresses. The address is asked for first: a bundle takes its time.
func offerBundle(life time.Duration) func(context.Context, *Engine) ([]byte, error) {
	return func(ctx context.Context, e *Engine) ([]byte, error) {
		if e.o.Reached == nil {
			return nil, web.NoAddress(nil)
		}
		addresses, err := e.o.Reached(ctx)
		if err != nil || len(addresses) == 0 {
			return nil, web.NoAddress(err)
		}
		files, err := gather(ctx, e, bundleTail)
		if err != nil {
			return nil, err
		}
		archive, err := packWithin(files, bundleTail, e.now(), func(archive []byte) bool { return len(archive) <= mostOffered })
		if err != nil {
			return nil, err
		}
		e.offers.replace(nil) // the port is one
		next, err := web.Open(ctx, web.Options{
			Name: "touchdown-support.tar.gz", Data: archive, Addresses: addresses, Life: life, Port: e.o.OfferPort,
			Now: e.now, Log: e.o.Node.Log, Changed: func() { offerChanged(e) },
		})
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil { // whoever asked is gone, and knows no address
			next.Close()
			return nil, fmt.Errorf("offering the support bundle: %w", err)
		}
		e.offers.replace(next)
		view := next.View()
		e.o.Node.Log.Info("a support bundle is offered on the network", "bytes", view.Bytes, "sha256", view.SHA256, "for", life.String())
		offerChanged(e)
		return json.Marshal(view)
	}
}

// offerChanged tells the consoles.
func offerChanged(e *Engine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.core.recorder.changed()
}

// withdraw ends the offer.
func withdraw(e *Engine) ([]byte, error) {
	e.offers.replace(nil)
	view := e.offers.view()
	if view == nil {
		return nil, fmt.Errorf("%w: no support bundle is offered", session.ErrNotFound)
	}
	return json.Marshal(view)
}

// exportOffer carries out the documents by which an offer begins and ends. Anyone at a console that is not locked may do both, as with a
// bundle on a stick: neither changes the node.
func exportOffer(ctx context.Context, e *Engine, kind, what string) ([]byte, error) {
	if err := e.idle.May(ctx); err != nil {
		return nil, err
	}
	if kind == offered.End {
		return withdraw(e)
	}
	life, err := offered.Of(what)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", session.ErrInvalid, err)
	}
	return alone(ctx, e, offerBundle(life))
}
