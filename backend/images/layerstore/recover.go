package layerstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"touchdown/backend/images/store"
)

// Recover brings the image store to rest after a crash: a move that is sure is brought to its end, all else that was begun is
// forgotten, and what is half made is removed. It must have run before CRI-O starts. Without a crash it changes nothing.
func (p *Store) Recover(ctx context.Context) error {
	unlock, err := p.lock()
	if err != nil {
		return err
	}
	defer unlock()
	all, err := p.records()
	if err != nil {
		return err
	}
	r, sure, found := unfinished(all)
	if found {
		if err := p.finish(ctx, r, sure); err != nil {
			return err
		}
	}
	return p.clean()
}

func (p *Store) finish(ctx context.Context, r record, sure bool) error {
	if r.Op == "move" && sure {
		seen, view := p.seen(r.Primary)
		defer view.Close()
		err := store.Locked(ctx, r.Primary, func(s *store.Store) error { return seen.finishMove(s.Through(view), r) })
		if _, gone := os.Lstat(filepath.Join(r.Primary, store.LayersJSON)); !errors.Is(err, errLost) && !errors.Is(gone, fs.ErrNotExist) {
			return err
		}
		// CRI-O wiped its store before the move could go on: what it had then is lost, what was moved is safe.
	}
	if r.Op == "add" || r.Op == "move" {
		now, err := p.current()
		if err != nil {
			return err
		}
		if now != r.Generation {
			if err := p.removeGeneration(r.Generation); err != nil {
				return err
			}
		}
	}
	return p.note(record{Op: r.Op, Phase: "forgotten", Generation: r.Generation})
}

// clean removes what is half made, and short names that lead nowhere.
func (p *Store) clean() error {
	for _, dir := range []string{p.Dir, p.overlay(), filepath.Join(p.Dir, generationsDir)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("reading the image store: %w", err)
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), part) && !strings.HasSuffix(e.Name(), old) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("removing what is half made: %w", err)
			}
		}
	}
	return p.cleanLinks()
}

func (p *Store) cleanLinks() error {
	links := filepath.Join(p.overlay(), "l")
	entries, err := os.ReadDir(links)
	if err != nil {
		return fmt.Errorf("reading the image store: %w", err)
	}
	for _, e := range entries {
		name := filepath.Join(links, e.Name())
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			if err := os.Remove(name); err != nil {
				return fmt.Errorf("removing a short name: %w", err)
			}
		}
	}
	return nil
}

// Prune removes all generations but the current one and those to keep, and the layers that none of the rest needs. A layer
// that something in the primary store stands on stays, whether a container runs or not.
func (p *Store) Prune(ctx context.Context, primary string, keep ...int) error {
	unlock, err := p.begin()
	if err != nil {
		return err
	}
	defer unlock()
	now, err := p.current()
	if err != nil {
		return err
	}
	numbers, err := p.numbers()
	if err != nil {
		return err
	}
	kept := map[int]bool{now: true}
	for _, n := range keep {
		kept[n] = true
	}
	return p.journaled(record{Op: "prune"}, func() error {
		needed, err := p.needed(ctx, primary, numbers, kept)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			if !kept[n] {
				if err := p.removeGeneration(n); err != nil {
					return err
				}
			}
		}
		return p.pruneLayers(needed)
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
	held, err := p.held(s, known...)
	if err != nil {
		return nil, err
	}
	for id, is := range held {
		needed[id] = needed[id] || is
	}
	return needed, nil
}

func (p *Store) pruneLayers(needed map[string]bool) error {
	entries, err := os.ReadDir(p.overlay())
	if err != nil {
		return fmt.Errorf("reading the image store: %w", err)
	}
	for _, e := range entries {
		id := e.Name()
		if needed[id] || !store.ValidID(strings.TrimSuffix(id, damaged)) {
			continue
		}
		if err := p.discard(filepath.Join(p.overlay(), id)); err != nil {
			return err
		}
	}
	return p.clean() // also of the doubles that a move has put aside
}
