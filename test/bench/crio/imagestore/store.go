package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/containers/image/v5/copy"
	"github.com/containers/image/v5/oci/layout"
	"github.com/containers/image/v5/signature"
	"github.com/containers/image/v5/storage"
	"github.com/containers/image/v5/types"
	store "github.com/containers/storage"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// putter puts images into one store.
type putter struct {
	store store.Store
	dir   string // of what is needed in between
}

func open(root string) (*putter, error) {
	dir, err := os.MkdirTemp("", "imagestore-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	p := &putter{dir: dir}
	if p.store, err = store.GetStore(store.StoreOptions{GraphDriverName: "overlay", GraphRoot: root, RunRoot: filepath.Join(dir, "run")}); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the store: %w", err), os.RemoveAll(dir))
	}
	return p, nil
}

func (p *putter) close() error {
	_, err := p.store.Shutdown(true)
	if err := errors.Join(err, os.RemoveAll(p.dir)); err != nil {
		return fmt.Errorf("closing the store: %w", err)
	}
	return nil
}

// put puts the image that the layout has under from into the store under the name to.
func (p *putter) put(ctx context.Context, dir, from, to string) error {
	source, err := layout.NewReference(dir, from)
	if err != nil {
		return fmt.Errorf("opening the image: %w", err)
	}
	target, err := storage.Transport.ParseStoreReference(p.store, to)
	if err != nil {
		return fmt.Errorf("naming the image %s: %w", to, err)
	}
	// One for each image: it refuses a second user while it has one.
	trust, err := signature.NewPolicyContext(&signature.Policy{Default: []signature.PolicyRequirement{signature.NewPRInsecureAcceptAnything()}})
	if err != nil {
		return fmt.Errorf("making the signature policy: %w", err)
	}
	about := &types.SystemContext{BlobInfoCacheDir: p.dir, BigFilesTemporaryDir: p.dir}
	if _, err := copy.Image(ctx, trust, target, source, &copy.Options{SourceCtx: about, DestinationCtx: about}); err != nil {
		return fmt.Errorf("storing the image %s: %w", to, err)
	}
	return nil
}

// putAll puts all images of a layout into the store. Most of the work is to unpack, so several are under way at a time.
func putAll(ctx context.Context, root, dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		return fmt.Errorf("reading the layout's index: %w", err)
	}
	var index v1.Index
	if err := json.Unmarshal(data, &index); err != nil {
		return fmt.Errorf("reading the layout's index: %w", err)
	}
	p, err := open(root)
	if err != nil {
		return err
	}
	names := make(chan string, len(index.Manifests))
	for _, m := range index.Manifests {
		names <- m.Annotations[v1.AnnotationRefName]
	}
	close(names)
	failed := make(chan error, len(index.Manifests))
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for name := range names {
				if err := p.put(ctx, dir, name, name); err != nil {
					failed <- err
				}
			}
		})
	}
	workers.Wait()
	close(failed)
	errs := []error{p.close()}
	for err := range failed {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
