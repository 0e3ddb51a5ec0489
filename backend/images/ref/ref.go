// Package ref reads references of images: registry/path:tag@digest.
package ref

import (
	"fmt"
	"regexp"
	"strings"
)

// longest is how many bytes a reference may have: 255 for the name, 128 for the tag and a sha512 digest are the limits of
// the distribution specification.
const longest = 255 + 1 + 128 + 1 + 7 + 128

var (
	hostForm   = regexp.MustCompile(`^(?:\[[0-9a-fA-F:]+\]|[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?)(?::[0-9]{1,5})?$`)
	pathForm   = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagForm    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	digestForm = regexp.MustCompile(`^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`)
)

// Ref is a reference in its parts.
type Ref struct {
	Host   string // registry with its port; "" for a short name, which only the node's configuration can complete
	Path   string // repository in the registry
	Tag    string
	Digest string // "sha256:..."
}

// Blob is one file of an image in a registry.
type Blob struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"` // bytes as they are fetched: compressed
}

// Parse takes a reference apart.
func Parse(text string) (Ref, error) {
	var r Ref
	if text == "" || len(text) > longest {
		return r, fmt.Errorf("%d bytes are not a reference of an image", len(text))
	}
	name, digest, digested := strings.Cut(text, "@")
	if digested {
		if !IsDigest(digest) {
			return r, fmt.Errorf("%q has a digest that is none", text)
		}
		r.Digest = digest
	}
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name, r.Tag = name[:colon], name[colon+1:]
		if !tagForm.MatchString(r.Tag) {
			return Ref{}, fmt.Errorf("%q has a tag that is none", text)
		}
	}
	r.Path = name
	if first, rest, found := strings.Cut(name, "/"); found && (strings.ContainsAny(first, ".:") || first == "localhost") {
		if r.Host, r.Path = first, rest; !hostForm.MatchString(first) {
			return Ref{}, fmt.Errorf("%q has a registry that is none", text)
		}
	}
	// A bare digest or the ID of an image looks like a short name with a tag.
	if !pathForm.MatchString(r.Path) || r.Host == "" && (r.Path == "sha256" || r.Path == "sha512") {
		return Ref{}, fmt.Errorf("%q is not a reference of an image", text)
	}
	return r, nil
}

// IsDigest tells whether text is a digest that can be checked.
func IsDigest(text string) bool { return digestForm.MatchString(text) }

// Name is registry and repository.
func (r Ref) Name() string {
	if r.Host == "" {
		return r.Path
	}
	return r.Host + "/" + r.Path
}

// String is the reference whole.
func (r Ref) String() string {
	s := r.Name()
	if r.Tag != "" {
		s += ":" + r.Tag
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}

// Floats tells whether what the reference names can change: no digest, and the tag is latest or none.
func (r Ref) Floats() bool { return r.Digest == "" && (r.Tag == "" || r.Tag == "latest") }
