// Package imagestore makes image stores for tests and measurements, as CRI-O leaves them: layers with real tar-splits and
// digests, manifests, configs, containers.
package imagestore

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Store is a store in the making. The first error is kept and told by Save.
type Store struct {
	Root string
	Salt string // of the short names: with another one the same layers have others

	err    error
	layers []map[string]any
	images []map[string]any
	boxes  []map[string]any
	lower  map[string]string // of a layer, as its children write it
	diffs  map[string]string // digests of layers
	parent map[string]string
}

// New begins a store in a folder, which is made.
func New(root string) *Store {
	s := &Store{Root: root, lower: map[string]string{}, diffs: map[string]string{}, parent: map[string]string{}}
	for _, dir := range []string{"overlay/l", "overlay-layers", "overlay-images", "overlay-containers"} {
		s.keep(os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	for _, file := range []string{"overlay-layers/layers.lock", "overlay-images/images.lock"} {
		s.keep(os.WriteFile(filepath.Join(root, file), nil, 0o600))
	}
	return s
}

func (s *Store) keep(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Path is a path below the store.
func (s *Store) Path(parts ...string) string {
	return filepath.Join(append([]string{s.Root}, parts...)...)
}

// Layer unpacks files on top of a parent, and returns the layer's id: the same files on the same parent have the same.
func (s *Store) Layer(parent string, files ...File) string {
	dir := s.Path("overlay", "new")
	s.keep(os.MkdirAll(filepath.Join(dir, "diff"), 0o755))
	split := s.Path("overlay-layers", "new")
	digest, size, err := unpack(filepath.Join(dir, "diff"), split, files)
	if err != nil {
		s.keep(err)
		return ""
	}
	id := hexSum([]byte("sha256:" + parent + " " + digest))
	if _, twice := s.diffs[id]; twice {
		s.keep(errors.Join(os.RemoveAll(dir), os.Remove(split)))
		return id
	}
	s.diffs[id], s.parent[id] = digest, parent
	s.keep(os.Rename(split, s.Path("overlay-layers", id+".tar-split.gz")))
	s.folder(dir, id, parent, parent != "")
	record := map[string]any{
		"id": id, "created": stamp, "diff-digest": digest, "diff-size": size, "compression": 2,
		"compressed-diff-digest": "sha256:" + hexSum([]byte("gz"+digest)), "uidset": []int{0}, "gidset": []int{0}, "x-unknown": "kept",
	}
	if parent != "" {
		record["parent"] = parent
	}
	s.layers = append(s.layers, record)
	return id
}

// folder gives a layer's folder what lies beside its files, and its name.
func (s *Store) folder(dir, id, parent string, merged bool) {
	link := strings.ToUpper(hexSum([]byte("link" + s.Salt + id))[:26])
	s.keep(os.WriteFile(filepath.Join(dir, "link"), []byte(link), 0o644))
	s.keep(os.Mkdir(filepath.Join(dir, "work"), 0o700))
	if merged {
		s.keep(os.Mkdir(filepath.Join(dir, "merged"), 0o700))
	} else {
		s.keep(os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	}
	s.lower[id] = "l/" + link
	if parent != "" {
		s.keep(os.WriteFile(filepath.Join(dir, "lower"), []byte(s.lower[parent]), 0o666))
		s.lower[id] += ":" + s.lower[parent]
	}
	s.keep(os.Rename(dir, s.Path("overlay", id)))
	s.keep(os.Symlink("../"+id+"/diff", s.Path("overlay", "l", link)))
}

// Image makes an image of a layer, with manifest and config, and returns its id. Names that end in @ get its digest.
func (s *Store) Image(top string, names ...string) string {
	var diffs []string
	for id := top; id != ""; id = s.parent[id] {
		diffs = append([]string{s.diffs[id]}, diffs...)
	}
	config := s.json(map[string]any{
		"architecture": "amd64", "os": "linux", "rootfs": map[string]any{"type": "layers", "diff_ids": diffs},
		"config": map[string]any{"Labels": map[string]string{"for": strings.Join(names, " ")}},
	})
	id := hexSum(config)
	manifest := s.json(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": map[string]any{"digest": "sha256:" + id, "size": len(config)}, "layers": []any{},
	})
	digest := "sha256:" + hexSum(manifest)
	list := s.json(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
		"manifests": []any{map[string]any{"digest": digest, "size": len(manifest)}},
	})
	items := map[string][]byte{
		"manifest": manifest, "manifest-" + digest: manifest, "manifest-sha256:" + hexSum(list): list, "sha256:" + id: config,
		"signature-" + hexSum([]byte("s"+id)): []byte("a signature"),
	}
	sizes, digests, keys := map[string]int{}, map[string]string{}, []string{}
	s.keep(os.MkdirAll(s.Path("overlay-images", id), 0o700))
	for key, data := range items {
		keys = append(keys, key)
		sizes[key], digests[key] = len(data), "sha256:"+hexSum(data)
		s.keep(os.WriteFile(s.Path("overlay-images", id, blob(key)), data, 0o600))
	}
	for n, name := range names {
		if strings.HasSuffix(name, "@") {
			names[n] = name + "sha256:" + hexSum(list)
		}
	}
	s.images = append(s.images, map[string]any{
		"id": id, "digest": digest, "names": names, "layer": top, "created": stamp, "metadata": "{}", "x-unknown": "kept",
		"big-data-names": keys, "big-data-sizes": sizes, "big-data-digests": digests,
	})
	return id
}

// Container makes a container on a layer, with its own file, and returns the id of its layer.
func (s *Store) Container(parent string) string {
	id := hexSum([]byte("container" + parent + fmt.Sprint(len(s.boxes))))
	dir := s.Path("overlay", "new")
	s.keep(os.MkdirAll(filepath.Join(dir, "diff", "etc"), 0o755))
	s.keep(os.WriteFile(filepath.Join(dir, "diff", "etc", "hostname"), []byte("box\n"), 0o644))
	s.folder(dir, id, parent, true)
	s.layers = append(s.layers, map[string]any{"id": id, "parent": parent, "created": stamp})
	s.boxes = append(s.boxes, map[string]any{"id": hexSum([]byte("box" + id)), "layer": id, "created": stamp})
	return id
}

// Alter changes the records before they are saved.
func (s *Store) Alter(f func(layers, images []map[string]any)) { f(s.layers, s.images) }

// Save writes the lists.
func (s *Store) Save() error {
	for file, records := range map[string][]map[string]any{
		"overlay-layers/layers.json": s.layers, "overlay-images/images.json": s.images, "overlay-containers/containers.json": s.boxes,
	} {
		if records == nil {
			records = []map[string]any{}
		}
		s.keep(os.WriteFile(s.Path(file), s.json(records), 0o600))
	}
	return s.err
}

var stamp = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (s *Store) json(v any) []byte {
	data, err := json.Marshal(v)
	s.keep(err)
	return data
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// blob is the file of an item of an image, as the library names it.
func blob(key string) string {
	if key == "manifest" {
		return key
	}
	return "=" + base64.StdEncoding.EncodeToString([]byte(key))
}
