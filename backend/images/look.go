package images

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"touchdown/backend/host"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
)

// maxAge is how long a layer counts as verified: a disk loses data unnoticed, and a month is how often an array is scrubbed.
const maxAge = 30 * 24 * time.Hour

// Look is one look at the images.
type Look struct {
	Full bool                    // read each byte that was not read for a month, not only the lists
	Idle bool                    // leave disk and processor to everybody else
	Tell func(progress.Progress) // may be nil

	// Repair lets damaged layers be repaired from the node's own store, where that has them whole, and images that the store
	// has under more names be found by them.
	Repair bool
	// Fetch lets what the node's own store cannot fix be fetched from registries. The look after a boot does not: nobody asked
	// for it, and at a site without a registry every start of a damaged node would wait for one.
	Fetch bool
}

// looking is a look that is taken at a node.
type looking struct {
	*Node
	Look
}

// Look looks, keeps what it found, and returns it. Only what stops the look itself is an error.
func (n *Node) Look(ctx context.Context, how Look) (Status, error) { return looking{n, how}.run(ctx) }

func (l looking) run(ctx context.Context) (Status, error) {
	boot, err := l.host.BootID()
	if err != nil {
		return Status{}, fmt.Errorf("reading the boot's id: %w", err)
	}
	s := Status{Looked: l.now().UTC(), Boot: boot, Mounted: mounted(l.host), Named: named(l.host)}
	if seeded(l.host) {
		if err := l.store(ctx, &s); err != nil {
			if ctx.Err() != nil {
				return s, err
			}
			s.explain(err)
		}
	}
	return s, s.save(l.host)
}

// explain keeps why the look could not be finished. Without the reason of the system a person who reads of it could only guess.
func (s *Status) explain(err error) {
	p := problem.From(err)
	if _, known := errors.AsType[*problem.Problem](err); !known && p.Code == "ERR-UNKN" {
		p = &problem.Problem{
			Code: "STR-CHK", Summary: message.T("The image store cannot be looked through to its end."),
			Fix: message.T("Reboot the node, which brings the store in order; if it stays so, make a support bundle and call support."), Err: err,
		}
	}
	s.Trouble, s.Fix, s.Detail = p.Summary, p.Fix, message.Detail(err)
}

func (l looking) store(ctx context.Context, s *Status) error {
	p, err := layerstore.Open(l.host.Path(StoreDir))
	if err != nil {
		return fmt.Errorf("opening the image store: %w", err)
	}
	g, err := p.Current()
	if err != nil {
		return fmt.Errorf("reading the image store: %w", err)
	}
	s.Generation, s.Images, s.Layers = g.N, len(g.Images), len(g.Layers)
	for _, layer := range g.Layers {
		s.Bytes += layer.Size
	}
	if err := l.listed(ctx, g, s); err != nil {
		return err
	}
	if len(s.Unlisted) > 0 && l.Repair {
		if err := l.unshadow(ctx, g, s); err != nil {
			return err
		}
	}
	found, err := l.verify(ctx, p, g, s)
	if err != nil {
		return err
	}
	if len(found) > 0 && l.Repair {
		if found, err = l.repair(ctx, p, found, s); err != nil {
			return err
		}
	}
	for _, d := range found {
		s.Damage = append(s.Damage, d.Text())
	}
	return nil
}

// listed compares what was seeded with what CRI-O sees. A store without its lock files lists nothing and says nothing, so
// counting is the only proof. And each name is resolved: an image that CRI-O's own store has too, under other names, is
// listed with all of them, while those of the seeded store alone are not found.
func (l looking) listed(ctx context.Context, g layerstore.Generation, s *Status) error {
	list, err := l.cri.List(ctx)
	if err != nil {
		return fmt.Errorf("listing CRI-O's images: %w", err)
	}
	ids := map[string]bool{}
	for _, i := range list {
		ids[i.ID] = true
	}
	s.Outside, s.Listed, s.Unlisted = len(ids), 0, nil
	for _, i := range g.Images {
		if !ids[i.ID] {
			s.Unlisted = append(s.Unlisted, called(i))
			continue
		}
		s.Listed++
		s.Outside--
		for _, name := range i.Names {
			found, err := l.cri.Status(ctx, name)
			if err != nil {
				return fmt.Errorf("resolving %s: %w", name, err)
			}
			if found == nil {
				s.Unlisted = append(s.Unlisted, name)
			}
		}
	}
	return nil
}

func called(i layerstore.Image) string {
	if len(i.Names) > 0 {
		return i.Names[0]
	}
	return i.ID
}

// verify reads the store through its read-only mount, as CRI-O does, when that is there. It goes by the generation's own name:
// the library keeps one lock for each path of a process, and that of Store may have been opened for writing before the mount.
func (l looking) verify(ctx context.Context, p *layerstore.Store, g layerstore.Generation, s *Status) ([]store.Damage, error) {
	root := p.Root(g.N)
	if s.Mounted {
		root = filepath.Join(l.host.Path(Mount), "generations", strconv.Itoa(g.N))
	}
	st, err := store.Open(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("opening the image store: %w", err)
	}
	o := store.VerifyOptions{Idle: l.Idle, Progress: func(done store.Copied) {
		if l.Tell != nil {
			l.Tell(mebibytes(message.T("the check of the layers"), done.Bytes, done.BytesTotal, 0))
		}
	}}
	if !l.Full {
		found, err := st.Quick(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("verifying the image store: %w", err)
		}
		s.Verified = lastVerified(l.host, g)
		return found, nil
	}
	if o.Cache, err = store.OpenCache(l.host.Path(state("verified.jsonl"))); err != nil {
		return nil, fmt.Errorf("reading what is verified: %w", err)
	}
	o.Cache.MaxAge = maxAge
	found := st.DigestChain()
	more, err := st.Full(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("verifying the image store: %w", err)
	}
	if found = append(found, more...); len(found) == 0 {
		s.Verified = l.now().UTC()
	}
	return found, nil
}

// lastVerified is what an earlier look says of the same generation.
func lastVerified(m *host.Machine, g layerstore.Generation) time.Time {
	before, err := LoadStatus(m)
	if err != nil || before.Generation != g.N || len(before.Damage) > 0 {
		return time.Time{}
	}
	return before.Verified
}

// mounted tells whether the store is in its place, and read-only.
func mounted(m *host.Machine) bool {
	mounts, err := m.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(mounts)) {
		// proc(5): id, parent, device, root, mount point, options.
		words := strings.Fields(line)
		if len(words) > 5 && words[4] == Mount {
			return slices.Contains(strings.Split(words[5], ","), "ro")
		}
	}
	return false
}

// named tells whether storage.conf names the store.
func named(m *host.Machine) bool {
	data, err := m.ReadFile(rhcos.Storage)
	if err != nil {
		return false
	}
	var doc struct {
		Storage struct {
			Options struct {
				Stores []string `toml:"additionalimagestores"`
			} `toml:"options"`
		} `toml:"storage"`
	}
	return toml.Unmarshal(data, &doc) == nil && slices.Contains(doc.Storage.Options.Stores, Store)
}
