package images

import (
	"context"
	"fmt"
	"slices"

	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/backend/message"
)

// repair repairs damaged layers from the node's own store, else from registries. What it returns is still damaged.
func (l looking) repair(ctx context.Context, p *layerstore.Store, found []store.Damage, s *Status) ([]store.Damage, error) {
	var ways []func([]store.Damage) error
	if primary, err := store.Open(ctx, l.host.Path(Primary)); err == nil {
		ways = append(ways, func(group []store.Damage) error { return p.Repair(ctx, primary, group) })
	}
	if l.Fetch {
		fetch, err := newFetcher(ctx, l.host, p, s.Generation)
		ways = append(ways, func(group []store.Damage) error {
			if err != nil {
				return err
			}
			return fetch.repair(ctx, group)
		})
	}
	var left []store.Damage
	for _, group := range together(found) {
		err := errNoWay
		for _, way := range ways {
			if err = way(group); err == nil || ctx.Err() != nil {
				break
			}
		}
		if ctx.Err() != nil {
			return found, fmt.Errorf("repairing the image store: %w", context.Cause(ctx))
		}
		if err != nil {
			left = append(left, group...)
			s.Unrepaired = append(s.Unrepaired, message.Detail(err))
			continue
		}
		for _, d := range group {
			s.Repaired = append(s.Repaired, d.Text())
		}
	}
	return left, nil
}

// errNoWay is why damage stays where there is nothing to repair it with.
var errNoWay = message.Failed(message.T("there is nothing to repair it with"))

// together groups damage by what can only be repaired as a whole: a layer, or one file of an image.
func together(found []store.Damage) [][]store.Damage {
	var groups [][]store.Damage
	at := map[string]int{}
	for _, d := range found {
		key := d.Layer
		if key == "" {
			key = d.File
		}
		n, known := at[key]
		if !known {
			n, at[key] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], d)
	}
	return groups
}

// unshadow gives the images of CRI-O's own store the names that the seeded store has of them. CRI-O goes by its own store's
// record of an image and does not find it by the other's names; the kubelet would pull such an image, or fail. CRI-O sees the
// change at once, and nothing is taken away: containers go on.
func (l looking) unshadow(ctx context.Context, g layerstore.Generation, s *Status) error {
	names := map[string][]string{}
	for _, i := range g.Images {
		for _, name := range i.Names {
			if slices.Contains(s.Unlisted, name) {
				names[i.ID] = append(names[i.ID], name)
			}
		}
	}
	err := store.Locked(ctx, l.host.Path(Primary), func(primary *store.Store) error {
		for id := range names {
			if _, shadows := primary.Image(id); !shadows {
				delete(names, id)
			}
		}
		if len(names) == 0 {
			return nil
		}
		return primary.AddNames(names)
	})
	if err != nil {
		return fmt.Errorf("completing the names of CRI-O's images: %w", err)
	}
	if len(names) == 0 {
		return nil
	}
	before := s.Unlisted
	if err := l.listed(ctx, g, s); err != nil {
		return err
	}
	for _, name := range before {
		if !slices.Contains(s.Unlisted, name) {
			s.Repaired = append(s.Repaired, message.F("%s: CRI-O did not find the image by this name", name))
		}
	}
	return nil
}
