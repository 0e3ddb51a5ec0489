package images

import (
	"context"
	"fmt"
	"slices"
	"time"

	"touchdown/backend/images/cri"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
)

// mebibytes is how far work is that is counted in bytes. left is 0 where it is not known.
func mebibytes(waiting message.Text, done, total int64, left time.Duration) progress.Progress {
	return progress.Progress{Waiting: waiting, Done: done >> 20, Total: total >> 20, Unit: "MiB", Usual: left.Seconds()}
}

// Seeding makes the store hold what the node needs. It is safe to repeat, and quick when there is nothing to do.
type Seeding struct {
	Version string // of Touchdown, for the store's manifest
	List    *Wanted
	Move    bool                    // copy nothing: the caller lets the next boot move the images (AskMove)
	Tell    func(progress.Progress) // may be nil
	Say     func(message.Text)      // what was changed; may be nil
}

// seeding is a seeding of a node.
type seeding struct {
	*Node
	Seeding
}

// Seed pins, pulls, copies, verifies, and puts the new generation into force. What cannot be pulled does not stop the rest:
// it is in the result. Nothing is in force before all of it was verified.
func (n *Node) Seed(ctx context.Context, what Seeding) (Seeded, error) {
	return seeding{n, what}.run(ctx)
}

func (s seeding) run(ctx context.Context) (Seeded, error) {
	s.defaults()
	if err := s.pin(ctx); err != nil { // first, so that the kubelet's garbage collection cannot race
		return Seeded{}, err
	}
	out := Seeded{wanted: s.List}
	if err := s.pull(ctx, &out); err != nil {
		return out, err
	}
	p, err := layerstore.Init(s.host.Path(StoreDir))
	if err != nil {
		return out, fmt.Errorf("making the image store: %w", err)
	}
	p.Version = s.Version
	before, err := p.Current()
	if err != nil {
		return out, fmt.Errorf("reading the image store: %w", err)
	}
	primary, err := store.Open(ctx, s.host.Path(Primary))
	if err != nil {
		return out, fmt.Errorf("reading the node's images: %w", err)
	}
	if s.Move {
		out.Generation, out.ToMove = before.N, len(primary.Images)
		return out, s.movable(ctx, p, primary)
	}
	next, err := p.Add(ctx, primary, layerstore.Selection{}, func(done store.Copied) {
		s.Tell(mebibytes(message.T("the copy of the layers"), done.Bytes, done.BytesTotal, 0))
	})
	if err != nil {
		return out, fmt.Errorf("copying the node's images: %w", err)
	}
	for _, gone := range primary.Dropped {
		if !slices.ContainsFunc(next.Images, func(i layerstore.Image) bool { return i.ID == gone.Image }) {
			out.leftOut = append(out.leftOut, gone)
		}
	}
	if err := s.place(ctx); err != nil {
		return out, err
	}
	out.Generation, out.Changed = next.N, next.N != before.N
	if !out.Changed {
		return out, nil
	}
	if err := noteSwitch(s.host); err != nil {
		return out, err
	}
	if err := p.Switch(ctx, next.N); err != nil {
		return out, fmt.Errorf("putting the new images into force: %w", err)
	}
	s.Say(message.F("The image store holds %s (generation %d).", message.N(len(next.Images), "%d image", "%d images"), next.N))
	return out, nil
}

// movable verifies what is going to be moved while there may still be a registry, and brings the store to its place.
func (s seeding) movable(ctx context.Context, p *layerstore.Store, primary *store.Store) error {
	now, err := p.Current()
	if err != nil {
		return fmt.Errorf("reading the image store: %w", err)
	}
	beside, err := p.Store(ctx, now.N)
	if err != nil {
		return fmt.Errorf("reading the image store: %w", err)
	}
	found, err := primary.Quick(ctx, store.VerifyOptions{Beside: beside})
	if err != nil {
		return fmt.Errorf("verifying the node's images: %w", err)
	}
	if err := store.Damaged(append(found, primary.DigestChain()...)); err != nil {
		return fmt.Errorf("verifying the node's images: %w", err)
	}
	return s.place(ctx)
}

func (s *seeding) defaults() {
	if s.Tell == nil {
		s.Tell = func(progress.Progress) {}
	}
	if s.Say == nil {
		s.Say = func(message.Text) {}
	}
}

// pin names every image that is there and every one that will be.
func (s seeding) pin(ctx context.Context) error {
	var names []string
	for _, i := range s.List.Images {
		if !i.Spare() || i.Present {
			names = append(names, i.Names...)
		}
	}
	return pin(ctx, s.host, names)
}

// pull fetches what is wanted and not there. An image that nobody runs is not worth a line that may be slow.
func (s seeding) pull(ctx context.Context, out *Seeded) error {
	var wants []cri.Want
	of := map[string]Image{}
	for _, i := range s.List.Images {
		if i.Spare() {
			continue
		}
		for _, name := range i.Missing {
			wants = append(wants, cri.Want{Name: name, Boot: i.BootCritical, Blobs: i.Blobs})
			of[name] = i
		}
	}
	if len(wants) == 0 {
		return nil
	}
	outcomes, err := pull{s.host, s.cri, s.Tell}.run(ctx, wants)
	if err != nil {
		return err
	}
	out.failed = map[string]error{}
	pulled := 0
	for _, o := range outcomes {
		if o.Err == nil {
			pulled++
			continue
		}
		out.failed[o.Name] = o.Err
		if i := of[o.Name]; !slices.ContainsFunc(out.missing, func(have Image) bool { return have.Digest == i.Digest && slices.Equal(have.Names, i.Names) }) {
			out.missing = append(out.missing, i)
		}
	}
	if pulled > 0 {
		s.Say(message.F("%s pulled.", message.N(pulled, "%d image was", "%d images were")))
	}
	return nil
}

// place brings the store to the path that storage.conf will name, as the next boot does: the empty store beneath, the
// read-only mount over it.
func (s seeding) place(ctx context.Context) error {
	if mounted(s.host) {
		return nil
	}
	if err := layerstore.Empty(s.host.Path(Store)); err != nil {
		return fmt.Errorf("making the place of the image store: %w", err)
	}
	if _, err := s.host.Run(ctx, "systemctl", "start", mountUnit); err != nil {
		return &problem.Problem{
			Code: "CTR-PLCE", Summary: message.F("The image store cannot be brought to its place, %s.", Mount),
			Fix: message.F("Bake the node first (touchdown factory bake): that adds the unit %s.", mountUnit), Err: err,
		}
	}
	if !mounted(s.host) {
		return &problem.Problem{
			Code: "CTR-PLCE", Summary: message.F("The image store is not in its place, %s, though systemd says so.", Mount),
			Fix: message.F("Look at the unit: systemctl status %s.", mountUnit),
		}
	}
	if !named(s.host) {
		return nil // CRI-O is restarted when it is told of the store
	}
	// It has opened the empty store beneath, and does not look for another one while it runs.
	if _, err := s.host.Run(ctx, "systemctl", "restart", crioUnit); err != nil {
		return fmt.Errorf("letting CRI-O open the image store: %w", err)
	}
	return nil
}
