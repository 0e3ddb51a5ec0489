package store

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// Edit changes fields of a record and leaves all others unchanged; nil takes a field away.
func Edit(raw json.RawMessage, fields map[string]any) (json.RawMessage, error) {
	record := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &record); err != nil {
		return nil, fmt.Errorf("reading a record: %w", err)
	}
	for name, value := range fields {
		if value == nil {
			delete(record, name)
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", name, err)
		}
		record[name] = data
	}
	data, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("writing a record: %w", err)
	}
	return data, nil
}

// Empty makes the folders, lists and lock files of a store without images, as far as they are not there. Without lock files
// a store that is mounted read-only lists nothing, silently.
func Empty(root string) error {
	for _, dir := range []string{layersDir, imagesDir, filepath.Join(Overlay, linksDir)} {
		if _, err := os.Lstat(filepath.Join(root, Overlay)); err == nil && filepath.Dir(dir) == Overlay {
			continue // of a generation it is a link
		}
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			return fmt.Errorf("making a store: %w", err)
		}
	}
	for _, name := range []string{layersLock, imagesLock} {
		if err := makeLock(filepath.Join(root, name)); err != nil {
			return fmt.Errorf("making a lock: %w", err)
		}
	}
	for _, name := range []string{LayersJSON, ImagesJSON} {
		if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := writeList(root, name, nil); err != nil {
			return err
		}
	}
	return nil
}

// tokenSize is that of what the library writes into a lock file to tell others that the lists have changed, bytes.
const tokenSize = 64

// makeLock makes a lock file with its own token. A CRI-O that runs reads the lists again when it finds another token than
// the last time: by that it notices that another generation is in force.
func makeLock(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("opening it: %w", err)
	}
	st, err := f.Stat()
	if err == nil && st.Size() == 0 {
		token := make([]byte, tokenSize)
		_, _ = rand.Read(token) // it cannot fail
		_, err = f.Write(token)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing it: %w", err)
	}
	return nil
}

