package layerstore

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"touchdown/backend/images/store"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Add makes a generation that holds what the current one does and the selected images of a store, complete, verified
// (quickly) and on the disk, but not current yet. Layers that the image store has are not cloned again. Where nothing would
// change, the current generation is verified and returned.
func (p *Store) Add(ctx context.Context, src *store.Store, want Selection, progress func(store.Copied)) (Generation, error) {
	unlock, err := p.begin()
	if err != nil {
		return Generation{}, err
	}
	defer unlock()
	seen, view := p.seen(src.Root)
	defer view.Close()
	g, err := seen.add(ctx, src.Through(view), want, progress)
	var vanished *store.VanishedError
	if !errors.As(err, &vanished) && !errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil {
		return g, err
	}
	// Someone removed an image meanwhile: what is there now can be had. Or its files are lost: then it fails again.
	if src, err = store.Open(ctx, src.Root); err != nil {
		return g, err
	}
	g, err = seen.add(ctx, src.Through(view), want, progress)
	if errors.As(err, &vanished) || errors.Is(err, fs.ErrNotExist) {
		err = &problem.Problem{
			Code: "STR-GNE", Summary: message.T("The image store lists files that are not there."),
			Fix: message.T("Remove the image that they belong to, and pull it again."), Err: err,
		}
	}
	return g, err
}

// seen is the image store in a view that it shares with a primary store.
func (p *Store) seen(primary string) (*Store, *store.View) {
	view := store.NewView(primary, p.Dir)
	return &Store{Dir: view.Path(p.Dir), Version: p.Version, Step: p.Step}, view
}

func (p *Store) add(ctx context.Context, src *store.Store, want Selection, progress func(store.Copied)) (Generation, error) {
	d, err := p.stage(ctx, src, want)
	if err != nil {
		return Generation{}, err
	}
	now, err := p.Current()
	if err != nil {
		return now, err
	}
	if len(d.absent) == 0 && d.same(now) {
		return now, p.quick(ctx, now.N)
	}
	n, err := p.disk().nextNumber()
	if err != nil {
		return now, err
	}
	err = p.journal().journaled(record{Op: "add", Generation: n}, func() error { return p.fill(ctx, d, n, src, progress) })
	if err != nil {
		return now, err
	}
	return p.Generation(n)
}

func (p *Store) fill(ctx context.Context, d staged, n int, src *store.Store, progress func(store.Copied)) error {
	err := src.Clone(ctx, p.disk().overlay(), d.absent, store.CloneOptions{Progress: progress, Step: p.disk().step})
	if err != nil {
		return err
	}
	d.splits = nil
	into := store.At(p.Dir)
	for _, l := range d.layers { // also of layers that an Add that failed has left
		if err := into.FixLower(l.ID, l.Parent, into); err != nil {
			return err
		}
	}
	if err := p.write(d, n); err != nil {
		return err
	}
	if err := p.quick(ctx, n); err != nil {
		return errors.Join(err, p.disk().removeGeneration(n))
	}
	return nil
}

// quick verifies a generation without reading its files, but with the digests of manifests and configs.
func (p *Store) quick(ctx context.Context, n int) error {
	s, err := p.Store(ctx, n)
	if err != nil {
		return err
	}
	found, err := s.Quick(ctx, store.VerifyOptions{})
	if err != nil {
		return err
	}
	return store.Damaged(append(found, s.DigestChain()...))
}

// same tells whether a generation holds the staged generation's images under the same names, and its layers.
func (d *staged) same(g Generation) bool {
	if d.more || len(d.images) != len(g.Images) || len(d.layers) != len(g.Layers) {
		return false
	}
	known := map[string]Image{}
	for _, i := range g.Images {
		known[i.ID] = i
	}
	for _, i := range d.images {
		have, is := known[i.ID]
		if !is || have.Digest != i.Digest || !slices.Equal(sorted(have.Names), sorted(i.Names)) {
			return false
		}
	}
	return true
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

// held gives the layers that a primary store stands on and does not have: those below its containers and its images, with
// all their ancestors.
func held(primary *store.Store, seeded ...*store.Store) (map[string]bool, error) {
	ids, err := store.ContainerLayers(primary.Root)
	if err != nil {
		return nil, err
	}
	for _, l := range primary.Layers {
		ids = append(ids, l.Parent)
	}
	for _, i := range primary.Images {
		ids = append(ids, i.TopLayer)
	}
	held, seen := map[string]bool{}, map[string]bool{}
	for _, id := range ids {
		for id != "" && !seen[id] {
			seen[id] = true
			l, here := primary.Layer(id)
			held[id] = !here
			for n := 0; !here && n < len(seeded); n++ {
				l, here = seeded[n].Layer(id)
			}
			id = l.Parent
		}
	}
	return held, nil
}
