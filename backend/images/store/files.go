package store

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"touchdown/backend/message"

	"github.com/vbatts/tar-split/tar/storage"
	"golang.org/x/sys/unix"
)

// files are the files of a store, whatever its lists say: where they lie, and what the small ones of a layer hold.
type files struct {
	root    string
	through string // the root as it is seen through a view; "": not through one
}

func (s *Store) files() files { return files{s.Root, s.through} }

// base is where the store's files are.
func (f files) base() string {
	if f.through != "" {
		return f.through
	}
	return f.root
}

// named is a file of the store as people know it.
func (f files) named(file string) string {
	if rest, seen := strings.CutPrefix(file, f.base()); seen {
		return f.root + rest
	}
	return file
}

// layerPath is a layer's folder.
func (f files) layerPath(id string) string { return filepath.Join(f.base(), Overlay, id) }

// splitPath is where the library keeps what of a layer's tar is not in its files.
func (f files) splitPath(id string) string {
	return filepath.Join(f.base(), layersDir, id+splitSuffix)
}

// link reads a layer's short name. The link of that name must lead to the layer, or be lost; where it leads elsewhere
// someone wants other files to be taken for the layer'f.
func (f files) link(id string) (string, error) {
	file := filepath.Join(f.layerPath(id), "link")
	data, err := readBounded(file, linkLen)
	if err != nil {
		return "", f.unfit(file, err)
	}
	if !linkName.Match(data) {
		return "", refused(f.named(file), message.F("it holds %.80q", string(data)), nil)
	}
	link := filepath.Join(f.base(), Overlay, linksDir, string(data))
	target, err := os.Readlink(link)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return "", refused(f.named(link), message.T("it is not a link"), err)
	}
	if err == nil && target != linkTarget(id) {
		return "", refused(f.named(link), message.F("it leads to %.80q instead of layer %s", target, id), nil)
	}
	return string(data), nil
}

// lower reads the short names of a layer's ancestors, the parent first; a base has none.
func (f files) lower(id string) (string, error) {
	file := filepath.Join(f.layerPath(id), "lower")
	data, err := readBounded(file, maxLower)
	if errors.Is(err, unix.ENOENT) {
		return "", nil
	}
	if err != nil {
		return "", f.unfit(file, err)
	}
	if !lowerList.Match(data) {
		return "", refused(f.named(file), message.F("it holds %.80q", string(data)), nil)
	}
	return string(data), nil
}

// unfit passes on that a file is lost, and refuses one that is there and is not a short text.
func (f files) unfit(file string, err error) error {
	if errors.Is(err, unix.ENOENT) {
		return err
	}
	return refused(f.named(file), message.T("it cannot be read"), err)
}

// openSplit opens a layer's tar-split.
func (f files) openSplit(id string) (*split, error) {
	file, err := os.OpenFile(f.splitPath(id), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("opening: %w", err)
	}
	st, err := file.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errSplit
	}
	var unzip *gzip.Reader
	if err == nil {
		unzip, err = gzip.NewReader(bufio.NewReaderSize(file, 64<<10))
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("opening: %w", err)
	}
	return &split{file: file, unzip: unzip, lines: bufio.NewReaderSize(unzip, 64<<10)}, nil
}

// entries counts a layer's files.
func (f files) entries(ctx context.Context, id string) (uint64, error) {
	in, err := f.openSplit(id)
	if errors.Is(err, unix.ENOENT) {
		return 0, nil
	}
	if err != nil {
		return 0, refused(f.named(f.splitPath(id)), message.T("it cannot be read"), err)
	}
	defer in.close()
	for n := uint64(0); ; {
		e, err := in.next()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return 0, refused(f.named(f.splitPath(id)), message.T("it cannot be read"), err)
		}
		if e.Type == storage.FileType {
			n++
		}
		if n%4096 == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
}
