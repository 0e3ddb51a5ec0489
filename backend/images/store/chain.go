package store

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"touchdown/backend/message"
)

// blobFile is the name of the file that the library keeps an item of an image in.
func blobFile(key string) string {
	if strings.Trim(key, "0123456789abcdefghijklmnopqrstuvwxyz.") == "" {
		return key
	}
	return "=" + base64.StdEncoding.EncodeToString([]byte(key))
}

// manifest is what the chain needs of a manifest or of a list of them.
type manifest struct {
	SchemaVersion int `json:"schemaVersion"`
	Config        struct {
		Digest string `json:"digest"`
	} `json:"config"`
	Manifests []struct {
		Digest string `json:"digest"`
	} `json:"manifests"`
}

// config is what the chain needs of an image's config.
type config struct {
	RootFS struct {
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// imageFiles verifies every image's own files: their sizes, and with digests the whole chain from the reference's digest
// over manifest and config to the digests of the layers.
func (s *Store) imageFiles(digests bool) []Damage {
	var all []Damage
	for _, i := range s.Images {
		c := &chain{store: s, image: i}
		if digests {
			c.verify()
		} else {
			c.sizes()
		}
		all = append(all, c.found...)
	}
	return all
}

// DigestChain verifies that each image is what its references' digests name: the manifests have the digests of their
// names, the config the image's id, the layers the digests that the config lists.
func (s *Store) DigestChain() []Damage { return s.imageFiles(true) }

type chain struct {
	store *Store
	image Image
	found []Damage

	manifests map[string]manifest // by digest
}

func (c *chain) damage(file string, what message.Text) {
	c.found = append(c.found, Damage{
		Images: []string{c.image.Name()}, File: filepath.Join(imagesDir, c.image.ID, file), What: what,
	})
}

// read gives an item of the image, and nothing where it is damaged.
func (c *chain) read(key string) []byte {
	name := blobFile(key)
	data, err := readBounded(filepath.Join(c.store.Root, imagesDir, c.image.ID, name), MaxBlob)
	if err != nil {
		c.damage(name, message.F("%s: %s", key, reason(err)))
		return nil
	}
	if size, known := c.image.Sizes[key]; known && size != int64(len(data)) {
		c.damage(name, message.F("%s has %d bytes instead of %d", key, len(data), size))
		return nil
	}
	return data
}

func (c *chain) sizes() {
	for _, key := range c.image.BigData {
		c.read(key)
	}
}

func (c *chain) verify() {
	c.manifests = map[string]manifest{}
	var conf []byte
	for _, key := range c.image.BigData {
		data := c.read(key)
		if data == nil {
			continue
		}
		sum := sha256.Sum256(data)
		digest := "sha256:" + hex.EncodeToString(sum[:])
		if want := c.want(key); want != "" && want != digest {
			c.damage(blobFile(key), message.F("the content of %s has changed", key))
			continue
		}
		switch {
		case key == "sha256:"+c.image.ID:
			conf = data
		case strings.HasPrefix(key, "manifest"):
			c.manifest(key, digest, data)
		}
	}
	if len(c.found) == 0 {
		c.config(conf)
	}
	if len(c.found) == 0 {
		c.references()
	}
}

// want is the digest that an item must have: the one in its name, or else the one that was noted when it was written.
func (c *chain) want(key string) string {
	if hexDigest(key) != "" {
		return key
	}
	if digest := strings.TrimPrefix(key, "manifest-"); hexDigest(digest) != "" {
		return digest
	}
	return c.image.Digests[key]
}

func (c *chain) manifest(key, digest string, data []byte) {
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		c.damage(blobFile(key), message.F("%s is not a manifest: %s", key, message.Detail(err)))
		return
	}
	c.manifests[digest] = m
	if m.Config.Digest != "" && m.Config.Digest != "sha256:"+c.image.ID {
		c.damage(blobFile(key), message.F("%s names the config %.80s, the image is %s", key, m.Config.Digest, c.image.ID))
	}
}

// config compares the layers that the config lists with those that the image stands on.
func (c *chain) config(data []byte) {
	if data == nil {
		if !slices.ContainsFunc(c.values(), func(m manifest) bool { return m.SchemaVersion == 1 }) {
			c.damage("", message.T("the image has no config"))
		}
		return // an image of the first schema has none
	}
	var conf config
	if err := json.Unmarshal(data, &conf); err != nil {
		c.damage(blobFile("sha256:"+c.image.ID), message.F("the config cannot be read: %s", message.Detail(err)))
		return
	}
	ids, missing := c.store.Chain(c.image.TopLayer)
	if missing != "" {
		return // told of with the layers
	}
	var have []string
	for _, id := range ids {
		l, _ := c.store.Layer(id)
		have = append(have, l.DiffDigest)
	}
	if !slices.Equal(have, conf.RootFS.DiffIDs) && !slices.Contains(have, "") {
		c.damage(blobFile("sha256:"+c.image.ID), message.T("the layers are not those that the config lists"))
	}
}

func (c *chain) values() []manifest {
	var all []manifest
	for _, m := range c.manifests {
		all = append(all, m)
	}
	return all
}

// references compares the digests of the names with the manifests. The digest of a list of manifests counts when the list
// names the image's own one.
func (c *chain) references() {
	if c.image.Digest != "" && !c.holds(c.image.Digest) {
		c.damage("", message.F("there is no manifest %s", c.image.Digest))
	}
	for _, name := range c.image.Names {
		if _, digest, has := strings.Cut(name, "@"); has && !c.holds(digest) {
			c.damage("", message.F("there is no manifest for the name %s", name))
		}
	}
}

func (c *chain) holds(digest string) bool {
	m, known := c.manifests[digest]
	if !known || len(m.Manifests) == 0 {
		return known
	}
	for _, of := range m.Manifests {
		if own, known := c.manifests[of.Digest]; known && len(own.Manifests) == 0 {
			return true
		}
	}
	return false
}
