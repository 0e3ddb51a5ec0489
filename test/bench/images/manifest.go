package images

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The media types of both worlds: a cluster's own images are of Docker's.
const (
	ociManifest    = "application/vnd.oci.image.manifest.v1+json"
	ociIndex       = "application/vnd.oci.image.index.v1+json"
	ociConfig      = "application/vnd.oci.image.config.v1+json"
	ociLayer       = "application/vnd.oci.image.layer.v1.tar+gzip"
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	dockerConfig   = "application/vnd.docker.container.image.v1+json"
	dockerLayer    = "application/vnd.docker.image.rootfs.diff.tar.gzip"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      Digest            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType,omitempty"`
	Manifests     []descriptor `json:"manifests"`
}

// config is the configuration of an image as both worlds have it.
type config struct {
	platform
	Created time.Time `json:"created"`
	Config  settings  `json:"config"`
	RootFS  rootFS    `json:"rootfs"`
	History []history `json:"history"`
}

type settings struct {
	Env        []string
	Entrypoint []string
	Cmd        []string
	Labels     map[string]string   `json:",omitempty"`
	Volumes    map[string]struct{} `json:",omitempty"`
	StopSignal string              `json:",omitempty"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []Digest `json:"diff_ids"`
}

type history struct {
	Created time.Time `json:"created"`
	By      string    `json:"created_by"`
}

// writeIndex writes everything but the layers.
func writeIndex(dir string, images []*image) error {
	var made []Image
	top := index{SchemaVersion: 2}
	for _, i := range images {
		one, about, err := i.write(dir)
		if err != nil {
			return fmt.Errorf("image %d: %w", i.number, err)
		}
		for _, name := range one.Names {
			about.Annotations = map[string]string{"org.opencontainers.image.ref.name": name}
			top.Manifests = append(top.Manifests, about)
		}
		made = append(made, one)
	}
	for name, document := range map[string]any{
		"oci-layout": map[string]string{"imageLayoutVersion": "1.0.0"}, "index.json": top, list: made,
	} {
		data, err := json.Marshal(document)
		if err != nil {
			return fmt.Errorf("encoding %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

// write writes the documents of one image and tells what they are.
func (i *image) write(dir string) (Image, descriptor, error) {
	made := Image{}
	for _, l := range i.layers {
		made.Layers = append(made.Layers, l.made)
	}
	about, id, err := i.writeManifest(dir, made.Layers, "amd64")
	if err != nil {
		return made, about, err
	}
	made.Manifest, made.ID = about.Digest, id
	if i.multi {
		if about, err = i.writeMulti(dir, about); err != nil {
			return made, about, err
		}
	}
	made.Digest, made.MediaType = about.Digest, about.MediaType
	for _, name := range i.names {
		if !strings.Contains(name, ":") {
			name += "@" + string(about.Digest)
		}
		made.Names = append(made.Names, Host+"/"+name)
	}
	return made, about, nil
}

func (i *image) writeManifest(dir string, layers []Layer, architecture string) (about descriptor, id Digest, err error) {
	kinds := [3]string{ociManifest, ociConfig, ociLayer}
	if i.docker {
		kinds = [3]string{dockerManifest, dockerConfig, dockerLayer}
	}
	c := config{platform: platform{architecture, "linux"}, Created: epoch, RootFS: rootFS{Type: "layers"}, Config: settings{
		Env: []string{"PATH=/usr/bin:/bin", fmt.Sprintf("IMAGE=%d", i.number)}, Entrypoint: []string{"/pod"}, Cmd: []string{"pause"},
		Labels: map[string]string{"bench.image": fmt.Sprint(i.number)},
	}}
	if i.number%20 == 7 {
		c.Config.Volumes = map[string]struct{}{"/data": {}}
	}
	m := manifest{SchemaVersion: 2, MediaType: kinds[0]}
	for n, l := range layers {
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, l.DiffID)
		c.History = append(c.History, history{epoch, fmt.Sprintf("layer %d", n)})
		m.Layers = append(m.Layers, descriptor{MediaType: kinds[2], Digest: l.Digest, Size: l.Size})
	}
	if m.Config, err = putJSON(dir, c); err != nil {
		return about, "", err
	}
	m.Config.MediaType = kinds[1]
	about, err = putJSON(dir, m)
	about.MediaType = kinds[0]
	return about, m.Config.Digest, err
}

// writeMulti writes an index with this image and the same for a processor that nobody has here.
func (i *image) writeMulti(dir string, own descriptor) (descriptor, error) {
	var layers []Layer
	for _, l := range i.layers {
		layers = append(layers, l.made)
	}
	other, _, err := i.writeManifest(dir, layers[:1], "arm64")
	if err != nil {
		return other, err
	}
	own.Platform, other.Platform = &platform{"amd64", "linux"}, &platform{"arm64", "linux"}
	about, err := putJSON(dir, index{SchemaVersion: 2, MediaType: ociIndex, Manifests: []descriptor{other, own}})
	about.MediaType = ociIndex
	return about, err
}
