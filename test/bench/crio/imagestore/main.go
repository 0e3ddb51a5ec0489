// Command imagestore puts images into a container store as CRI-O does when it pulls them: a program as an image of one
// layer under the given names, or all images of an OCI image layout under the names in its index.
//
//	imagestore GRAPHROOT PROGRAM NAME...
//	imagestore GRAPHROOT LAYOUT
package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/containers/storage/pkg/reexec"
	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

func main() {
	if reexec.Init() {
		return
	}
	var err error
	switch info, missing := os.Stat(os.Args[min(2, len(os.Args)-1)]); {
	case len(os.Args) == 3 && missing == nil && info.IsDir():
		err = putAll(context.Background(), os.Args[1], os.Args[2])
	case len(os.Args) > 3:
		err = putProgram(context.Background(), os.Args[1], os.Args[2], os.Args[3:])
	default:
		fmt.Fprintln(os.Stderr, "imagestore: GRAPHROOT PROGRAM NAME..., or GRAPHROOT LAYOUT")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "imagestore:", err)
		os.Exit(1)
	}
}

func putProgram(ctx context.Context, root, program string, names []string) (err error) {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return fmt.Errorf("making a folder for the image: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	sum, err := writeLayout(dir, program)
	if err != nil {
		return err
	}
	p, err := open(root)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := p.put(ctx, dir, "", name); err != nil {
			return err
		}
	}
	fmt.Println(sum) // by which the image can be named too
	return p.close()
}

// writeLayout writes an OCI image layout with one image: the program as /pod, which waits unless told otherwise.
func writeLayout(dir, program string) (digest.Digest, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return "", fmt.Errorf("reading the program: %w", err)
	}
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	if err := archive.WriteHeader(&tar.Header{Name: "pod", Mode: 0o755, Size: int64(len(data))}); err != nil {
		return "", fmt.Errorf("writing the layer: %w", err)
	}
	if _, err := archive.Write(data); err != nil {
		return "", fmt.Errorf("writing the layer: %w", err)
	}
	if err := archive.Close(); err != nil {
		return "", fmt.Errorf("writing the layer: %w", err)
	}
	blobs := filepath.Join(dir, "blobs", "sha256")
	if err := os.MkdirAll(blobs, 0o700); err != nil {
		return "", fmt.Errorf("making the image's folder: %w", err)
	}
	put := func(kind string, content []byte) (v1.Descriptor, error) {
		sum := digest.NewDigestFromBytes(digest.SHA256, sum256(content))
		err := os.WriteFile(filepath.Join(blobs, sum.Encoded()), content, 0o600)
		return v1.Descriptor{MediaType: kind, Digest: sum, Size: int64(len(content))}, err
	}
	content, err := put(v1.MediaTypeImageLayer, layer.Bytes())
	if err != nil {
		return "", fmt.Errorf("writing the layer: %w", err)
	}
	config := v1.Image{
		Platform: v1.Platform{Architecture: "amd64", OS: "linux"},
		Config:   v1.ImageConfig{Entrypoint: []string{"/pod"}, Cmd: []string{"pause"}},
		RootFS:   v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{content.Digest}},
	}
	about, err := putJSON(put, v1.MediaTypeImageConfig, config)
	if err != nil {
		return "", err
	}
	manifest, err := putJSON(put, v1.MediaTypeImageManifest, v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, Config: about, Layers: []v1.Descriptor{content},
	})
	if err != nil {
		return "", err
	}
	index, err := json.Marshal(v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, Manifests: []v1.Descriptor{manifest}})
	if err != nil {
		return "", fmt.Errorf("encoding the index: %w", err)
	}
	for name, text := range map[string][]byte{"index.json": index, "oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return "", fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return manifest.Digest, nil
}

func putJSON(put func(string, []byte) (v1.Descriptor, error), kind string, what any) (v1.Descriptor, error) {
	data, err := json.Marshal(what)
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("encoding %s: %w", kind, err)
	}
	d, err := put(kind, data)
	if err != nil {
		return d, fmt.Errorf("writing %s: %w", kind, err)
	}
	return d, nil
}

func sum256(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}
