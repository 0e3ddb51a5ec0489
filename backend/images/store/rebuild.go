package store

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/vbatts/tar-split/tar/asm"
	"github.com/vbatts/tar-split/tar/storage"
	"golang.org/x/sys/unix"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Rebuild makes a store below root that holds one layer of this store, out of what a registry has of it. Of the damaged layer
// only the attributes of its own folder are used. Whether the new layer is what its digest says is seen by Full.
func (s *Store) Rebuild(ctx context.Context, id string, blob io.Reader, root string) (*Store, error) {
	l, known := s.Layer(id)
	if !known {
		return nil, fmt.Errorf("layer %s is not in the store", id)
	}
	if l.DiffSize < 0 {
		return nil, fmt.Errorf("the store does not know how large layer %s is", id)
	}
	if err := s.files().frame(root, l); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, unpackTime+time.Duration(l.DiffSize/slowestDisk)*time.Second)
	defer cancel()
	into := At(root).files()
	if err := into.unpack(ctx, l, blob); err != nil {
		return nil, fmt.Errorf("unpacking layer %s: %w", id, err)
	}
	return Open(ctx, root)
}

// frame makes all of the new store but the layer's files.
func (f files) frame(root string, l Layer) error {
	if err := Empty(root); err != nil {
		return err
	}
	raw, err := Edit(l.Raw, map[string]any{"big-data-names": nil})
	if err != nil {
		return err
	}
	if err := writeList(root, LayersJSON, []json.RawMessage{raw}); err != nil {
		return err
	}
	folder := At(root).files().layerPath(l.ID)
	if err := os.MkdirAll(filepath.Join(folder, "diff"), 0o700); err != nil {
		return fmt.Errorf("making a layer: %w", err)
	}
	if err := f.sameFolder(l, folder); err != nil {
		return err
	}
	link := rand.Text()[:linkLen]
	if err := os.WriteFile(filepath.Join(folder, "link"), []byte(link), 0o644); err != nil {
		return fmt.Errorf("making a layer: %w", err)
	}
	return makeLink(filepath.Join(root, Overlay), l.ID, link)
}

// sameFolder gives the new layer's top folder what the library gives it beside what the tar says: that of the layer that is to
// be replaced, else of its parent.
func (f files) sameFolder(l Layer, folder string) error {
	var st unix.Stat_t
	mode := uint32(0o555) // the library's, for a base
	if unix.Lstat(filepath.Join(f.layerPath(l.ID), "diff"), &st) == nil || l.Parent != "" && unix.Lstat(filepath.Join(f.layerPath(l.Parent), "diff"), &st) == nil {
		mode = st.Mode & 0o7777
	}
	diff := filepath.Join(folder, "diff")
	if err := errors.Join(unix.Chown(diff, int(st.Uid), int(st.Gid)), unix.Chmod(diff, mode)); err != nil {
		return fmt.Errorf("making a layer: %w", err)
	}
	names := []string{"work", "merged"}
	if l.Parent == "" {
		names = []string{"work", "empty"}
	}
	for _, name := range names {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			return fmt.Errorf("making a layer: %w", err)
		}
	}
	return nil
}

// unpack unpacks a layer's blob, and writes its tar-split on the way.
func (f files) unpack(ctx context.Context, l Layer, blob io.Reader) (err error) {
	file, err := os.OpenFile(f.splitPath(l.ID), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("making the tar-split: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := room(int(file.Fd()), l.DiffSize); err != nil {
		return err
	}
	plain, err := inflate(stopping{ctx, blob})
	if err != nil {
		return err
	}
	zip := gzip.NewWriter(file)
	limited := &io.LimitedReader{R: plain, N: l.DiffSize + 1}
	counted := &meter{Packer: storage.NewJSONPacker(zip), FilePutter: storage.NewDiscardFilePutter(), ctx: ctx, from: limited, left: l.DiffSize}
	tar, done, err := asm.NewInputTarStreamWithDone(counted, counted, counted)
	if err != nil {
		return fmt.Errorf("reading the tar: %w", err)
	}
	if err = untar(ctx, filepath.Join(f.layerPath(l.ID), "diff"), tar, l.DiffSize); err == nil {
		_, err = io.Copy(io.Discard, tar) // what fills the tar up; the other side ends only then
	}
	_ = tar.Close() // of an error: the other side ends too
	split := <-done
	switch {
	case limited.N == 0:
		return fmt.Errorf("it is larger than %d bytes", l.DiffSize)
	case err != nil: // the other side's is the same, or that nobody reads any more
		return fmt.Errorf("unpacking: %w", err)
	}
	return errors.Join(split, zip.Close())
}

// inflate takes off the compression of a layer: gzip or none.
func inflate(blob io.Reader) (io.Reader, error) {
	in := bufio.NewReader(blob)
	head, err := in.Peek(4)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("reading the blob: %w", err)
	case len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b:
		out, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("reading the blob: %w", err)
		}
		return out, nil
	case string(head) == "\x28\xb5\x2f\xfd":
		return nil, &problem.Problem{
			Code: "STR-ZSTD", Summary: message.T("The layer is compressed by zstd, which only CRI-O unpacks here."),
			Fix: message.T("Pull the image again (crictl pull), then run touchdown images verify."),
		}
	}
	return in, nil
}
