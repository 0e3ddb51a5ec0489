package layerstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"touchdown/backend/message"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/images/store"
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
	primary = primary.Through(view)
	done := map[string]bool{}
	for _, d := range found {
		id := d.Layer
		if id == "" {
			if err := p.repairFile(primary, d); err != nil {
				return err
			}
			continue
		}
		if done[id] {
			continue
		}
		done[id] = true
		if err := p.sound(ctx, primary, id); err != nil {
			return err
		}
		err := p.journaled(record{Op: "repair", Layers: []string{id}}, func() error { return p.repair(ctx, primary, id) })
		if err != nil {
			return fmt.Errorf("repairing layer %s: %w", id, err)
		}
	}
	return nil
}

// sound makes sure that a layer of the primary is what its digest says, and the image store's is its double.
func (p *Store) sound(ctx context.Context, primary *store.Store, id string) error {
	found, err := primary.Full(ctx, store.VerifyOptions{Layers: []string{id}})
	if err != nil {
		return err
	}
	for _, d := range found {
		if d.Layer != id {
			continue
		}
		return &problem.Problem{
			Code: "STR-REPR", Summary: message.F("Layer %s cannot be repaired from %s: %s.", id, primary.Root, d),
			Fix: message.T("Pull the image again where the registry can be reached, then retry."),
		}
	}
	return nil
}

// repairFile takes one file of an image again, in every generation that has it.
func (p *Store) repairFile(primary *store.Store, d store.Damage) error {
	cannot := &problem.Problem{
		Code: "STR-REPR", Summary: message.F("%s cannot be repaired from %s.", d, primary.Root),
		Fix: message.T("Pull the image again where the registry can be reached, then retry."),
	}
	for _, also := range primary.DigestChain() {
		if also.File == d.File {
			return cannot
		}
	}
	from := filepath.Join(primary.Root, d.File)
	if st, err := os.Lstat(from); err != nil || !st.Mode().IsRegular() {
		cannot.Err = err
		return cannot
	}
	numbers, err := p.numbers()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		to := filepath.Join(p.Root(n), d.File)
		if _, err := os.Lstat(filepath.Dir(to)); err != nil {
			continue
		}
		_ = os.Remove(to + part)
		if err := store.CopyFile(from, to+part); err != nil {
			return err
		}
		if err := store.SyncFS(p.Dir); err != nil {
			return err
		}
		if err := os.Rename(to+part, to); err != nil {
			return fmt.Errorf("naming a file: %w", err)
		}
	}
	return store.SyncFS(p.Dir)
}

func (p *Store) repair(ctx context.Context, primary *store.Store, id string) error {
	l, _ := primary.Layer(id)
	folder := filepath.Join(p.overlay(), id)
	side := filepath.Join(p.Dir, "repair"+part)
	if err := os.RemoveAll(side); err != nil {
		return fmt.Errorf("removing what is left: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(side, store.Overlay, "l"), 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if err := primary.Clone(ctx, filepath.Join(side, store.Overlay), []string{id}, store.CloneOptions{Step: p.step}); err != nil {
		return err
	}
	fresh, into := store.At(side), store.At(p.Dir)
	if err := p.sameNames(fresh, into, l); err != nil {
		return err
	}
	if err := store.SyncFS(p.Dir); err != nil {
		return err
	}
	p.step("exchange")
	if _, err := os.Lstat(folder); errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(fresh.LayerFolder(id), folder)
		if err != nil {
			return fmt.Errorf("naming the layer: %w", err)
		}
	} else if err := p.exchange(fresh.LayerFolder(id), folder); err != nil {
		return err
	}
	if err := host.SyncDir(p.overlay()); err != nil {
		return err
	}
	if err := p.relink(id); err != nil {
		return err
	}
	if err := os.RemoveAll(side); err != nil {
		return fmt.Errorf("removing what is left: %w", err)
	}
	return nil
}

// exchange puts the new folder in the place of the damaged one, in one step.
func (p *Store) exchange(fresh, folder string) error {
	if err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, folder, unix.RENAME_EXCHANGE); err != nil {
		return fmt.Errorf("exchanging the layer: %w", err)
	}
	p.step("exchanged")
	if err := os.RemoveAll(folder + damaged); err != nil {
		return fmt.Errorf("removing an earlier damaged layer: %w", err)
	}
	if err := os.Rename(fresh, folder+damaged); err != nil {
		return fmt.Errorf("putting the damaged layer aside: %w", err)
	}
	return nil
}

// sameNames gives the fresh layer the short name that the image store's layers above it know, and the names of those below.
func (p *Store) sameNames(fresh, into *store.Store, l store.Layer) error {
	if err := fresh.FixLower(l.ID, l.Parent, into); err != nil {
		return err
	}
	link := p.shortName(l.ID)
	if known, err := into.Link(l.ID); link == "" && err == nil {
		link = known
	}
	if link == "" {
		var err error
		if link, err = fresh.Link(l.ID); err != nil {
			return err
		}
		return store.MakeLink(p.overlay(), l.ID, link)
	}
	if err := os.WriteFile(filepath.Join(fresh.LayerFolder(l.ID), "link"), []byte(link), 0o644); err != nil {
		return fmt.Errorf("writing the short name: %w", err)
	}
	return nil
}

// shortName finds which name in the image store leads to a layer; its own file may be what is damaged.
func (p *Store) shortName(id string) string {
	links := filepath.Join(p.overlay(), "l")
	entries, _ := os.ReadDir(links)
	for _, e := range entries {
		if target, _ := os.Readlink(filepath.Join(links, e.Name())); target == "../"+id+"/diff" {
			return e.Name()
		}
	}
	return ""
}

// relink gives every generation the new layer's tar-split.
func (p *Store) relink(id string) error {
	numbers, err := p.numbers()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		name := store.At(p.Root(n)).SplitPath(id)
		if _, err := os.Lstat(name); err != nil {
			continue
		}
		_ = os.Remove(name + part)
		if err := os.Link(filepath.Join(p.overlay(), id, store.SplitFile), name+part); err != nil {
			return fmt.Errorf("linking a tar-split: %w", err)
		}
		if err := os.Rename(name+part, name); err != nil {
			return fmt.Errorf("naming a tar-split: %w", err)
		}
		if err := host.SyncDir(filepath.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}
