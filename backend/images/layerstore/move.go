package layerstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/store"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Move takes images out of a primary store and makes a generation of them and of what the current one holds: whole layer
// folders are renamed, nothing is copied, and at the end the generation is current. CRI-O must be stopped. The layers of
// containers stay where they are; the layers below them are found in the additional store.
//
// The order makes a power cut harmless at every point: the generation's lists are written and synced, then the journal says
// that the move is sure, and from there on Recover brings it to its end: renames, the switch, and only then the primary's
// lists. Renames need no record each: a layer is in one of two places, and looking tells in which.
func (p *Store) Move(ctx context.Context, primary string, want Selection) (Generation, error) {
	unlock, err := p.begin()
	if err != nil {
		return Generation{}, err
	}
	defer unlock()
	if err := p.disk().sameDisk(primary); err != nil {
		return Generation{}, err
	}
	seen, view := p.seen(primary)
	defer view.Close()
	var g Generation
	err = store.Locked(ctx, primary, func(s *store.Store) error {
		var err error
		g, err = seen.move(ctx, s.Through(view), want)
		return err
	})
	if errors.Is(err, unix.EXDEV) {
		err = otherDisk(err)
	}
	return g, err
}

func (p *Store) move(ctx context.Context, s *store.Store, want Selection) (Generation, error) {
	d, err := p.stage(ctx, s, want)
	if err != nil {
		return Generation{}, err
	}
	m := moving{into: p, from: s}
	r, err := m.plan(d, want)
	if err != nil {
		return Generation{}, err
	}
	m.record = r
	if len(r.Images)+len(r.Layers)+len(r.Doubles) == 0 {
		return p.Current()
	}
	r.Phase = "begin"
	if err := p.journal().note(r); err != nil {
		return Generation{}, err
	}
	if err := m.prepare(d); err != nil {
		return Generation{}, errors.Join(err, p.disk().removeGeneration(r.Generation), p.journal().note(record{Op: "move", Phase: "failed", Generation: r.Generation}))
	}
	r.Phase = "sure"
	if err := p.journal().note(r); err != nil {
		return Generation{}, err
	}
	if err := m.finish(); err != nil {
		return Generation{}, err // Recover goes on with it
	}
	return p.Generation(r.Generation)
}

// moving is one move: what its record names goes from a primary store into the image store, both seen in one view.
type moving struct {
	into *Store
	from *store.Store
	record
}

// plan says what will be renamed.
func (m moving) plan(d staged, want Selection) (record, error) {
	n, err := m.into.disk().nextNumber()
	if err != nil {
		return record{}, err
	}
	r := record{Op: "move", Generation: n, Primary: m.from.Root, Layers: d.absent}
	for _, i := range m.from.Images {
		if want.Images == nil || slices.Contains(want.Images, i.ID) {
			r.Images = append(r.Images, i.ID)
		}
	}
	stays := map[string]bool{}
	rest := slices.DeleteFunc(slices.Clone(m.from.Images), func(i store.Image) bool { return slices.Contains(r.Images, i.ID) })
	closure, _ := m.from.Closure(rest)
	for _, id := range closure {
		stays[id] = true
	}
	below, err := belowContainers(m.from)
	if err != nil {
		return r, err
	}
	into := store.At(m.into.Dir)
	for _, l := range d.layers {
		if _, here := m.from.Layer(l.ID); !here || stays[l.ID] || slices.Contains(r.Layers, l.ID) {
			continue
		}
		if below[l.ID] && !sameName(m.from, into, l.ID) {
			continue // a container asks for it by a short name that the image store does not know
		}
		r.Doubles = append(r.Doubles, l.ID)
	}
	return r, nil
}

// belowContainers are the layers that containers stand on.
func belowContainers(s *store.Store) (map[string]bool, error) {
	boxes, err := store.ContainerLayers(s.Root)
	if err != nil {
		return nil, err
	}
	for _, l := range s.Layers {
		if l.DiffDigest == "" {
			boxes = append(boxes, l.ID)
		}
	}
	below := map[string]bool{}
	for _, box := range boxes {
		chain, _ := s.Chain(box)
		for _, id := range chain {
			below[id] = true
		}
	}
	return below, nil
}

// sameName tells whether a layer has the same short name in two stores, by which what stands on it finds it in either.
func sameName(a, b *store.Store, id string) bool {
	one, err := a.Link(id)
	if err != nil {
		return false
	}
	other, err := b.Link(id)
	return err == nil && one == other
}

