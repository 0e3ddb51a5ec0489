package images

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Leftover is an image of the store that nobody needs any more.
type Leftover struct {
	ID    string   `json:"id"`
	Names []string `json:"names"`
	Named []string `json:"named,omitempty"` // who names it and will not run it again, such as pods that have ended
	Size  int64    `json:"size"`            // bytes of its layers, unpacked, as if it shared none
}

// Leftovers is what pruning takes away.
type Leftovers struct {
	Generation int        `json:"generation"` // of the store, that was looked at
	Images     []Leftover `json:"images"`     // the largest first
	Kept       int        `json:"kept"`       // images that stay
	Layers     int        `json:"layers"`     // that no image which stays has
	Bytes      int64      `json:"bytes"`      // of those layers, unpacked

	wanted *Wanted // by which nobody needs them
}

// Title is a short name for people, as the list of wanted images has it.
func (l Leftover) Title() string { return Image{ID: l.ID, Names: l.Names}.Title() }

// IDs are those of the images.
func (l Leftovers) IDs() []string {
	var all []string
	for _, i := range l.Images {
		all = append(all, i.ID)
	}
	return all
}

// pruning takes images that nobody needs any more out of the store.
type pruning struct {
	*Node
	wanted *Wanted // with the release's payload
}

// Leftovers works out what nobody needs. Where it is not known in full who needs what, that is an error: an image that is gone
// cannot be had again where there is no registry. The whole release counts as needed: its operators may start any image of it.
func (n *Node) Leftovers(ctx context.Context) (Leftovers, error) {
	list, err := n.Wanted(ctx, Listing{Payload: true, Offline: true})
	if err != nil {
		return Leftovers{}, err
	}
	return pruning{n, list}.look(ctx)
}

func (p pruning) look(ctx context.Context) (Leftovers, error) {
	if err := whole(p.wanted); err != nil {
		return Leftovers{}, err
	}
	from, err := layerstore.Open(p.host.Path(StoreDir))
	if err != nil {
		return Leftovers{}, fmt.Errorf("opening the image store: %w", err)
	}
	g, err := from.Current()
	if err != nil {
		return Leftovers{}, fmt.Errorf("reading the image store: %w", err)
	}
	s, err := from.Store(ctx, g.N)
	if err != nil {
		return Leftovers{}, fmt.Errorf("reading the image store: %w", err)
	}
	need, err := p.demand(ctx)
	if err != nil {
		return Leftovers{}, err
	}
	l := Leftovers{Generation: g.N, Images: []Leftover{}, wanted: p.wanted}
	var kept []store.Image
	for _, i := range s.Images {
		if need.has(i) {
			kept = append(kept, i)
			continue
		}
		l.Images = append(l.Images, Leftover{ID: i.ID, Names: i.Names, Named: p.named(i.ID), Size: weight(s, i)})
	}
	slices.SortFunc(l.Images, func(a, b Leftover) int { return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.ID, b.ID)) })
	l.Kept = len(kept)
	l.weigh(s, kept)
	return l, nil
}

// whole refuses a list of which a source is missing.
func whole(r *Wanted) error {
	if len(r.Unread) == 0 {
		return nil
	}
	u := r.Unread[0]
	return &problem.Problem{
		Code: "CTR-UNRD", Summary: message.F("What the node needs is not known in full: %s: %s", u.Source, u.Reason),
		Fix: message.T("Fix that, then retry; nothing was removed. `touchdown images list` names all that could not be read."),
	}
}

// weigh counts the layers that only leftovers have.
func (l *Leftovers) weigh(s *store.Store, kept []store.Image) {
	stays := map[string]bool{}
	below, _ := s.Closure(kept)
	for _, id := range below {
		stays[id] = true
	}
	all, _ := s.Closure(s.Images)
	for _, id := range all {
		if layer, _ := s.Layer(id); !stays[id] {
			l.Layers++
			l.Bytes += layer.DiffSize
		}
	}
}

