// Package wanted works out which images a node must have, who needs each of them, and which are there.
package wanted

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/images/cri"
	"touchdown/backend/images/ref"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// apiTime is how long to wait for an API that is away: the list is made again when someone asks again.
const apiTime = 20 * time.Second

// Need is how much depends on an image.
type Need string

// The needs, strongest first.
//
// Boot is what the node's API, network or image pulls do not come up without: the pause image, static pods, images that a
// service of the node runs by podman, workloads of the priority class system-node-critical (the platform's own word for
// it: OVN-Kubernetes, Multus, DNS, machine-config daemon), and workloads of the namespaces in bootNamespaces.
const (
	Boot  Need = "boot"
	Run   Need = "run"   // something in the cluster runs it, or would start it again
	Spare Need = "spare" // something names it and does not run it: ended pods, the operating system, what nobody needs
)

// Image is an image that someone names, or that is there.
type Image struct {
	Digest       string    `json:"digest,omitempty"`    // as the references have it; of the index where there is one. "" when nobody tells
	ID           string    `json:"id,omitempty"`        // of the image in the store
	Names        []string  `json:"names"`               // all references: those that are used, and those in the store
	Component    string    `json:"component,omitempty"` // what the release calls it
	Need         Need      `json:"need"`                // the strongest of its needers
	BootCritical bool      `json:"bootCritical"`        // Need is boot
	Needers      []Needer  `json:"needers"`             // strongest first
	Present      bool      `json:"present"`             // CRI-O resolves each name that is used
	Missing      []string  `json:"missing,omitempty"`   // the names that it does not resolve: to be pulled
	Pinned       bool      `json:"pinned"`              // the kubelet's garbage collection leaves it alone
	Size         int64     `json:"size"`                // bytes in the store, unpacked; 0 when it is not there
	Download     int64     `json:"download,omitempty"`  // bytes to be fetched, compressed; 0 when unknown or nothing
	PullAlways   bool      `json:"pullAlways"`          // someone asks the registry at each start: no store cures that
	Sources      []string  `json:"sources"`             // where it was found: "pods", "static-pods", ...
	Findings     []Finding `json:"findings,omitempty"`  // what is wrong with it

	Blobs []ref.Blob `json:"-"` // what Download is the sum of
}

// Spare tells whether nothing runs the image.
func (i Image) Spare() bool { return i.Need == Spare }

// Needer is someone who names an image.
type Needer struct {
	Who    string `json:"who"` // "Deployment openshift-x/y", "static pod openshift-etcd/etcd", "unit nodeip-configuration.service"
	Need   Need   `json:"need"`
	Source string `json:"source"`
	Always string `json:"pullAlways,omitempty"`  // the container that asks the registry at each start
	Market bool   `json:"marketplace,omitempty"` // a default catalog source, which only the marketplace operator may change
}

// Finding is something wrong with an image, and what to do.
type Finding struct {
	Kind   string       `json:"kind"` // pull-always, other-name, bad-name, short-name, lied
	Status check.Status `json:"status"`
	Text   string       `json:"text"`
	Fix    string       `json:"fix"`
}

// Unread is a source that could not be read, whole or in part.
type Unread struct {
	Source string       `json:"source"`
	Reason message.Text `json:"reason"`

	away bool // another look may read it
}

// Result is the list. What could not be read is told beside what could.
type Result struct {
	Format    int      `json:"format"` // 1; a later format keeps the names of this one
	Summary   Summary  `json:"summary"`
	Images    []Image  `json:"images"` // missing first, then boot-critical, then by name
	Unread    []Unread `json:"unread"`
	StoreRead bool     `json:"storeRead"` // false: CRI-O did not answer, and nothing is known to be present
}

// Gaps are the sources that were not read and may name images which something runs: sizes, the release's own list and the operating
// system's images do not.
func (r *Result) Gaps() []Unread { return without(r.Unread, "sizes", "release", "machineconfigs") }

