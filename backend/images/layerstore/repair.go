package layerstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"touchdown/backend/host"
	"touchdown/backend/images/store"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Repair takes what is damaged in the image store again from a primary store, after it verified it there, byte by byte. A damaged
// layer's folder stays beside the new one until Prune, because containers may run on it; they have to be started again.
func (p *Store) Repair(ctx context.Context, primary *store.Store, found []store.Damage) error {
	unlock, err := p.begin()
	if err != nil {
		return err
	}
	defer unlock()
	p, view := p.seen(primary.Root)
	defer view.Close()
	r := repairing{p, primary.Through(view)}
	done := map[string]bool{}
	for _, d := range found {
		id := d.Layer
		if id == "" {
			if err := r.file(d); err != nil {
				return err
			}
			continue
		}
		if done[id] {
			continue
		}
		done[id] = true
		if err := r.sound(ctx, id); err != nil {
			return err
		}
		err := p.journal().journaled(record{Op: "repair", Layers: []string{id}}, func() error { return r.layer(ctx, id) })
		if err != nil {
			return fmt.Errorf("repairing layer %s: %w", id, err)
		}
	}
	return nil
}

// repairing takes what is damaged in the image store from a primary store, both seen in one view.
type repairing struct {
	into    *Store
	primary *store.Store
}

// sound makes sure that a layer of the primary is what its digest says, and the image store's is its double.
func (r repairing) sound(ctx context.Context, id string) error {
	found, err := r.primary.Full(ctx, store.VerifyOptions{Layers: []string{id}})
	if err != nil {
		return err
	}
	for _, d := range found {
		if d.Layer != id {
			continue
		}
		return &problem.Problem{
			Code: "STR-REPR", Summary: message.F("Layer %s cannot be repaired from %s: %s.", id, r.primary.Root, d.Text()),
			Fix: message.T("Pull the image again where the registry can be reached, then retry."),
		}
	}
	return nil
}

// file takes one file of an image again, in every generation that has it.
func (r repairing) file(d store.Damage) error {
	cannot := &problem.Problem{
		Code: "STR-REPR", Summary: message.F("%s cannot be repaired from %s.", d.Text(), r.primary.Root),
		Fix: message.T("Pull the image again where the registry can be reached, then retry."),
	}
	for _, also := range r.primary.DigestChain() {
		if also.File == d.File {
			return cannot
		}
	}
	from := filepath.Join(r.primary.Root, d.File)
	if st, err := os.Lstat(from); err != nil || !st.Mode().IsRegular() {
		cannot.Err = err
		return cannot
	}
	numbers, err := r.into.disk().numbers()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		to := filepath.Join(r.into.Root(n), d.File)
		if _, err := os.Lstat(filepath.Dir(to)); err != nil {
			continue
		}
		_ = os.Remove(to + part)
		if err := store.CopyFile(from, to+part); err != nil {
			return err
		}
		if err := store.SyncFS(r.into.Dir); err != nil {
			return err
		}
		if err := os.Rename(to+part, to); err != nil {
			return fmt.Errorf("naming a file: %w", err)
		}
	}
	return store.SyncFS(r.into.Dir)
}

func (r repairing) layer(ctx context.Context, id string) error {
	l, _ := r.primary.Layer(id)
	folder := filepath.Join(r.into.disk().overlay(), id)
	side := filepath.Join(r.into.Dir, "repair"+part)
	if err := os.RemoveAll(side); err != nil {
		return fmt.Errorf("removing what is left: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(side, store.Overlay, "l"), 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if err := r.primary.Clone(ctx, filepath.Join(side, store.Overlay), []string{id}, store.CloneOptions{Step: r.into.disk().step}); err != nil {
		return err
	}
	fresh, into := store.At(side), store.At(r.into.Dir)
	if err := r.sameNames(fresh, into, l); err != nil {
		return err
	}
	if err := store.SyncFS(r.into.Dir); err != nil {
		return err
	}
	r.into.disk().step("exchange")
	if _, err := os.Lstat(folder); errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(fresh.LayerFolder(id), folder)
		if err != nil {
			return fmt.Errorf("naming the layer: %w", err)
		}
	} else if err := r.into.disk().exchange(fresh.LayerFolder(id), folder); err != nil {
		return err
	}
	if err := host.SyncDir(r.into.disk().overlay()); err != nil {
		return err
	}
	if err := r.into.disk().relink(id); err != nil {
		return err
	}
	if err := os.RemoveAll(side); err != nil {
		return fmt.Errorf("removing what is left: %w", err)
	}
	return nil
}

// sameNames gives the fresh layer the short name that the image store's layers above it know, and the names of those below.
func (r repairing) sameNames(fresh, into *store.Store, l store.Layer) error {
	if err := fresh.FixLower(l.ID, l.Parent, into); err != nil {
		return err
	}
	link := r.into.disk().shortName(l.ID)
	if known, err := into.Link(l.ID); link == "" && err == nil {
		link = known
	}
	if link == "" {
		var err error
		if link, err = fresh.Link(l.ID); err != nil {
			return err
		}
		return store.MakeLink(r.into.disk().overlay(), l.ID, link)
	}
	if err := os.WriteFile(filepath.Join(fresh.LayerFolder(l.ID), "link"), []byte(link), 0o644); err != nil {
		return fmt.Errorf("writing the short name: %w", err)
	}
	return nil
}