// writeList replaces one of a store's lists as a whole.
func writeList(root, name string, records []json.RawMessage) error {
	data, err := json.Marshal(slices.Concat([]json.RawMessage{}, records))
	if err == nil && records == nil {
		data = []byte("[]")
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return host.WriteFileAtomic(filepath.Join(root, name), data, 0o600)
}

// Remove takes layers and images out of the lists of a store whose locks are held. The images go first: an image without
// its layers breaks every listing, a layer without an image is only in the way.
func (s *Store) Remove(layers, images []string) error {
	if err := removeRecords(s.Root, ImagesJSON, images); err != nil {
		return err
	}
	return removeRecords(s.Root, LayersJSON, layers)
}

// AddNames gives images of a store whose locks are held names that they have not, by their ids. A name that another image has
// stays with that one.
func (s *Store) AddNames(names map[string][]string) error {
	taken := map[string]bool{}
	for _, i := range s.Images {
		for _, name := range i.Names {
			taken[name] = true
		}
	}
	records, err := readList(filepath.Join(s.Root, ImagesJSON))
	if err != nil {
		return err
	}
	for n, raw := range records {
		var record struct {
			ID    string   `json:"id"`
			Names []string `json:"names"`
		}
		if err := json.Unmarshal(raw, &record); err != nil {
			return fmt.Errorf("reading a record: %w", err)
		}
		more := slices.DeleteFunc(slices.Clone(names[record.ID]), func(name string) bool { return taken[name] })
		if len(more) == 0 {
			continue
		}
		if records[n], err = Edit(raw, map[string]any{"names": append(record.Names, more...)}); err != nil {
			return err
		}
	}
	return writeList(s.Root, ImagesJSON, records)
}

func removeRecords(root, name string, ids []string) error {
	records, err := readList(filepath.Join(root, name))
	if err != nil {
		return err
	}
	kept := make([]json.RawMessage, 0, len(records))
	for _, raw := range records {
		var record struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(raw, &record); err != nil {
			return fmt.Errorf("reading a record: %w", err)
		}
		if !slices.Contains(ids, record.ID) {
			kept = append(kept, raw)
		}
	}
	if len(kept) == len(records) {
		return nil
	}
	return writeList(root, name, kept)
}

// LayerFolder is where a layer's files lie.
func (s *Store) LayerFolder(id string) string { return s.files().layerPath(id) }

// DataFolder is where a layer's further items lie, if it has any.
func (s *Store) DataFolder(id string) string { return filepath.Join(s.files().base(), layersDir, id) }

// SplitPath is where a layer's tar-split lies.
func (s *Store) SplitPath(id string) string { return s.files().splitPath(id) }

// ImageFolder is where an image's manifests, config and signatures lie.
func (s *Store) ImageFolder(id string) string { return filepath.Join(s.files().base(), imagesDir, id) }

// BlobFile is the name of the file that an item of an image is kept in.
func BlobFile(key string) string { return blobFile(key) }

// Link reads a layer's short name, and makes sure that it leads to the layer.
func (s *Store) Link(id string) (string, error) { return s.files().link(id) }

// MakeLink makes a layer's short name in an overlay folder.
func MakeLink(overlay, id, link string) error { return makeLink(overlay, id, link) }

// FixLower writes into a layer's folder, below s, what its ancestors are called in another store, where its parent is
// already: the same layer that was pulled twice has two short names.
func (s *Store) FixLower(id, parent string, in *Store) error {
	want := ""
	if parent != "" {
		link, err := in.files().link(parent)
		if err != nil {
			return err
		}
		above, err := in.files().lower(parent)
		if err != nil {
			return err
		}
		want = linksDir + "/" + link
		if above != "" {
			want += ":" + above
		}
	}
	if is, err := s.files().lower(id); err != nil || is == want {
		return err
	}
	return host.WriteFileAtomic(filepath.Join(s.files().layerPath(id), "lower"), []byte(want), 0o644)
}

// At is a store whose lists are not read: only its folders are of interest.
func At(root string) *Store { return &Store{Root: root, byID: map[string]int{}} }

// ContainerLayers are the layers that a store's containers write to, running or not.
func ContainerLayers(root string) ([]string, error) {
	var ids []string
	for _, name := range []string{containers, containersV} {
		file := filepath.Join(root, name)
		records, err := readList(file)
		if err != nil {
			return nil, err
		}
		for n, raw := range records {
			var box struct {
				Layer string `json:"layer"`
			}
			if err := json.Unmarshal(raw, &box); err != nil || !ValidID(box.Layer) {
				return nil, refused(file, message.F("record %d has the layer %.80q", n+1, box.Layer), err)
			}
			ids = append(ids, box.Layer)
		}
	}
	return ids, nil
}

// within is an image's file by its name in the store: through a view its path says nothing to anybody.
func within(file string) string {
	folder := filepath.Dir(file)
	return filepath.Join(filepath.Base(filepath.Dir(folder)), filepath.Base(folder), filepath.Base(file))
}

// CopyFile copies a small file, sharing its blocks where that can be had. It is not synced.
func CopyFile(from, to string) error {
	in, err := openFile(unix.AT_FDCWD, from)
	if err != nil {
		return err
	}
	defer shut(in)
	var st unix.Stat_t
	if err := unix.Fstat(in, &st); err != nil {
		return fmt.Errorf("reading attributes: %w", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > MaxBlob {
		return refused(within(from), message.F("it is not a file of at most %d bytes", MaxBlob), nil)
	}
	out, err := unix.Open(to, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("making %s: %w", to, err)
	}
	defer shut(out)
	if st.Size == 0 {
		return nil
	}
	c := content{byHand: &atomic.Bool{}, room: func() error { return nil }, share: unix.IoctlFileClone}
	return c.copy(in, out, st.Size)
}
