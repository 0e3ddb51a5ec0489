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
	"time"

	"touchdown/backend/host"
	"touchdown/backend/images/store"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Selection says what a new generation holds.
type Selection struct {
	Images []string // ids of the source's images; nil: all. With them it holds what the current generation holds
	Drop   []string // but for these ids
}

// staged is a generation that is not written yet.
type staged struct {
	images []picture
	layers []store.Layer     // each after its parent
	absent []string          // of them those that the image store lacks
	splits map[string]string // where the tar-splits of layers lie that the image store lacks
	more   bool              // an image of the current generation got an item that it had not, such as a signature
}

// picture is an image and where its files are.
type picture struct {
	store.Image
	files map[string]string // item: path
}

// stage gathers what a generation holds: the current one's images and those of a source.
func (p *Store) stage(ctx context.Context, src *store.Store, want Selection) (staged, error) {
	n, err := p.disk().current()
	if err != nil {
		return staged{}, err
	}
	now, err := p.Store(ctx, n)
	if err != nil {
		return staged{}, err
	}
	d := staged{splits: map[string]string{}}
	for _, i := range now.Images {
		if !slices.Contains(want.Drop, i.ID) {
			d.take(now, i)
		}
	}
	if err := d.takeFrom(src, want); err != nil {
		return d, err
	}
	d.uniqueNames()
	held, err := held(src, now)
	if err != nil {
		return d, err
	}
	if err := d.takeLayers(src, now, held); err != nil {
		return d, err
	}
	for _, l := range d.layers {
		if _, err := os.Lstat(filepath.Join(p.disk().overlay(), l.ID)); err != nil {
			d.absent = append(d.absent, l.ID)
			d.splits[l.ID] = src.SplitPath(l.ID)
		}
	}
	return d, nil
}

func (d *staged) takeFrom(src *store.Store, want Selection) error {
	for _, id := range want.Images {
		if _, known := src.Image(id); !known {
			why := message.T("it is not there")
			for _, gone := range src.Dropped {
				if gone.Image == id {
					why = gone.Why
				}
			}
			return &problem.Problem{
				Code: "STR-LACK", Summary: message.F("Image %s cannot be taken from %s: %s.", id, src.Root, why),
				Fix: message.T("Pull the image again, then retry."),
			}
		}
	}
	for _, i := range src.Images {
		if (want.Images == nil || slices.Contains(want.Images, i.ID)) && !slices.Contains(want.Drop, i.ID) {
			d.take(src, i)
		}
	}
	return nil
}

// take adds an image. Of one that is there already all names and items are kept: a pull by tag knows nothing of the
// digest of a list by which it was pulled before.
func (d *staged) take(from *store.Store, i store.Image) {
	pic := picture{Image: i, files: map[string]string{}}
	for _, key := range i.BigData {
		pic.files[key] = filepath.Join(from.ImageFolder(i.ID), store.BlobFile(key))
	}
	at := slices.IndexFunc(d.images, func(have picture) bool { return have.ID == i.ID })
	if at < 0 {
		d.images = append(d.images, pic)
		return
	}
	had := d.images[at]
	for _, key := range pic.BigData {
		d.more = d.more || !slices.Contains(had.BigData, key)
	}
	for _, name := range had.Names {
		if !slices.Contains(pic.Names, name) {
			pic.Names = append(slices.Clone(pic.Names), name)
		}
	}
	pic.Sizes, pic.Digests = merged(had.Sizes, pic.Sizes), merged(had.Digests, pic.Digests)
	for _, key := range had.BigData {
		if _, has := pic.files[key]; !has {
			pic.BigData = append(slices.Clone(pic.BigData), key)
			pic.files[key] = had.files[key]
		}
	}
	d.images = append(slices.Delete(d.images, at, at+1), pic) // the newest image keeps a name that two have
}

