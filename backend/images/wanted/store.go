package wanted

import (
	"context"
	"errors"
	"strings"
	"sync"

	"touchdown/backend/images/cri"
	"touchdown/backend/images/ref"
)

// asking is how many questions CRI-O gets at once: each takes some milliseconds of its one store.
const asking = 4

// store is what CRI-O has.
type store struct {
	rt       Runtime
	read     bool // its list could be read
	images   []cri.Image
	byName   map[string]*cri.Image // name with digest or tag
	byID     map[string]*cri.Image
	byDigest map[string]*cri.Image

	mu    sync.Mutex
	known map[string]*cri.Image // answers of Status
	fail  func(error)           // CRI-O does not answer
	note  func(error)           // it answers that it cannot tell
}

func readStore(ctx context.Context, rt Runtime, g *gathering) *store {
	s := &store{
		rt: rt, byName: map[string]*cri.Image{}, byID: map[string]*cri.Image{}, byDigest: map[string]*cri.Image{},
		known: map[string]*cri.Image{}, fail: func(err error) { g.fail("crio", err) }, note: func(err error) { g.note("crio", reason(err)) },
	}
	if rt == nil {
		s.fail(errors.New("not asked"))
		return s
	}
	var err error
	if s.images, err = rt.List(ctx); err != nil {
		s.fail(err)
		return s
	}
	s.read = true
	for i := range s.images {
		image := &s.images[i]
		s.byID[image.ID] = image
		for _, name := range image.Tags {
			s.byName[name] = image
		}
		for _, name := range image.Digests {
			s.byName[name] = image
			if _, digest, ok := strings.Cut(name, "@"); ok {
				s.byDigest[digest] = image
			}
		}
	}
	return s
}

// find returns the image that CRI-O would start for a name; nil when there is none. The list answers for names that it has
// whole; for others CRI-O itself is asked, because only it knows how it completes short names.
func (s *store) find(ctx context.Context, name string) *cri.Image {
	if !s.read {
		return nil
	}
	r, err := ref.Parse(name)
	if err != nil {
		return nil
	}
	full := r
	switch {
	case r.Digest != "":
		full.Tag = "" // CRI-O goes by the digest
	case r.Tag == "":
		full.Tag = "latest"
	}
	if image := s.byName[full.String()]; image != nil && r.Host != "" {
		return image
	}
	s.mu.Lock()
	image, known := s.known[name]
	s.mu.Unlock()
	if known {
		return image
	}
	image, err = s.rt.Status(ctx, name)
	switch {
	case cri.Refused(err): // a name that it cannot complete, which it cannot the next time either
		s.note(err)
		image = nil
	case err != nil:
		s.fail(err)
		image = nil
	}
	if image != nil && s.byID[image.ID] != nil {
		image = s.byID[image.ID]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[name] = image
	return image
}

// findAll finds many, some at once.
func (s *store) findAll(ctx context.Context, names []string) map[string]*cri.Image {
	found := map[string]*cri.Image{}
	var mu sync.Mutex
	var all sync.WaitGroup
	queue := make(chan string)
	for range asking {
		all.Go(func() {
			for name := range queue {
				if image := s.find(ctx, name); image != nil {
					mu.Lock()
					found[name] = image
					mu.Unlock()
				}
			}
		})
	}
	for _, name := range names {
		queue <- name
	}
	close(queue)
	all.Wait()
	return found
}
