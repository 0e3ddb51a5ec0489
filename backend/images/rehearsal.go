package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"touchdown/backend/host"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// The phases of a rehearsal: a start of the node with every registry blocked and CRI-O's own store empty.
const (
	asked   = "asked"   // it begins with the next boot
	running = "running" // this boot is it
	over    = "over"    // the node is as it was
)

// emptyPrimary covers CRI-O's own store while a rehearsal runs. It lies beside it, on the same file system.
const emptyPrimary = "/var/lib/containers/touchdown-rehearsal"

// blockFile lets CRI-O and podman themselves refuse every registry, at once and with a clear word, instead of waiting for
// packets that are dropped. It sorts behind what others lay, so that its entries win.
const blockFile = rhcos.RegistriesDropIns + "/zz-touchdown-rehearsal.conf"

var rehearsalFile = state("rehearsal.json")

// Rehearsal is what is known of the last one, on disk between the boots.
type Rehearsal struct {
	Phase string    `json:"phase"`
	Boot  string    `json:"boot"` // id of the boot in which it was asked for, then of the one that it runs in
	Asked time.Time `json:"asked"`
	// Generation is that of the store when it was asked for: a passed rehearsal proves nothing about another one.
	Generation int `json:"generation"`

	Needs     []Need         `json:"needs"`               // what the node ran when it was asked for
	Pods      []string       `json:"pods,omitempty"`      // that were ready then, "namespace/name"
	Missed    []Need         `json:"missed,omitempty"`    // images that were not there, and who wanted them
	NotReady  []message.Text `json:"notReady,omitempty"`  // of the pods, with the reason
	Market    []string       `json:"market,omitempty"`    // default catalog sources that pods which are not ready belong to
	Tagged    []string       `json:"tagged,omitempty"`    // other catalog sources of the same kind, whose image is named by a tag
	Seconds   float64        `json:"seconds,omitempty"`   // from CRI-O's start until all pods were ready
	Begun     bool           `json:"begun,omitempty"`     // the store is covered and the registries are blocked
	Why       message.Text   `json:"why,omitzero"`        // it could not begin
	Finished  bool           `json:"finished"`            // the node was looked at to the end
	Blocked   []string       `json:"blocked,omitempty"`   // registries
	StoreSeen int            `json:"storeSeen,omitempty"` // images that CRI-O listed with its own store empty
}

// Need is one image and who wants it.
type Need struct {
	Image    string       `json:"image"` // reference
	By       []string     `json:"by,omitempty"`
	Critical bool         `json:"critical,omitempty"` // the node does not come up without it
	Why      message.Text `json:"why,omitzero"`       // it was missed, in CRI-O's or the kubelet's words
}

// Running tells whether this boot is it: registries are blocked, and CRI-O's own store is covered.
func (r Rehearsal) Running() bool { return r.Phase == running }

// Over tells whether the node is as it was.
func (r Rehearsal) Over() bool { return r.Phase == over }

// Passed tells whether the node came up whole.
func (r Rehearsal) Passed() bool { return r.Finished && len(r.Missed) == 0 && len(r.NotReady) == 0 }

// LoadRehearsal returns the last rehearsal; fs.ErrNotExist when there was none.
func LoadRehearsal(m *host.Machine) (Rehearsal, error) {
	var r Rehearsal
	data, err := m.ReadFile(rehearsalFile)
	if err != nil {
		return r, fmt.Errorf("reading the rehearsal: %w", err)
	}
	if err := message.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("reading %s: %w", rehearsalFile, err)
	}
	return r, nil
}

// unbegun ends the look at a boot in which CRI-O may have its own store, or a registry: what starts there proves nothing.
func (r *Rehearsal) unbegun(m *host.Machine) error {
	if r.Finished = false; r.Why.String() == "" {
		r.Why = message.T("It is not known that CRI-O's own store was covered and every registry blocked.")
	}
	return errors.Join(fmt.Errorf("the rehearsal did not begin: %s", r.Why), r.save(m))
}

// save keeps the rehearsal.
func (r Rehearsal) save(m *host.Machine) error {
	data, err := message.Marshal(&r)
	if err != nil {
		return fmt.Errorf("encoding the rehearsal: %w", err)
	}
	if err := m.WriteFile(rehearsalFile, data, 0o600); err != nil {
		return fmt.Errorf("keeping the rehearsal: %w", err)
	}
	return nil
}

// AskRehearsal lets the next boot be a rehearsal: of what list has, and of the pods that are ready now. It refuses a list that the
// cluster or CRI-O did not answer for, with a Problem (CTR-UNRD).
func (n *Node) AskRehearsal(ctx context.Context, list *Wanted) (Rehearsal, error) {
	if away := list.Away(); len(away) > 0 {
		return Rehearsal{}, &problem.Problem{
			Code: "CTR-UNRD", Summary: message.F("What the node needs is not known in full: %s: %s", away[0].Source, away[0].Reason), Fix: unreadFix,
		}
	}
	pods, err := podsOf(ctx, n.kube)
	if err != nil {
		return Rehearsal{}, err
	}
	return askRehearsal(n.host, needs(list), pods, n.now().UTC())
}