func merged[V any](a, b map[string]V) map[string]V {
	all := map[string]V{}
	for _, m := range []map[string]V{a, b} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

func (d *staged) uniqueNames() {
	taken := map[string]bool{}
	for n := len(d.images) - 1; n >= 0; n-- {
		kept := []string{}
		for _, name := range d.images[n].Names {
			if !taken[name] {
				kept = append(kept, name)
			}
			taken[name] = true
		}
		d.images[n].Names = kept
	}
}

// takeLayers finds the layers of all images, in the current generation or else in the source, and adds those that
// containers stand on.
func (d *staged) takeLayers(src, now *store.Store, held map[string]bool) error {
	seen := map[string]bool{}
	add := func(top string) error {
		var chain []store.Layer
		for id := top; id != "" && !seen[id]; {
			seen[id] = true
			l, known := now.Layer(id)
			if !known {
				l, known = src.Layer(id)
			}
			if !known {
				return &problem.Problem{
					Code: "STR-LACK", Summary: message.F("Layer %s is neither in %s nor in the seeded store.", id, src.Root),
					Fix: message.T("Pull the image again, then retry."),
				}
			}
			chain = append(chain, l)
			id = l.Parent
		}
		slices.Reverse(chain)
		d.layers = append(d.layers, chain...)
		return nil
	}
	for _, i := range d.images {
		if err := add(i.TopLayer); err != nil {
			return fmt.Errorf("image %s: %w", i.Name(), err)
		}
	}
	for _, l := range now.Layers {
		if held[l.ID] {
			if err := add(l.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes a generation as a whole: it has its name only when it is on the disk.
func (p *Store) write(d staged, n int) (err error) {
	dir := p.Root(n) + part
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing what is left: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("making a generation: %w", err)
	}
	if err := os.Symlink("../../"+store.Overlay, filepath.Join(dir, store.Overlay)); err != nil {
		return fmt.Errorf("making a generation: %w", err)
	}
	for _, list := range []string{store.LayersJSON, store.ImagesJSON} {
		if err := os.Mkdir(filepath.Join(dir, filepath.Dir(list)), 0o700); err != nil {
			return fmt.Errorf("making a generation: %w", err)
		}
	}
	g := Generation{N: n, Images: []Image{}, Layers: []Layer{}}
	if err := d.writeLayers(p.disk(), dir, &g); err != nil {
		return err
	}
	if err := d.writeImages(p.disk(), dir, &g); err != nil {
		return err
	}
	g.Made, g.Version = time.Now().UTC(), p.Version
	if err := put(dir, manifestFile, g); err != nil {
		return err
	}
	if err := store.Empty(dir); err != nil { // the locks: the lists are there
		return err
	}
	p.disk().step("sync generation")
	if err := store.SyncFS(dir); err != nil {
		return err
	}
	p.disk().step("rename generation")
	if err := os.Rename(dir, p.Root(n)); err != nil {
		return fmt.Errorf("naming a generation: %w", err)
	}
	return host.SyncDir(filepath.Dir(dir))
}

func (d *staged) writeLayers(on disk, dir string, g *Generation) error {
	into := store.At(dir)
	records := []json.RawMessage{}
	for _, l := range d.layers {
		// Items beside the tar-split serve pulls in part only.
		raw, err := store.Edit(l.Raw, map[string]any{"big-data-names": nil})
		if err != nil {
			return err
		}
		records = append(records, raw)
		g.Layers = append(g.Layers, Layer{l.ID, l.DiffDigest, l.DiffSize})
		from, moved := d.splits[l.ID]
		if seeded := filepath.Join(on.overlay(), l.ID, store.SplitFile); !moved {
			from = seeded
		}
		if err := os.Link(from, into.SplitPath(l.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("linking a tar-split: %w", err)
		}
	}
	return put(dir, store.LayersJSON, records)
}

func (d *staged) writeImages(on disk, dir string, g *Generation) error {
	into := store.At(dir)
	records := []json.RawMessage{}
	for _, i := range d.images {
		raw, err := store.Edit(i.Raw, map[string]any{
			"names": i.Names, "big-data-names": i.BigData, "big-data-sizes": i.Sizes, "big-data-digests": i.Digests, "mapped-layers": nil,
		})
		if err != nil {
			return err
		}
		records = append(records, raw)
		g.Images = append(g.Images, Image{i.ID, i.Digest, i.Names})
		folder := into.ImageFolder(i.ID)
		if err := os.Mkdir(folder, 0o700); err != nil {
			return fmt.Errorf("making an image's folder: %w", err)
		}
		for key, from := range i.files {
			if err := on.place(from, filepath.Join(folder, store.BlobFile(key))); err != nil {
				return fmt.Errorf("image %s: %w", i.Name(), err)
			}
		}
	}
	return put(dir, store.ImagesJSON, records)
}

// put writes a file of a generation, which is synced as a whole before it has its name.
func put(dir, name string, content any) error {
	data, err := json.Marshal(content)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
