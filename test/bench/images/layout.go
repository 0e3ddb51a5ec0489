package images

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Options say what to make.
type Options struct {
	Size    Size
	Seed    uint64
	Program []byte // what is in every image as /pod
}

// Make makes the images in dir, which is new. A layer is made on each of the machine's processors.
func Make(ctx context.Context, dir string, o Options) error {
	layers, images := plan(o.Size, o.Seed)
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o755); err != nil {
		return fmt.Errorf("making the folder of the images: %w", err)
	}
	filling := pool(o.Seed)
	next := make(chan *layer)
	failed := make(chan error, runtime.NumCPU())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for l := range next {
				if err := l.make(dir, filling, o.Program); err != nil {
					failed <- err
					cancel()
					return
				}
			}
		})
	}
	for _, l := range layers {
		select {
		case next <- l:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	close(failed)
	errs := []error{ctx.Err()}
	for err := range failed {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return writeIndex(dir, images)
}

// make writes the layer's blob.
func (l *layer) make(dir string, filling, program []byte) (err error) {
	file, err := os.CreateTemp(dir, "layer-")
	if err != nil {
		return fmt.Errorf("making a layer: %w", err)
	}
	defer file.Close()
	packed := sha256.New()
	size := &counter{}
	buffer := bufio.NewWriterSize(io.MultiWriter(file, packed, size), 1<<20)
	zip, err := gzip.NewWriterLevel(buffer, gzip.BestSpeed)
	if err != nil {
		return fmt.Errorf("making a layer: %w", err)
	}
	plain, length := sha256.New(), &counter{}
	w := &writer{
		Writer: tar.NewWriter(io.MultiWriter(zip, plain, length)), layer: l,
		random: rand.New(rand.NewPCG(l.seed, 2)), pool: filling,
	}
	if err := w.write(program); err != nil {
		return err
	}
	for _, end := range []func() error{w.Close, zip.Close, buffer.Flush, file.Close} {
		if err := end(); err != nil {
			return fmt.Errorf("ending layer %d: %w", l.id, err)
		}
	}
	l.made = Layer{Digest: summed(packed), Size: size.n, DiffID: summed(plain), Tar: length.n}
	if err := os.Rename(file.Name(), blobFile(dir, l.made.Digest)); err != nil {
		return fmt.Errorf("naming layer %d: %w", l.id, err)
	}
	return nil
}

// counter counts what is written to it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// putJSON writes a document as a blob.
func putJSON(dir string, document any) (descriptor, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return descriptor{}, fmt.Errorf("encoding a blob: %w", err)
	}
	d := descriptor{Digest: digestOf(data), Size: int64(len(data))}
	if err := os.WriteFile(blobFile(dir, d.Digest), data, 0o644); err != nil {
		return d, fmt.Errorf("writing a blob: %w", err)
	}
	return d, nil
}