// prepare makes all that does not touch what CRI-O sees: each layer's tar-split beside its files, the generation's lists.
func (m moving) prepare(d staged) error {
	for _, id := range m.Layers {
		if _, err := m.from.Link(id); err != nil {
			return err
		}
		to := filepath.Join(m.from.LayerFolder(id), store.SplitFile)
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing a tar-split: %w", err)
		}
		if err := os.Link(m.from.SplitPath(id), to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("linking a tar-split: %w", err)
		}
	}
	return m.into.write(d, m.Generation)
}

// finish does what is sure, from wherever it was cut off. The primary's locks are held.
func (m moving) finish() error {
	parents, err := m.parents()
	if err != nil {
		return err
	}
	var links []string
	for _, id := range m.Layers {
		link, err := m.layer(id, parents[id])
		if err != nil {
			return fmt.Errorf("moving layer %s: %w", id, err)
		}
		links = append(links, link)
	}
	for _, id := range m.Doubles {
		if link, err := m.from.Link(id); err == nil {
			links = append(links, link)
		}
		m.into.disk().step("rename double")
		err := os.Rename(m.from.LayerFolder(id), filepath.Join(m.into.disk().overlay(), id+old))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("moving layer %s: %w", id, err)
		}
	}
	m.into.disk().step("sync move")
	if err := store.SyncFS(m.into.Dir); err != nil {
		return err
	}
	if err := m.into.disk().switchTo(m.Generation); err != nil {
		return err
	}
	m.into.disk().step("primary")
	if err := m.from.Remove(slices.Concat(m.Layers, m.Doubles), m.Images); err != nil {
		return err
	}
	m.into.disk().step("clean up")
	if err := sweep(m.from, m.record, links); err != nil {
		return err
	}
	return m.into.journal().note(record{Op: "move", Phase: "done", Generation: m.Generation})
}

// layer renames one layer's folder, if that was not done yet.
func (m moving) layer(id, parent string) (string, error) {
	into := store.At(m.into.Dir)
	if _, err := os.Lstat(m.from.LayerFolder(id)); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(into.LayerFolder(id)); err != nil {
			return "", errors.Join(errLost, err)
		}
		return into.Link(id)
	}
	link, err := m.from.Link(id)
	if err != nil {
		return "", err
	}
	if err := m.from.FixLower(id, parent, into); err != nil {
		return "", err
	}
	if err := store.MakeLink(m.into.disk().overlay(), id, link); err != nil {
		return "", err
	}
	m.into.disk().step("move layer")
	if err := os.Rename(m.from.LayerFolder(id), into.LayerFolder(id)); err != nil {
		return "", fmt.Errorf("renaming: %w", err)
	}
	return link, nil
}

// errLost is a layer that is in none of its two places.
var errLost = errors.New("the layer is lost")

// parents reads from a generation's list which layer stands on which.
func (m moving) parents() (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(m.into.Root(m.Generation), store.LayersJSON))
	var all []store.Layer
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the layers of generation %d: %w", m.Generation, err)
	}
	parents := map[string]string{}
	for _, l := range all {
		parents[l.ID] = l.Parent
	}
	return parents, nil
}

// sweep removes what the primary keeps of moved layers and images beside its lists.
func sweep(s *store.Store, r record, links []string) error {
	var all []string
	for _, id := range slices.Concat(r.Layers, r.Doubles) {
		all = append(all, s.SplitPath(id), s.DataFolder(id))
	}
	for _, id := range r.Images {
		all = append(all, s.ImageFolder(id))
	}
	for _, link := range links {
		all = append(all, filepath.Join(s.Root, store.Overlay, "l", link))
	}
	for _, path := range all {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("removing what is left: %w", err)
		}
	}
	return nil
}

// sameDisk makes sure that a rename can do it.
func (d disk) sameDisk(primary string) error {
	var from, to unix.Stat_t
	if err := unix.Stat(filepath.Join(primary, store.Overlay), &from); err != nil {
		return fmt.Errorf("reading the primary store: %w", err)
	}
	if err := unix.Stat(d.overlay(), &to); err != nil {
		return fmt.Errorf("reading the image store: %w", err)
	}
	if from.Dev == to.Dev {
		return nil
	}
	return otherDisk(nil)
}

func otherDisk(err error) error {
	return &problem.Problem{
		Code: "STR-DEV", Summary: message.T("The images lie on another file system or mount than the seeded store, so they cannot be moved."),
		Fix: message.T("Add them by a copy: touchdown images seed."), Err: err,
	}
}
