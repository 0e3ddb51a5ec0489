package layerstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

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
	all, err := p.journal().records()
	if err != nil {
		return err
	}
	r, sure, found := unfinished(all)
	if found {
		if err := p.finish(ctx, r, sure); err != nil {
			return err
		}
	}
	return p.disk().clean()
}

func (p *Store) finish(ctx context.Context, r record, sure bool) error {
	if r.Op == "move" && sure {
		seen, view := p.seen(r.Primary)
		defer view.Close()
		err := store.Locked(ctx, r.Primary, func(s *store.Store) error { return moving{seen, s.Through(view), r}.finish() })
		if _, gone := os.Lstat(filepath.Join(r.Primary, store.LayersJSON)); !errors.Is(err, errLost) && !errors.Is(gone, fs.ErrNotExist) {
			return err
		}
		// CRI-O wiped its store before the move could go on: what it had then is lost, what was moved is safe.
	}
	if r.Op == "add" || r.Op == "move" {
		now, err := p.disk().current()
		if err != nil {
			return err
		}
		if now != r.Generation {
			if err := p.disk().removeGeneration(r.Generation); err != nil {
				return err
			}
		}
	}
	return p.journal().note(record{Op: r.Op, Phase: "forgotten", Generation: r.Generation})
}