// expected are the pods that have to come back: those that are ready, and those of a rehearsal of the same images that did not pass. Right
// after that one the API still reports the culprit as not ready, and a rehearsal without it would pass.
func expected(m *host.Machine, generation int, pods map[string]pod) []string {
	last, err := LoadRehearsal(m)
	again := err == nil && last.Generation == generation && !last.Passed()
	var all []string
	for name, p := range pods {
		if !p.ended && (p.ready || again && slices.Contains(last.Pods, name)) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

func askRehearsal(m *host.Machine, needs []Need, pods map[string]pod, now time.Time) (Rehearsal, error) {
	none := &problem.Problem{
		Code: "CTR-LACK", Summary: message.T("There is no seeded store: without the node's own store nothing would start."),
		Fix: message.T("Run `touchdown images seed` first."),
	}
	if !seeded(m) {
		return Rehearsal{}, none
	}
	p, err := layerstore.Open(m.Path(StoreDir))
	if err != nil {
		return Rehearsal{}, fmt.Errorf("opening the image store: %w", err)
	}
	store, err := p.Current()
	if err != nil {
		return Rehearsal{}, fmt.Errorf("reading the image store: %w", err)
	}
	if store.N == 0 { // made, and nothing put into it
		return Rehearsal{}, none
	}
	boot, err := m.BootID()
	if err != nil {
		return Rehearsal{}, fmt.Errorf("reading the boot's id: %w", err)
	}
	blocked, err := registries(m, needs)
	if err != nil {
		return Rehearsal{}, err
	}
	r := Rehearsal{Phase: asked, Boot: boot, Asked: now, Generation: store.N, Needs: needs, Pods: expected(m, store.N, pods), Blocked: blocked}
	return r, r.save(m)
}

// raise begins or ends a rehearsal, before CRI-O opens its store. A power cut in a rehearsal ends it: the next boot finds the
// node's own store where it was, because a mount does not outlive a boot.
func raise(ctx context.Context, m *host.Machine) error {
	r, err := LoadRehearsal(m)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	boot, bootErr := m.BootID()
	if err = errors.Join(err, bootErr); err != nil || r.Over() || r.Boot == boot {
		return err
	}
	waits := m.Exists(layout.Armed)
	if r.Running() || waits { // a node that waits for its site has nothing that would end it
		if waits && !r.Running() {
			r.Why = message.T("The node waits for its site, where nothing is rehearsed.")
		}
		r.Phase = over
		return errors.Join(clear(ctx, m), r.save(m))
	}
	r.Phase, r.Boot = running, boot
	if err := r.save(m); err != nil { // before anything is covered: it is never begun twice
		return err
	}
	if err := cover(ctx, m, r.Blocked); err != nil {
		r.Why = message.Detail(err)
		return errors.Join(err, r.save(m))
	}
	r.Begun = true
	return r.save(m)
}

// cover takes CRI-O's own store and the registries away for this boot.
func cover(ctx context.Context, m *host.Machine, registries []string) error {
	for _, argv := range [][]string{
		{"rm", "-rf", "--one-file-system", emptyPrimary},
		{"mkdir", "-m", "0700", "-p", emptyPrimary, Primary},
		{"mount", "--bind", emptyPrimary, Primary},
	} {
		if _, err := m.Run(ctx, argv...); err != nil {
			return fmt.Errorf("covering the node's own store: %w", err)
		}
	}
	block, err := blocking(registries)
	if err != nil {
		return err
	}
	if err := m.WriteFile(blockFile, block, 0o644); err != nil {
		return fmt.Errorf("blocking the registries: %w", err)
	}
	return nil
}

// clear takes away what a rehearsal left on disk.
func clear(ctx context.Context, m *host.Machine) error {
	_, err := m.Run(ctx, "rm", "-rf", "--one-file-system", emptyPrimary)
	return errors.Join(err, m.Remove(blockFile))
}

// blockedRegistry is an entry of registries.conf.
type blockedRegistry struct {
	Prefix   string `toml:"prefix"`
	Location string `toml:"location"`
	Blocked  bool   `toml:"blocked"`
}

func blocking(registries []string) ([]byte, error) {
	var doc struct {
		Registry []blockedRegistry `toml:"registry"`
	}
	for _, r := range registries {
		doc.Registry = append(doc.Registry, blockedRegistry{r, strings.TrimPrefix(r, "*."), true})
	}
	data, err := toml.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("writing the blocked registries: %w", err)
	}
	return append([]byte("# Written by Touchdown for one boot, the rehearsal; the next boot removes it.\n"), data...), nil
}

// registries are all that the node could ask: the hosts of the references, and every entry of registries.conf, because the
// longest entry wins over that of its host and brings its own mirrors.
func registries(m *host.Machine, needs []Need) ([]string, error) {
	var all []string
	for _, n := range needs {
		name, _, found := strings.Cut(n.Image, "/")
		if found && (strings.ContainsAny(name, ".:") || name == "localhost") {
			all = append(all, name)
		}
	}
	files, err := m.Glob(rhcos.RegistriesDropIns + "/*.conf")
	if err != nil {
		return nil, fmt.Errorf("listing the registries: %w", err)
	}
	for _, file := range append([]string{rhcos.Registries}, files...) {
		data, err := m.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) || file == blockFile {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the registries: %w", err)
		}
		var doc struct {
			Registry []struct {
				Prefix, Location string
				Mirror           []struct{ Location string }
			}
		}
		if err := toml.Unmarshal(data, &doc); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		for _, r := range doc.Registry {
			all = append(all, r.Prefix, r.Location)
			for _, mirror := range r.Mirror {
				all = append(all, mirror.Location)
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" }), nil
}
