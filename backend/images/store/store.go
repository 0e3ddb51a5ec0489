// Package store reads, clones and verifies one containers/storage store on disk, as CRI-O and podman write it.
package store

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"touchdown/backend/message"
)

// The folders and files of a store; what else lies there (containers, mounts, databases) is none of an image's.
const (
	Overlay     = "overlay"                                     // the layers' files
	layersDir   = "overlay-layers"                              // what is known of them
	imagesDir   = "overlay-images"                              // what is known of the images, their manifests and configs
	linksDir    = "l"                                           // below overlay: short names for the kernel's mount options
	LayersJSON  = layersDir + "/layers.json"                    // a list of layers
	ImagesJSON  = imagesDir + "/images.json"                    // a list of images
	volatile    = layersDir + "/volatile-layers.json"           // layers of containers that need not outlive a reboot
	layersLock  = layersDir + "/layers.lock"                    // the library's own lock; the first to take
	imagesLock  = imagesDir + "/images.lock"                    // the second to take
	containers  = "overlay-containers/containers.json"          // containers that outlive a reboot
	containersV = "overlay-containers/volatile-containers.json" // and those that need not
	splitSuffix = ".tar-split.gz"
)

// SplitFile is where a layer of the image store carries its own tar-split, so that both are moved by one rename.
const SplitFile = "tar-split.gz"

// Layer is one record of layers.json.
type Layer struct {
	ID         string          `json:"id"`
	Parent     string          `json:"parent"`
	DiffDigest string          `json:"diff-digest"`            // sha256 of the tar; empty for the layer of a container
	DiffSize   int64           `json:"diff-size"`              // bytes of the tar
	Packed     string          `json:"compressed-diff-digest"` // sha256 of what was fetched for it; empty when it was not
	TOCDigest  string          `json:"toc-digest"`             // instead of DiffDigest where the layer was pulled in part
	Flags      map[string]any  `json:"flags"`
	Raw        json.RawMessage `json:"-"` // as it stands in the file, with fields that this program does not know
}

// Image is one record of images.json.
type Image struct {
	ID       string            `json:"id"`
	Digest   string            `json:"digest"`
	Names    []string          `json:"names"`
	TopLayer string            `json:"layer"`
	Mapped   []string          `json:"mapped-layers"`    // copies of the top layer for user namespaces
	BigData  []string          `json:"big-data-names"`   // manifests, config, signatures: files of the image's folder
	Sizes    map[string]int64  `json:"big-data-sizes"`   // of BigData, bytes
	Digests  map[string]string `json:"big-data-digests"` // of BigData
	Raw      json.RawMessage   `json:"-"`
}

// Dropped is an image that is left out, and why.
type Dropped struct {
	Image string
	Names []string
	Why   message.Text
}

// Store is what a store held at one moment.
type Store struct {
	Root    string
	Layers  []Layer // complete layers of images and of containers, in the file's order
	Images  []Image // complete ones with unique names, in the file's order
	Dropped []Dropped

	byID    map[string]int // of Layers
	through string         // the root as it is seen through a view
}

// Open reads a store's lists under the library's read locks, which are released before it returns. What no writer of
// the library leaves behind (a name that is a path, a link out of the store, a list too long) is refused with a Problem
// that names the file.
func Open(ctx context.Context, root string) (*Store, error) {
	s := &Store{Root: root, byID: map[string]int{}}
	if err := s.lockable(); err != nil {
		return nil, err
	}
	unlock, err := lock(ctx, false, filepath.Join(root, layersLock), filepath.Join(root, imagesLock))
	if err != nil {
		return nil, err
	}
	defer unlock()
	return s, s.read()
}

func (s *Store) read() error {
	layers, err := readLayers(s.Root)
	if err != nil {
		return err
	}
	images, err := readImages(s.Root)
	if err != nil {
		return err
	}
	s.take(layers, images)
	return nil
}

// take keeps what is complete. A layer that is flagged incomplete is what a pull or a removal left half done.
func (s *Store) take(layers []Layer, images []Image) {
	broken := map[string]bool{}
	for _, l := range layers {
		if _, twice := s.byID[l.ID]; twice {
			continue // the library skips a second one too
		}
		if flag, _ := l.Flags["incomplete"].(bool); flag {
			broken[l.ID] = true
			continue
		}
		s.byID[l.ID] = len(s.Layers)
		s.Layers = append(s.Layers, l)
	}
	uniqueNames(images)
	for _, i := range images {
		if why := s.lacks(i, broken); why != (message.Text{}) {
			s.Dropped = append(s.Dropped, Dropped{Image: i.ID, Names: i.Names, Why: why})
			continue
		}
		s.Images = append(s.Images, i)
	}
}

// lacks tells why an image can't be had from here: one of its layers is half done, or they run in a circle. A layer that
// is not known here at all may lie in another store.
func (s *Store) lacks(i Image, broken map[string]bool) message.Text {
	seen := map[string]bool{}
	for id := i.TopLayer; id != ""; {
		if broken[id] {
			return message.F("layer %s is incomplete", id)
		}
		if seen[id] {
			return message.F("layer %s is its own ancestor", id)
		}
		seen[id] = true
		l, known := s.Layer(id)
		if !known {
			return message.Text{}
		}
		id = l.Parent
	}
	return message.Text{}
}

// Layer finds a layer by its id.
func (s *Store) Layer(id string) (Layer, bool) {
	n, known := s.byID[id]
	if !known {
		return Layer{}, false
	}
	return s.Layers[n], true
}

// Image finds an image by its id.
func (s *Store) Image(id string) (Image, bool) {
	n := slices.IndexFunc(s.Images, func(i Image) bool { return i.ID == id })
	if n < 0 {
		return Image{}, false
	}
	return s.Images[n], true
}

// Chain gives a layer and its ancestors, the base first. Where the chain leaves this store, missing is the first layer
// that is not known here. A circle ends where it closes.
func (s *Store) Chain(top string) (ids []string, missing string) {
	seen := map[string]bool{}
	for id := top; id != "" && !seen[id]; {
		seen[id] = true
		l, known := s.Layer(id)
		if !known {
			missing = id
			break
		}
		ids = append(ids, id)
		id = l.Parent
	}
	slices.Reverse(ids)
	return ids, missing
}

// Closure gives all layers that the images need, each once and after its parent, and those that are not known here.
func (s *Store) Closure(images []Image) (ids, missing []string) {
	seen := map[string]bool{}
	for _, i := range images {
		chain, lost := s.Chain(i.TopLayer)
		if lost != "" && !seen[lost] {
			missing = append(missing, lost)
			seen[lost] = true
		}
		for _, id := range chain {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids, missing
}
