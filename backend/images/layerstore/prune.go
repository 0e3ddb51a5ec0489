package layerstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"touchdown/backend/images/store"
)

// Prune removes all generations but the current one and those to keep, and the layers that none of the rest needs. A layer
// that something in the primary store stands on stays, whether a container runs or not.
func (p *Store) Prune(ctx context.Context, primary string, keep ...int) error {
	unlock, err := p.begin()
	if err != nil {
		return err
	}
	defer unlock()
	now, err := p.disk().current()
	if err != nil {
		return err
	}
	numbers, err := p.disk().numbers()
	if err != nil {
		return err
	}
	kept := map[int]bool{now: true}
	for _, n := range keep {
		kept[n] = true
	}
	return p.journal().journaled(record{Op: "prune"}, func() error {
		needed, err := p.needed(ctx, primary, numbers, kept)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			if !kept[n] {
				if err := p.disk().removeGeneration(n); err != nil {
					return err
				}
			}
		}
		return p.disk().pruneLayers(needed)
	})
}

// needed gives the layers of the generations that stay, and those that the primary store stands on.
func (p *Store) needed(ctx context.Context, primary string, numbers []int, kept map[int]bool) (map[string]bool, error) {
	needed := map[string]bool{}
	var known []*store.Store
	for _, n := range numbers {
		s, err := p.Store(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("generation %s: %w", strconv.Itoa(n), err)
		}
		known = append(known, s)
		for _, l := range s.Layers {
			needed[l.ID] = needed[l.ID] || kept[n]
		}
	}
	s, err := store.Open(ctx, primary)
	if err != nil {
		return nil, err
	}
	held, err := held(s, known...)
	if err != nil {
		return nil, err
	}
	for id, is := range held {
		needed[id] = needed[id] || is
	}
	return needed, nil
}

func (d disk) pruneLayers(needed map[string]bool) error {
	entries, err := os.ReadDir(d.overlay())
	if err != nil {
		return fmt.Errorf("reading the image store: %w", err)
	}
	for _, e := range entries {
		id := e.Name()
		if needed[id] || !store.ValidID(strings.TrimSuffix(id, damaged)) {
			continue
		}
		if err := d.discard(filepath.Join(d.overlay(), id)); err != nil {
			return err
		}
	}
	return d.clean() // also of the doubles that a move has put aside
}