// Away are those of the gaps that another look may close: the cluster or CRI-O did not answer. What is not understood is not
// understood the next time either.
func (r *Result) Away() []Unread {
	return slices.DeleteFunc(r.Gaps(), func(u Unread) bool { return !u.away })
}

func without(all []Unread, sources ...string) []Unread {
	return slices.DeleteFunc(slices.Clone(all), func(u Unread) bool { return slices.Contains(sources, u.Source) })
}

// Summary counts. Spare images are in Images alone.
type Summary struct {
	Images       int   `json:"images"`       // all
	Wanted       int   `json:"wanted"`       // needed for boot or run
	BootCritical int   `json:"bootCritical"` //
	Missing      int   `json:"missing"`      // wanted and not present
	BootMissing  int   `json:"bootMissing"`  //
	PullAlways   int   `json:"pullAlways"`   // wanted, and asked for at each start
	Size         int64 `json:"size"`         // bytes of all that is present, unpacked, as if nothing were shared
	Download     int64 `json:"download"`     // bytes to be fetched as far as registries told, each layer once
	Unsized      int   `json:"unsized"`      // missing images whose size is not known
	PayloadOnly  int   `json:"payloadOnly"`  // images of the release that nothing here uses; they are not in Images
}

// Runtime is what is asked of CRI-O.
type Runtime interface {
	List(ctx context.Context) ([]cri.Image, error)
	Status(ctx context.Context, name string) (*cri.Image, error)
	PauseImage(ctx context.Context) (string, error)
}

// File reads a file of an image in the store.
type File func(ctx context.Context, image cri.Image, path string) ([]byte, error)

// Options say how the list is made.
type Options struct {
	Payload bool // want the whole release, not only what is used of it
	File    File // for the release's list of images; nil: it cannot be read
}

// Place is where to look.
type Place struct {
	Host    *host.Machine
	Kube    *kube.Cluster // nil: without the cluster
	Away    error         // why Kube is nil
	Runtime Runtime       // nil: without CRI-O
}

// List looks everywhere at once. Only ctx makes it fail; a source that cannot be read is told in the result.
func List(ctx context.Context, p Place, o Options) (*Result, error) {
	g := &gathering{seen: map[string]string{}, components: map[string]string{}}
	s := readStore(ctx, p.Runtime, g)
	var all sync.WaitGroup
	all.Go(func() { g.node(ctx, p, s) })
	all.Go(func() { g.cluster(ctx, p, s, o) })
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r := g.union(ctx, s, o)
	r.Count()
	return r, nil
}

// use is one mention of an image.
type use struct {
	name string
	Needer
}

// gathering is a list on the way.
type gathering struct {
	mu         sync.Mutex
	uses       []use
	seen       map[string]string // a reference without digest, to the one with digest that a pod runs of it
	components map[string]string // digest to the release's name
	payload    []string          // references of the release
	unread     []Unread
}

func (g *gathering) add(u use) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.uses = append(g.uses, u)
}

// fail notes that nobody answered for a source, note that something of it was not understood.
func (g *gathering) fail(source string, err error) { g.unreadable(Unread{source, reason(err), true}) }

func (g *gathering) note(source string, why message.Text) { g.unreadable(Unread{source, why, false}) }

// Fail tells of a source that the caller could not reach.
func (r *Result) Fail(source string, err error) {
	r.Unread = append(r.Unread, Unread{source, reason(err), true})
}

// reason is what a person reads of an error: a Problem's own words, else all of it.
func reason(err error) message.Text {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return message.F("%s %s", p.Summary, p.Fix)
	}
	return message.Detail(err)
}

func (g *gathering) unreadable(u Unread) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.unread, u) {
		g.unread = append(g.unread, u)
	}
}

// stronger tells whether a asks for more than b.
func stronger(a, b Need) bool { return rank[a] < rank[b] }

var rank = map[Need]int{Boot: 0, Run: 1, Spare: 2}
