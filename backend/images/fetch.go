package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/images/auth"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/ref"
	"touchdown/backend/images/remote"
	"touchdown/backend/images/store"
	"touchdown/backend/message"
)

// fetcher makes what is damaged in the store again from registries, as what it must be is known by digest. It does not go by
// CRI-O's pull: CRI-O finds the damaged layer in the store and fetches nothing, and to hide the layer from it would leave
// images that the node needs without a source meanwhile.
type fetcher struct {
	layers   *layerstore.Store
	now      *store.Store // the generation in force
	registry *remote.Reader
}

func newFetcher(ctx context.Context, m *host.Machine, p *layerstore.Store, n int) (*fetcher, error) {
	logins, err := auth.Read(m)
	if err != nil {
		return nil, fmt.Errorf("reading the registry credentials: %w", err)
	}
	registry, err := remote.New(m, logins)
	if err != nil {
		return nil, fmt.Errorf("reading the settings of registries: %w", err)
	}
	now, err := p.Store(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("opening the image store: %w", err)
	}
	return &fetcher{p, now, registry}, nil
}

// repair makes one layer, or one file of an image, again.
func (f *fetcher) repair(ctx context.Context, group []store.Damage) error {
	// Half a file of a crash is removed with the image store's own.
	side, err := os.MkdirTemp(f.layers.Dir, "fetch-*"+store.Part)
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(side) }() // or by the next start
	var fresh *store.Store
	if id := group[0].Layer; id != "" {
		fresh, err = f.layer(ctx, id, side)
	} else {
		fresh, err = f.file(ctx, group[0].File, side)
	}
	if err != nil {
		return err
	}
	return f.layers.Repair(ctx, fresh, group)
}

func (f *fetcher) layer(ctx context.Context, id, side string) (*store.Store, error) {
	l, known := f.now.Layer(id)
	if !known || l.Packed == "" {
		return nil, errors.New("the store does not know what registries call this layer")
	}
	blob, err := os.Create(filepath.Join(side, "blob"))
	if err != nil {
		return nil, fmt.Errorf("making a file: %w", err)
	}
	defer func() { _ = blob.Close() }()
	if l.DiffSize < 0 {
		return nil, errors.New("the store does not know how large this layer is")
	}
	// What compression makes larger, it makes larger by little.
	limit := l.DiffSize + l.DiffSize/100 + 1<<20
	if err := store.Room(side, limit+l.DiffSize); err != nil {
		return nil, err
	}
	err = f.each(f.holders(id), func(name string) error { return f.registry.Blob(ctx, name, l.Packed, limit, blob) })
	if err != nil {
		return nil, err
	}
	if _, err := blob.Seek(0, 0); err != nil {
		return nil, fmt.Errorf("reading what was fetched: %w", err)
	}
	return f.now.Rebuild(ctx, id, blob, filepath.Join(side, "store"))
}

// holders are the images that need a layer.
func (f *fetcher) holders(layer string) []store.Image {
	return slices.DeleteFunc(slices.Clone(f.now.Images), func(i store.Image) bool {
		chain, _ := f.now.Chain(i.TopLayer)
		return !slices.Contains(chain, layer)
	})
}

// each asks for a thing under the name of each repository that has it, until one gives it.
func (f *fetcher) each(holders []store.Image, get func(name string) error) error {
	var errs []error
	asked := map[string]bool{}
	for _, i := range holders {
		for _, name := range i.Names {
			r, err := ref.Parse(name)
			if err != nil || asked[r.Name()] {
				continue
			}
			asked[r.Name()] = true
			if err = get(name); err == nil {
				return nil
			}
			errs = append(errs, err)
		}
	}
	switch len(errs) {
	case 0:
		return errors.New("no image that needs it has a name")
	case 1:
		return errs[0]
	}
	return fmt.Errorf("%w; nor did %s", errs[0], message.N(len(errs)-1, "%d other repository", "%d other repositories"))
}

// file fetches a manifest or a configuration. Signatures are in no registry under a digest: only a pull brings them.
func (f *fetcher) file(ctx context.Context, name, side string) (*store.Store, error) {
	folder, file := filepath.Split(name)
	id := filepath.Base(folder)
	i, known := f.now.Image(id)
	at := slices.IndexFunc(i.BigData, func(key string) bool { return store.BlobFile(key) == file })
	if !known || at < 0 {
		return nil, fmt.Errorf("%s belongs to no image", name)
	}
	key := i.BigData[at]
	digest := i.Digests[key]
	fresh := filepath.Join(side, "store")
	if err := errors.Join(store.Empty(fresh), os.MkdirAll(filepath.Join(fresh, folder), 0o700)); err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	out, err := os.Create(filepath.Join(fresh, name))
	if err != nil {
		return nil, fmt.Errorf("making a file: %w", err)
	}
	defer func() { _ = out.Close() }()
	err = f.each([]store.Image{i}, func(name string) error {
		switch {
		case key == "sha256:"+id:
			return f.registry.Blob(ctx, name, key, min(i.Sizes[key], store.MaxBlob), out)
		case strings.HasPrefix(key, "manifest") && digest != "":
			return f.registry.Manifest(ctx, name, digest, out)
		}
		return errors.New("no registry has it under a digest")
	})
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, fresh)
}
