package wanted

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"touchdown/backend/images/cri"
	"touchdown/backend/images/ref"
)

// group is an image on the way: what CRI-O has under one ID, or else what has one digest, or else one name.
type group struct {
	image    Image
	there    *cri.Image
	names    map[string]bool
	missing  map[string]bool
	needers  map[Needer]bool
	sources  map[string]bool
	badNames []string
	short    []string
	other    []string // names under which it does not resolve, though it is here
}

// union makes the table of all that was gathered.
func (g *gathering) union(ctx context.Context, s *store, o Options) *Result {
	r := &Result{Format: 1, Unread: g.unread, StoreRead: s.read}
	names := map[string]bool{}
	for _, u := range g.uses {
		names[u.name] = true
	}
	found := s.findAll(ctx, slices.Sorted(maps.Keys(names)))
	groups := map[string]*group{}
	used := map[string]bool{}
	for _, u := range g.uses {
		there := found[u.name]
		key, digest, there := g.key(s, u.name, there)
		used[digest] = true
		at := groups[key]
		if at == nil {
			at = newGroup(there)
			groups[key] = at
		}
		at.use(u, digest, found[u.name] != nil)
	}
	for i := range s.images {
		if key := "id:" + s.images[i].ID; groups[key] == nil {
			groups[key] = newGroup(&s.images[i])
		}
	}
	for _, at := range groups {
		at.finish(g.components)
		r.Images = append(r.Images, at.image)
	}
	for _, name := range g.payload {
		if p, err := ref.Parse(name); err == nil && !used[p.Digest] && s.byDigest[p.Digest] == nil && !o.Payload {
			r.Summary.PayloadOnly++
		}
	}
	r.Unread = g.unread // CRI-O may have failed for single images since
	slices.SortFunc(r.Unread, func(a, b Unread) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Reason.String(), b.Reason.String()))
	})
	if r.Unread == nil {
		r.Unread = []Unread{}
	}
	return r
}

// key tells which group a name belongs to. An image that is here under another name belongs to that one.
func (g *gathering) key(s *store, name string, there *cri.Image) (key, digest string, _ *cri.Image) {
	r, err := ref.Parse(name)
	if err == nil {
		if digest = r.Digest; digest == "" {
			digest = g.seen[name]
		}
	}
	if there == nil && err == nil && r.Digest != "" {
		there = s.byDigest[r.Digest]
	}
	switch {
	case there != nil:
		return "id:" + there.ID, digest, there
	case digest != "":
		return digest, digest, nil
	}
	return "name:" + name, "", nil
}

func newGroup(there *cri.Image) *group {
	at := &group{there: there, names: map[string]bool{}, missing: map[string]bool{}, needers: map[Needer]bool{}, sources: map[string]bool{}}
	at.image.Need = Spare
	if there == nil {
		return at
	}
	at.image.ID, at.image.Size, at.image.Pinned = there.ID, there.Size, there.Pinned
	at.sources["crio"] = true
	for _, name := range slices.Concat(there.Tags, there.Digests) {
		at.names[name] = true
	}
	return at
}

func (at *group) use(u use, digest string, resolved bool) {
	at.names[u.name], at.needers[u.Needer], at.sources[u.Source] = true, true, true
	if stronger(u.Need, at.image.Need) {
		at.image.Need = u.Need
	}
	if digest != "" && (at.image.Digest == "" || digest < at.image.Digest) {
		at.image.Digest = digest
	}
	r, err := ref.Parse(u.name)
	switch {
	case err != nil:
		at.badNames = append(at.badNames, u.name)
	case resolved:
	case at.there != nil:
		at.other = append(at.other, u.name)
	case r.Host == "":
		at.short = append(at.short, u.name)
	}
	if !resolved && u.Need != Spare {
		at.missing[u.name] = true
	}
}

func (at *group) finish(components map[string]string) {
	i := &at.image
	if i.Digest == "" && at.there != nil && len(at.there.Digests) > 0 {
		_, i.Digest, _ = strings.Cut(at.there.Digests[0], "@")
	}
	i.Names, i.Missing, i.Sources = slices.Sorted(maps.Keys(at.names)), slices.Sorted(maps.Keys(at.missing)), slices.Sorted(maps.Keys(at.sources))
	i.BootCritical = i.Need == Boot
	i.Present = at.there != nil && len(i.Missing) == 0
	i.Needers = slices.SortedFunc(maps.Keys(at.needers), func(a, b Needer) int {
		return cmp.Or(cmp.Compare(rank[a.Need], rank[b.Need]), cmp.Compare(a.Who, b.Who), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Always, b.Always))
	})
	if i.Names == nil {
		i.Names = []string{}
	}
	if i.Needers == nil {
		i.Needers = []Needer{}
	}
	for digest := range at.digests() {
		if c := components[digest]; c != "" {
			i.Component = c
		}
	}
	at.find()
}

// digests are all under which the image is known.
func (at *group) digests() map[string]bool {
	all := map[string]bool{at.image.Digest: true}
	for name := range at.names {
		if _, digest, ok := strings.Cut(name, "@"); ok {
			all[digest] = true
		}
	}
	return all
}

// Count works the summary out and sorts. Whoever changes images of a result calls it again.
func (r *Result) Count() {
	s := Summary{Images: len(r.Images), PayloadOnly: r.Summary.PayloadOnly}
	blobs := map[string]bool{}
	for _, i := range r.Images {
		s.Size += i.Size
		if i.Need == Spare {
			continue
		}
		s.Wanted++
		count(&s.BootCritical, i.BootCritical)
		count(&s.PullAlways, i.PullAlways)
		if i.Present || !r.StoreRead {
			continue
		}
		s.Missing++
		count(&s.BootMissing, i.BootCritical)
		count(&s.Unsized, i.Blobs == nil)
		for _, b := range i.Blobs {
			if !blobs[b.Digest] {
				blobs[b.Digest] = true
				s.Download += b.Size
			}
		}
	}
	r.Summary = s
	slices.SortFunc(r.Images, func(a, b Image) int {
		return cmp.Or(cmp.Compare(a.place(), b.place()), cmp.Compare(a.Title(), b.Title()), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.ID, b.ID))
	})
	if r.Images == nil {
		r.Images = []Image{}
	}
}

func count(n *int, is bool) {
	if is {
		*n++
	}
}

// place orders the table: missing ones, then by need.
func (i Image) place() int {
	if i.Need != Spare && !i.Present {
		return rank[i.Need]
	}
	return 3 + rank[i.Need]
}

// Title is a short name for people: the release's, else repository and tag or the beginning of the digest.
func (i Image) Title() string {
	if i.Component != "" {
		return i.Component
	}
	best := ""
	for _, name := range i.Names {
		r, err := ref.Parse(name)
		if err != nil {
			continue
		}
		short := r.Path[strings.LastIndexByte(r.Path, '/')+1:]
		if r.Tag != "" {
			return short + ":" + r.Tag
		}
		if best == "" {
			best = short
			if r.Digest != "" {
				best += "@" + r.Digest[7:15]
			}
		}
	}
	switch {
	case best != "":
		return best
	case len(i.Names) > 0:
		return i.Names[0]
	}
	return i.ID[:min(12, len(i.ID))]
}

// Wants are the pulls that make what is wanted present.
func (r *Result) Wants() []cri.Want {
	var all []cri.Want
	for _, i := range r.Images {
		for _, name := range i.Missing {
			all = append(all, cri.Want{Name: name, Boot: i.BootCritical, Blobs: i.Blobs})
		}
	}
	return all
}
