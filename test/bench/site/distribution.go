package site

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"touchdown/test/bench/images"
)

// Served counts what the registry handed out since it was made.
type Served struct {
	Requests  int   // for manifests and blobs, answered or not
	Manifests int   // that were handed out; a HEAD request is none
	Blobs     int   // that were begun; the rest of one after a break counts as one more
	Bytes     int64 // of their contents
}

// Serve hands out the images of a folder from now on; nil: none. Connections stay open between requests, as clients expect
// of a registry.
func (r *Registry) Serve(f *images.Folder) {
	r.set(func() { r.images = f })
	r.server.SetKeepAlivesEnabled(f != nil)
}

// Served tells what was handed out so far.
func (r *Registry) Served() Served {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.served
}

func (r *Registry) count(f func(*Served)) { r.set(func() { f(&r.served) }) }

// parts reads /v2/REPOSITORY/manifests/REFERENCE or /v2/REPOSITORY/blobs/DIGEST.
func parts() *regexp.Regexp {
	return regexp.MustCompile(`^/v2/([a-z0-9._/-]+)/(manifests|blobs)/([A-Za-z0-9_][A-Za-z0-9._-]*|sha256:[0-9a-f]{64})$`)
}

func (r *Registry) serveImages(w http.ResponseWriter, request *http.Request) {
	r.count(func(s *Served) { s.Requests++ })
	r.mu.Lock()
	folder := r.images
	r.mu.Unlock()
	asked := parts().FindStringSubmatch(request.URL.Path)
	switch {
	case folder == nil || asked == nil:
		refuse(w, http.StatusNotFound, "NAME_UNKNOWN", "repository name not known to registry")
	case request.Method != http.MethodGet && request.Method != http.MethodHead:
		refuse(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "this registry is read-only")
	case asked[2] == "manifests":
		r.serveManifest(w, request, folder, asked[1], asked[3])
	default:
		r.serveBlob(w, request, folder, images.Digest(asked[3]))
	}
}

func (r *Registry) serveManifest(w http.ResponseWriter, request *http.Request, folder *images.Folder, repository, reference string) {
	fault := r.trouble([]string{repository + separator(reference) + reference, AnyManifest}, Unavailable, Unknown, Changed)
	found, ok := folder.Manifest(repository, reference)
	data, err := os.ReadFile(folder.Blob(found.Digest))
	switch {
	case fault.is(Unavailable):
		unavailable(w)
		return
	case !ok || err != nil || fault.is(Unknown):
		refuse(w, http.StatusNotFound, "MANIFEST_UNKNOWN", "manifest unknown")
		return
	case fault.is(Changed):
		data = append(data, '\n')
	}
	w.Header().Set("Content-Type", found.MediaType)
	w.Header().Set("Docker-Content-Digest", string(found.Digest))
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	if request.Method == http.MethodHead {
		return
	}
	r.count(func(s *Served) { s.Manifests++; s.Bytes += int64(len(data)) })
	_, _ = w.Write(data)
}

func (r *Registry) serveBlob(w http.ResponseWriter, request *http.Request, folder *images.Folder, digest images.Digest) {
	names := []string{string(digest), AnyBlob}
	if folder.IsLayer(digest) {
		names = append(names, AnyLayer)
	}
	if fault := r.trouble(names, Unavailable, Unknown); fault.is(Unavailable) {
		unavailable(w)
		return
	} else if fault.is(Unknown) {
		digest = ""
	}
	file, err := os.Open(folder.Blob(digest))
	if err != nil || digest == "" {
		refuse(w, http.StatusNotFound, "BLOB_UNKNOWN", "blob unknown to registry")
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Docker-Content-Digest", string(digest))
	content := &counted{ReadSeeker: file, registry: r}
	if request.Method == http.MethodGet {
		r.count(func(s *Served) { s.Blobs++ })
		content.fault = r.trouble(names, Changed, Stops)
		content.stopAt = info.Size()/2 + 1
	}
	http.ServeContent(w, request, "", time.Time{}, content)
}

func separator(reference string) string {
	if strings.Contains(reference, ":") {
		return "@"
	}
	return ":"
}

func unavailable(w http.ResponseWriter) {
	refuse(w, http.StatusServiceUnavailable, "UNAVAILABLE", "service unavailable")
}

// counted is the file of a blob that counts what is read, and may go wrong on the way.
type counted struct {
	io.ReadSeeker
	registry *Registry
	fault    *Fault
	at       int64
	stopAt   int64 // where a stop or a changed byte is
}

func (c *counted) Seek(offset int64, whence int) (int64, error) {
	at, err := c.ReadSeeker.Seek(offset, whence)
	c.at = at
	return at, err
}

func (c *counted) Read(p []byte) (int, error) {
	if c.fault.is(Stops) {
		if c.at >= c.stopAt {
			panic(http.ErrAbortHandler) // the connection ends in the middle
		}
		p = p[:min(int64(len(p)), c.stopAt-c.at)]
	}
	n, err := c.ReadSeeker.Read(p)
	if at := c.stopAt - c.at; c.fault.is(Changed) && at >= 0 && at < int64(n) {
		p[at] ^= 1
	}
	c.at += int64(n)
	c.registry.count(func(s *Served) { s.Bytes += int64(n) })
	return n, err
}