func weight(s *store.Store, i store.Image) (bytes int64) {
	chain, _ := s.Chain(i.TopLayer)
	for _, id := range chain {
		layer, _ := s.Layer(id)
		bytes += layer.DiffSize
	}
	return bytes
}

// named is who names an image without a need for it.
func (p pruning) named(id string) []string {
	var who []string
	for _, i := range p.wanted.Images {
		if i.ID != id {
			continue
		}
		for _, n := range i.Needers {
			who = append(who, n.Who)
		}
	}
	slices.Sort(who)
	return slices.Compact(who)
}

// Prune takes the images out: of the store by a new generation, of CRI-O's own store by CRI-O, or else the next seeding would
// take them back. Their layers stay until a boot went well with the new generation (retire), so that the one before can come
// back until then. version is Touchdown's, for the store's manifest.
func (n *Node) Prune(ctx context.Context, version string, l Leftovers) error {
	return pruning{n, l.wanted}.run(ctx, version, l)
}

func (p pruning) run(ctx context.Context, version string, l Leftovers) error {
	if len(l.Images) == 0 {
		return nil
	}
	from, err := layerstore.Open(p.host.Path(StoreDir))
	if err != nil {
		return fmt.Errorf("opening the image store: %w", err)
	}
	from.Version = version
	if now, err := from.Current(); err != nil || now.N != l.Generation {
		return &problem.Problem{
			Code: "CTR-CHNG", Summary: message.T("The image store was changed meanwhile; nothing was removed."), Fix: message.T("Run the command again."), Err: err,
		}
	}
	primary, err := store.Open(ctx, p.host.Path(Primary))
	if err != nil {
		return fmt.Errorf("reading the node's images: %w", err)
	}
	next, err := from.Add(ctx, primary, layerstore.Selection{Images: []string{}, Drop: l.IDs()}, nil)
	if err != nil {
		return fmt.Errorf("listing the images that stay: %w", err)
	}
	// Before the switch: whatever goes wrong until then, the next run finds these images again.
	if err := p.forget(ctx, primary, l); err != nil {
		return err
	}
	if err := noteSwitch(p.host); err != nil {
		return err
	}
	if err := from.Switch(ctx, next.N); err != nil {
		return fmt.Errorf("putting the images that stay into force: %w", err)
	}
	return p.unpin(ctx, l)
}

// forget lets CRI-O remove the images from its own store. For one of which that store has the record alone it complains of
// the layers and forgets it all the same, so its answer is not what counts.
func (p pruning) forget(ctx context.Context, primary *store.Store, l Leftovers) error {
	failed := map[string]error{}
	for _, id := range l.IDs() {
		if _, here := primary.Image(id); here {
			failed[id] = p.cri.Remove(ctx, id)
		}
	}
	after, err := store.Open(ctx, primary.Root)
	if err != nil {
		return fmt.Errorf("reading the node's images: %w", err)
	}
	for _, i := range l.Images {
		if _, still := after.Image(i.ID); still {
			return &problem.Problem{
				Code: "CTR-USED", Summary: message.F("CRI-O does not release the image %s.", first(i.Names, i.ID)),
				Fix: message.T("Remove the containers that use it (crictl ps -a), then retry; the seeded store was not changed."), Err: failed[i.ID],
			}
		}
	}
	return nil
}

func first(names []string, otherwise string) string {
	if len(names) > 0 {
		return names[0]
	}
	return otherwise
}

// unpin takes the images' names, all that CRI-O had for them, out of Touchdown's pins.
func (p pruning) unpin(ctx context.Context, l Leftovers) error {
	gone := map[string]bool{}
	for _, i := range l.Images {
		for _, name := range i.Names {
			gone[name] = true
		}
		for _, w := range p.wanted.Images {
			for _, name := range w.Names {
				gone[name] = gone[name] || w.ID == i.ID
			}
		}
	}
	pinned, err := pinnedIn(p.host, pinsFile)
	if err != nil {
		return err
	}
	return pin(ctx, p.host, slices.DeleteFunc(pinned, func(name string) bool { return gone[name] }))
}
