package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"touchdown/backend/images/ref"
)

const (
	blobsPath     = "blobs/"
	manifestsPath = "manifests/"
	// A blob may take blobTime and a second for each slowest bytes, as a pull by CRI-O may.
	blobTime = 10 * time.Minute
	slowest  = 64 << 10
)

// Blob writes one file of an image's repository, a layer or a configuration, into an empty file. It is at most limit bytes
// long, and is what its digest says. Each place is asked in turn.
func (r *Reader) Blob(ctx context.Context, name, digest string, limit int64, to *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, blobTime+time.Duration(limit/slowest)*time.Second)
	defer cancel()
	return r.file(ctx, name, blobsPath+digest, digest, limit, to)
}

// Manifest writes a manifest into an empty file, as Blob does.
func (r *Reader) Manifest(ctx context.Context, name, digest string, to *os.File) error {
	return r.file(ctx, name, manifestsPath+digest, digest, manifestLimit, to)
}

func (r *Reader) file(ctx context.Context, name, what, digest string, limit int64, to *os.File) error {
	parsed, err := ref.Parse(name)
	if err != nil {
		return fmt.Errorf("fetching a part of an image: %w", err)
	}
	if parsed.Host == "" {
		return fmt.Errorf("fetching a part of %s: the name has no registry", name)
	}
	parsed.Tag, parsed.Digest = "", digest // mirrors may serve digests only
	var said []string
	for _, s := range r.mirrors.sources(parsed) {
		err := r.write(ctx, s, what, digest, limit, to)
		if err == nil {
			return nil
		}
		said = append(said, s.ref.Host+": "+err.Error())
	}
	if len(said) == 0 {
		said = []string{"the settings of registries block it"}
	}
	return fmt.Errorf("fetching %s of %s: %s", digest, name, strings.Join(said, "; "))
}

func (r *Reader) write(ctx context.Context, s source, what, digest string, limit int64, to *os.File) error {
	if err := to.Truncate(0); err != nil {
		return fmt.Errorf("emptying a file: %w", err)
	}
	if _, err := to.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("emptying a file: %w", err)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	answer, err := r.open(ctx, s, what)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	sum := sha256.New()
	came := &counter{}
	defer r.watch(came, end)()
	n, err := io.Copy(io.MultiWriter(to, sum, came), io.LimitReader(answer.Body, limit+1))
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	switch is := hex.EncodeToString(sum.Sum(nil)); {
	case err != nil:
		return r.clean(err)
	case n > limit:
		return fmt.Errorf("what it sends is larger than %d bytes", limit)
	case is != strings.TrimPrefix(digest, "sha256:"):
		return errors.New("what it sends is not what the digest says")
	}
	return nil
}

// counter counts what is written.
type counter struct{ atomic.Int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.Add(int64(len(b)))
	return len(b), nil
}

var errSlow = errors.New("what it sends comes too slowly")

// watch gives up an answer that comes so slowly that it would never be here, until stop is called.
func (r *Reader) watch(came *counter, give context.CancelCauseFunc) (stop func()) {
	done, limits := make(chan struct{}), r.timeouts
	go func() {
		tick := time.NewTicker(limits.quiet)
		defer tick.Stop()
		for last := int64(0); ; {
			select {
			case <-done:
				return
			case <-tick.C:
				now := came.Load()
				if float64(now-last) < float64(limits.slowest)*limits.quiet.Seconds() {
					give(errSlow)
					return
				}
				last = now
			}
		}
	}()
	return func() { close(done) }
}
