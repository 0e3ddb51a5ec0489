// Package images makes the container images of the bench: an OCI image layout whose layers hold what real ones do and what
// goes wrong with them (whiteouts, attributes, hard links, odd names), the same for every run with the same seed.
package images

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"touchdown/test/bench"
)

// Host is the registry that all names begin with; package site has it in the world behind the gateway.
const Host = "registry.example.net"

// Size is how much is made. The counts are of what lies on a disk when every layer is unpacked once.
type Size struct {
	Name   string
	Bytes  int64 // of files, about
	Inodes int   // about
}

// The sizes that make targets make. The last is that of the measurements in the product's goals.
var (
	Small     = Size{"small", 90 << 20, 5_000}
	Test      = Size{"test", 2 << 30, 30_000}
	Benchmark = Size{"benchmark", 7 << 30, 100_000}
)

// Layer is one layer as it is in a registry and as it is on a disk.
type Layer struct {
	Digest Digest // of the compressed blob
	Size   int64  // of the compressed blob in bytes
	DiffID Digest // of the tar archive
	Tar    int64  // of the tar archive in bytes
}

// Image is one image with all its names.
type Image struct {
	Names     []string // host/repository:tag, or host/repository@digest where it has no tag
	Digest    Digest   // of the manifest, or of the index where there are several platforms
	MediaType string   // of what Digest names
	Manifest  Digest   // of the manifest for this platform
	ID        Digest   // of the configuration
	Layers    []Layer  // lowest first
}

// Repository is the name of the image without host, tag and digest.
func (i Image) Repository() string {
	name := strings.TrimPrefix(i.Names[0], Host+"/")
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// ByDigest is the name that a cluster uses: the repository and the digest.
func (i Image) ByDigest() string { return Host + "/" + i.Repository() + "@" + string(i.Digest) }

// Folder is an OCI image layout that was made here.
type Folder struct {
	Dir    string
	Images []Image

	manifests map[string]Served // by repository:tag and repository@digest
	layers    map[Digest]bool
}

// Served is a manifest or an index as a registry hands it out.
type Served struct {
	MediaType string
	Digest    Digest
}

// list is the file in which a folder tells what is in it, beside the layout's own index.
const list = "images.json"

// ErrNotMade says that a folder is missing from the cache.
var ErrNotMade = errors.New("the images of the bench are not made (make bench-store)")

// Find opens the folder of a size that make has made.
func Find(size Size) (*Folder, error) {
	root, err := bench.Root()
	if err != nil {
		return nil, err
	}
	// The link leads to a folder named by what it was made from.
	dir, err := filepath.EvalSymlinks(filepath.Join(root, ".cache", "bench", "images-"+size.Name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: size %s", ErrNotMade, size.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("finding the images of size %s: %w", size.Name, err)
	}
	return Open(dir)
}

// Open reads what is in a folder.
func Open(dir string) (*Folder, error) {
	data, err := os.ReadFile(filepath.Join(dir, list))
	if err != nil {
		return nil, fmt.Errorf("opening the images: %w", err)
	}
	f := &Folder{Dir: dir}
	if err := json.Unmarshal(data, &f.Images); err != nil {
		return nil, fmt.Errorf("reading the list of images in %s: %w", dir, err)
	}
	f.manifests, f.layers = map[string]Served{}, map[Digest]bool{}
	for _, i := range f.Images {
		for _, l := range i.Layers {
			f.layers[l.Digest] = true
		}
		f.manifests[i.Repository()+"@"+string(i.Digest)] = Served{i.MediaType, i.Digest}
		if i.Manifest != i.Digest {
			f.manifests[i.Repository()+"@"+string(i.Manifest)] = Served{ociManifest, i.Manifest}
		}
		for _, name := range i.Names {
			if !strings.Contains(name, "@") {
				f.manifests[strings.TrimPrefix(name, Host+"/")] = Served{i.MediaType, i.Digest}
			}
		}
	}
	return f, nil
}

// Key names the folder by what it was made from.
func (f *Folder) Key() string { return filepath.Base(f.Dir) }

// Blob is the file of a blob: a layer, a configuration, a manifest.
func (f *Folder) Blob(d Digest) string { return blobFile(f.Dir, d) }

// Manifest finds what a repository has under a tag or a digest.
func (f *Folder) Manifest(repository, reference string) (Served, bool) {
	separator := ":"
	if strings.Contains(reference, ":") {
		separator = "@"
	}
	served, ok := f.manifests[repository+separator+reference]
	return served, ok
}

// IsLayer tells whether a blob is a layer.
func (f *Folder) IsLayer(d Digest) bool { return f.layers[d] }

// Named finds an image by one of its names.
func (f *Folder) Named(name string) (Image, bool) {
	for _, i := range f.Images {
		for _, n := range append(i.Names, i.ByDigest()) {
			if n == name {
				return i, true
			}
		}
	}
	return Image{}, false
}
