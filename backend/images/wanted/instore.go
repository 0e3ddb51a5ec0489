package wanted

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/cri"
	layers "touchdown/backend/images/store"
)

// InStores reads files of images out of container stores, the first that has the image. Nothing is mounted or started.
func InStores(roots ...string) File {
	return func(ctx context.Context, image cri.Image, name string) ([]byte, error) {
		err := errors.New("no store has the image")
		for _, root := range roots {
			if _, statErr := os.Stat(root); statErr != nil {
				continue // a node without that store
			}
			b, found, storeErr := inStore(ctx, root, image.ID, name)
			if storeErr == nil && found {
				return b, nil
			}
			if storeErr != nil {
				err = storeErr
			}
		}
		return nil, err
	}
}

func inStore(ctx context.Context, root, id, name string) (b []byte, found bool, err error) {
	s, err := layers.Open(ctx, root)
	if err != nil {
		return nil, false, err
	}
	image, found := s.Image(id)
	if !found {
		return nil, false, nil
	}
	chain, missing := s.Chain(image.TopLayer)
	if missing != "" {
		return nil, false, fmt.Errorf("layer %s of the image is in no store", missing)
	}
	for _, layer := range slices.Backward(chain) {
		b, last, err := inLayer(path.Join(s.LayerFolder(layer), "diff"), name)
		if b != nil || last || err != nil {
			return b, true, err
		}
	}
	return nil, false, fmt.Errorf("the image has no %s", name)
}

// inLayer reads a file of a layer; nil when the layer does not have it. last says that the layers below do not count. A link
// is followed within the layer only: an image may hold any.
func inLayer(folder, name string) (b []byte, last bool, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, true, fmt.Errorf("opening a layer: %w", err)
	}
	defer func() { _ = root.Close() }()
	parts := strings.Split(strings.Trim(name, "/"), "/")
	for n := range parts {
		at := path.Join(parts[:n+1]...)
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, last, lacking(last, name)
		case err != nil:
			return nil, true, fmt.Errorf("looking at %s in a layer: %w", at, err)
		case whiteout(info):
			return nil, true, lacking(true, name)
		}
		last = last || info.IsDir() && opaque(path.Join(folder, at))
	}
	f, err := root.OpenFile(path.Join(parts...), os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe would block
	if err != nil {
		return nil, true, fmt.Errorf("opening %s in a layer: %w", name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, true, fmt.Errorf("%s is not a file in the image", name)
	}
	b, err = io.ReadAll(io.LimitReader(f, payloadLimit+1))
	if err != nil {
		return nil, true, fmt.Errorf("reading %s in a layer: %w", name, err)
	}
	return b, true, nil
}

func lacking(last bool, name string) error {
	if last {
		return fmt.Errorf("the image has no %s", name)
	}
	return nil
}

// whiteout tells the device that overlayfs takes for "deleted here".
func whiteout(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && st.Rdev == 0
}

// opaque tells a folder that hides the one of the same name below it.
func opaque(folder string) bool {
	for _, attribute := range []string{"trusted.overlay.opaque", "user.overlay.opaque"} {
		value := make([]byte, 8)
		if n, err := unix.Lgetxattr(folder, attribute, value); err == nil && string(value[:n]) == "y" {
			return true
		}
	}
	return false
}
