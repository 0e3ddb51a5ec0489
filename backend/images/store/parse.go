package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	// maxList is how long a list may be, bytes. A layer's record is about 1 kB, an image's 2 to 10 kB; a node holds some
	// 200 images.
	maxList = 64 << 20
	// MaxBlob is how long a manifest, a config or a signature may be, bytes: the registries' own limit is 4 MiB.
	MaxBlob = 16 << 20
	// maxName is how long a name may be, bytes: a reference is at most 255 of path, 128 of tag and 71 of digest.
	maxName = 1024
	idSize  = 64 // hexadecimal digits of a layer's and an image's id
	linkLen = 26 // characters of a layer's short name
)

func refused(file string, what message.Text, err error) error {
	return &problem.Problem{
		Code:    "STR-BAD",
		Summary: message.F("The image store is not as CRI-O writes it: %s: %s.", file, what),
		Fix:     message.T("Remove the image that it belongs to (crictl rmi), or empty the store and pull the images again."), Err: err,
	}
}

func readLayers(root string) ([]Layer, error) {
	var all []Layer
	for _, name := range []string{LayersJSON, volatile} {
		file := filepath.Join(root, name)
		records, err := readList(file)
		if err != nil {
			return nil, err
		}
		for n, raw := range records {
			l := Layer{Raw: raw}
			if err := json.Unmarshal(raw, &l); err != nil {
				return nil, refused(file, message.F("record %d is not a layer", n+1), err)
			}
			if !ValidID(l.ID) || l.Parent != "" && !ValidID(l.Parent) {
				return nil, refused(file, message.F("record %d has the id %.80q and the parent %.80q", n+1, l.ID, l.Parent), nil)
			}
			if l.DiffDigest != "" && hexDigest(l.DiffDigest) == "" || l.DiffSize < -1 {
				return nil, refused(file, message.F("layer %s has the digest %.80q and the size %d", l.ID, l.DiffDigest, l.DiffSize), nil)
			}
			all = append(all, l)
		}
	}
	return all, nil
}

func readImages(root string) ([]Image, error) {
	file := filepath.Join(root, ImagesJSON)
	records, err := readList(file)
	if err != nil {
		return nil, err
	}
	var all []Image
	for n, raw := range records {
		i := Image{Raw: raw}
		if err := json.Unmarshal(raw, &i); err != nil {
			return nil, refused(file, message.F("record %d is not an image", n+1), err)
		}
		if what := badImage(i); what != (message.Text{}) {
			return nil, refused(file, message.F("record %d has %s", n+1, what), nil)
		}
		all = append(all, i)
	}
	return all, nil
}

// badImage tells what of an image could lead out of the store or onto a terminal.
func badImage(i Image) message.Text {
	switch {
	case !ValidID(i.ID):
		return message.F("the id %.80q", i.ID)
	case i.TopLayer != "" && !ValidID(i.TopLayer):
		return message.F("the layer %.80q", i.TopLayer)
	case i.Digest != "" && hexDigest(i.Digest) == "":
		return message.F("the digest %.80q", i.Digest)
	}
	for _, name := range i.Names {
		if !printable(name) || name == "" || len(name) > maxName {
			return message.F("the name %.80q", name)
		}
	}
	for _, key := range i.BigData {
		if key == "" || len(key) > maxName || !safeFile(blobFile(key)) {
			return message.F("the file %.80q", key)
		}
	}
	return message.Text{}
}

// ValidID tells whether an id of a layer or an image is what the library makes: hexadecimal, so that it can't be a path.
func ValidID(id string) bool { return len(id) == idSize && strings.Trim(id, "0123456789abcdef") == "" }

// hexDigest is the hexadecimal part of a sha256 digest, or empty.
func hexDigest(d string) string {
	hex, ours := strings.CutPrefix(d, "sha256:")
	if !ours || !ValidID(hex) {
		return ""
	}
	return hex
}

func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }) < 0
}

// safeFile tells whether a name is one file of its folder.
func safeFile(name string) bool {
	return name != "." && name != ".." && len(name) <= unix.NAME_MAX && !strings.ContainsAny(name, "/\x00")
}

// uniqueNames takes a name from an image when a later one has it too: so does the library when it writes, and a read-only
// store with a name twice is refused as a whole.
func uniqueNames(images []Image) {
	owner := map[string]int{}
	for n, i := range images {
		for _, name := range i.Names {
			owner[name] = n
		}
	}
	for n := range images {
		seen := map[string]bool{}
		kept := make([]string, 0, len(images[n].Names))
		for _, name := range images[n].Names {
			if owner[name] == n && !seen[name] {
				kept = append(kept, name)
			}
			seen[name] = true
		}
		if len(kept) != len(images[n].Names) {
			images[n].Names = kept
		}
	}
}

// readList reads a JSON list, record by record. A list that is not there is empty.
func readList(file string) ([]json.RawMessage, error) {
	data, err := readBounded(file, maxList)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, refused(file, message.T("it cannot be read"), err)
	}
	var records []json.RawMessage
	if err := json.Unmarshal(data, &records); err != nil {
		return nil, refused(file, message.T("it is not a list in JSON"), err)
	}
	return records, nil
}

// readBounded reads a regular file that is no longer than limit and no link.
func readBounded(file string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("opening: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading its size: %w", err)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("it is %v, not a file", st.Mode().Type())
	}
	if st.Size() > limit {
		return nil, fmt.Errorf("it has %d bytes, more than %d", st.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	return data, nil
}
