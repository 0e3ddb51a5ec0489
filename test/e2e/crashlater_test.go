package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"

	"touchdown/steps/session"
)

// atSite is where a node lands, elsewhere where it is moved later: every value that a landing changes is another one.
var (
	atSite    = static("  nodeLabels: {example.com/store: \"0051\"}\n")
	elsewhere = strings.NewReplacer("0051", "0052", "198.51.100.10,", "198.51.100.20,").Replace(atSite)
)

// later moves a node that was handed over, takes that back and notes what there is to see.
func (c *reference) later(t *testing.T) {
	t.Helper()
	ctx, r := edgeRide(t)
	if err := errors.Join(r.handedOver(ctx), r.toEnd(ctx)); err != nil {
		t.Fatalf("an undisturbed move: %v\n%v", err, r.asked.Load())
	}
	c.moving = r.names
	if err := errors.Join(r.undo(ctx), r.toEnd(ctx)); err != nil {
		t.Fatalf("an undisturbed undo of a move: %v", err)
	}
	c.returning = r.names[len(c.moving):]
	if err := c.isLanded(ctx, r); err != nil {
		t.Fatalf("an undisturbed undo of a move: %v", err)
	}
	t.Logf("an undisturbed move has %d events, its undo %d", len(c.moving), len(c.returning))
}

// handedOver lands the node, accepts its hand-over, and begins a move from there.
func (r *ride) handedOver(ctx context.Context) error {
	r.begin(ctx, atSite)
	if err := r.toEnd(ctx); err != nil {
		return err
	}
	s, err := r.snapshot(ctx)
	if err != nil {
		return err
	}
	name, err := r.Node.Shell(ctx, "hostname")
	if err := errors.Join(err, r.Do(ctx, session.Action{Verb: session.HandOver})); err != nil {
		return err
	}
	r.stopAsking()
	r.ended = false
	if err := r.toEnd(ctx); err != nil { // the hand-over's event is the job's last
		return err
	}
	r.secrets, err = atRest(ctx, "the secrets of the landed node", func(ctx context.Context) (string, error) { return secretsInAPI(ctx, r.Landing) })
	if err != nil {
		return err
	}
	r.before = r.heard
	r.heard, r.names, r.ended, r.earlier = nil, nil, false, s.Started
	r.told.Store(false)
	r.begin(ctx, elsewhere, "--node", strings.TrimSpace(name))
	return nil
}
