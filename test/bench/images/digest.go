package images

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"path/filepath"
	"strings"
)

// Digest names content by its SHA-256, in the registries' notation sha256:<64 hexadecimal digits>.
type Digest string

const algorithm = "sha256"

// Encoded is the digest without the name of the algorithm.
func (d Digest) Encoded() string { return strings.TrimPrefix(string(d), algorithm+":") }

func summed(h hash.Hash) Digest { return Digest(algorithm + ":" + hex.EncodeToString(h.Sum(nil))) }

func digestOf(data []byte) Digest {
	h := sha256.New()
	h.Write(data)
	return summed(h)
}

func blobFile(dir string, d Digest) string {
	return filepath.Join(dir, "blobs", algorithm, d.Encoded())
}
