// Package remote asks registries what an image is made of: for byte totals before a pull, which CRI-O alone does, and for the
// parts of an image that is in the store and damaged.
package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/images/auth"
	"touchdown/backend/images/ref"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	// answerTime is how long a registry may take for one answer: it is a few kilobytes from a cache.
	answerTime = 10 * time.Second
	// quietTime is how long a layer may come slower than quietRate, bytes a second. The longest silence of a line that lives is a
	// minute of retransmissions.
	quietTime = 2 * time.Minute
	quietRate = 4 << 10
	// headerLimit is how long the head of an answer may be, and shownLimit how much of an error text that a registry had a part
	// in is kept, bytes.
	headerLimit = 64 << 10
	shownLimit  = 500
	// manifestLimit is what the distribution specification tells registries to take at least; CRI-O takes no more either.
	manifestLimit = 4 << 20
	workers       = 8
	// blobs is how many layers a manifest may list: overlayfs takes 500.
	blobs = 1000
)

// Image is what a registry says of an image.
type Image struct {
	Digest string     // of what the reference names: an index where there is one
	Blobs  []ref.Blob // configuration and layers for this machine's processor
}

// Size is how many bytes would be fetched.
func (i Image) Size() int64 {
	var sum int64
	for _, b := range i.Blobs {
		sum += b.Size
	}
	return sum
}

// Reader asks registries as CRI-O would: mirrors first, with the node's credentials and authorities. It may be used side by side.
type Reader struct {
	machine *host.Machine
	logins  auth.Logins
	mirrors mirrors
	proxy   func(*url.URL) (*url.URL, error)

	timeouts timeouts

	mu      sync.Mutex
	clients map[string]*http.Client
	tokens  map[string]string // header by registry and repository
	dead    map[string]error  // registries that nobody reached: they are not asked again
	plain   map[string]bool   // insecure registries that speak no TLS
}

// timeouts bound the waits for a registry.
type timeouts struct {
	answer  time.Duration // for the whole of a short answer, and for the head of a long one
	quiet   time.Duration // in which a long one has to bring slowest bytes a second
	slowest int64
}

// New reads the node's settings. Settings that cannot be read are an error, and the reader goes without them.
func New(m *host.Machine, logins auth.Logins) (*Reader, error) {
	r := &Reader{
		machine: m, logins: logins, proxy: readProxy(m), clients: map[string]*http.Client{},
		tokens: map[string]string{}, dead: map[string]error{}, plain: map[string]bool{},
		timeouts: timeouts{answerTime, quietTime, quietRate},
	}
	var err error
	r.mirrors, err = readMirrors(m)
	return r, err
}

// Image asks for one image, each place in turn.
func (r *Reader) Image(ctx context.Context, name string) (*Image, error) {
	parsed, err := ref.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("asking for the size of an image: %w", err)
	}
	if parsed.Host == "" {
		return nil, fmt.Errorf("asking for the size of %s: the name has no registry", name)
	}
	var errs []error
	for _, s := range r.mirrors.sources(parsed) {
		image, err := r.from(ctx, s)
		if err == nil {
			return image, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", s.ref.Host, err))
	}
	if len(errs) == 0 {
		errs = append(errs, errors.New("the settings of registries block it"))
	}
	return nil, fmt.Errorf("asking for the size of %s: %w", name, errors.Join(errs...))
}

// Images asks for many at once, and tells each answer, one at a time. It ends early only with ctx.
func (r *Reader) Images(ctx context.Context, names []string, each func(name string, image *Image, err error)) {
	var all sync.WaitGroup
	var progressLock sync.Mutex
	queue := make(chan string)
	for range min(workers, len(names)) {
		all.Go(func() {
			for name := range queue {
				image, err := r.Image(ctx, name)
				progressLock.Lock()
				each(name, image, err)
				progressLock.Unlock()
			}
		})
	}
	for _, name := range names {
		queue <- name // with ctx ended each answer is an error at once
	}
	close(queue)
	all.Wait()
}

// manifest is what manifests and indexes of OCI and Docker have in common.
type manifest struct {
	SchemaVersion int        `json:"schemaVersion"`
	Config        ref.Blob   `json:"config"`
	Layers        []ref.Blob `json:"layers"`
	Manifests     []struct {
		ref.Blob
		Platform struct{ Architecture, OS string } `json:"platform"`
	} `json:"manifests"`
}

func (r *Reader) from(ctx context.Context, s source) (*Image, error) {
	body, digest, err := r.manifest(ctx, s, s.ref.Digest)
	if err != nil {
		return nil, err
	}
	m, err := decode(body)
	if err != nil {
		return nil, err
	}
	if len(m.Manifests) > 0 {
		chosen := ""
		for _, one := range m.Manifests {
			if one.Platform.OS == "linux" && one.Platform.Architecture == runtime.GOARCH && chosen == "" {
				chosen = one.Digest
			}
		}
		if !ref.IsDigest(chosen) {
			return nil, fmt.Errorf("its index has nothing for linux/%s", runtime.GOARCH)
		}
		if body, _, err = r.manifest(ctx, s, chosen); err != nil {
			return nil, err
		}
		if m, err = decode(body); err != nil {
			return nil, err
		}
	}
	all, err := m.blobs()
	return &Image{Digest: digest, Blobs: all}, err
}

func decode(body []byte) (manifest, error) {
	var m manifest
	if err := json.Unmarshal(body, &m); err != nil || m.SchemaVersion != 2 {
		return m, errors.New("what it sent is not a manifest of schema 2")
	}
	return m, nil
}

// blobs refuses what would make a total meaningless.
func (m manifest) blobs() ([]ref.Blob, error) {
	all := append([]ref.Blob{m.Config}, m.Layers...)
	if len(all) > blobs {
		return nil, fmt.Errorf("its manifest lists %d layers", len(m.Layers))
	}
	for _, b := range all {
		if !ref.IsDigest(b.Digest) || b.Size < 0 || b.Size > 1<<40 {
			return nil, fmt.Errorf("its manifest lists a blob %.80q of %d bytes", b.Digest, b.Size)
		}
	}
	return all, nil
}

// manifest fetches a manifest, by digest where one is given, else by tag, and checks that it is what was asked for.
func (r *Reader) manifest(ctx context.Context, s source, digest string) (body []byte, is string, err error) {
	by := digest
	if by == "" {
		if by = s.ref.Tag; by == "" {
			by = "latest"
		}
	}
	body, claimed, err := r.get(ctx, s, manifestsPath+by)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(body)
	is = "sha256:" + hex.EncodeToString(sum[:])
	if want := digest; want == "" && ref.IsDigest(claimed) && claimed[:7] == "sha256:" && claimed != is || want != "" && want[:7] == "sha256:" && want != is {
		if want == "" {
			want = claimed
		}
		return nil, "", &problem.Problem{
			Code:    "PUL-DGST",
			Summary: message.F("The registry %s sends something else than what the digest of %s says.", s.ref.Host, s.ref),
			Fix:     message.T("Mirror the image again; the registry's copy is damaged, or it is the wrong one."),
			Err:     fmt.Errorf("want %s, got %s", want, is),
		}
	}
	if digest != "" {
		is = digest
	}
	return body, is, nil
}
