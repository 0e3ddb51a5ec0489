// Package pulls has real CRI-O pull the images of the bench from the site's registry, one after the other or as Touchdown does
// it, and counts what that took.
package pulls

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/images/cri"
	"touchdown/backend/images/ref"
	"touchdown/test/bench/images"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
)

// Bench is a node without images at the end of a line to a registry that has them.
type Bench struct {
	Node     *node.Machine
	Registry *site.Registry

	folder *images.Folder
	site   *site.Site
	cri    *cri.Client
	way    string
}

// Launch boots the node. It ends with Close.
func Launch(ctx context.Context, size images.Size) (_ *Bench, err error) {
	b := &Bench{}
	if b.folder, err = images.Find(size); err != nil {
		return nil, fmt.Errorf("%w: %w", node.ErrUnable, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if b.Node, err = node.Launch(ctx, node.Options{}); err != nil {
		return nil, err
	}
	if b.site, err = site.Launch(site.Options{LAN: b.Node.LAN(), Network: site.Factory()}); err != nil {
		return nil, err
	}
	b.Registry = b.site.Registry
	b.Registry.Serve(b.folder)
	if err := b.Node.UseRegistry(site.RegistryName, b.Registry.CA(), "", ""); err != nil {
		return nil, err
	}
	// Without a cluster nothing on the node brings CRI-O up automatically.
	const ready = "getent hosts " + site.RegistryName + " && { crictl images -q || { systemctl start --job-mode=ignore-dependencies crio; false; }; }"
	if err := b.Node.Wait(ctx, ready); err != nil {
		return nil, err
	}
	return b, b.connect()
}

// connect finds the node's CRI-O from here: its /var/run is a link that would lead out of the node.
func (b *Bench) connect() error {
	inside, err := b.Node.Path("/run/crio")
	if err != nil {
		return err
	}
	if b.way, err = os.MkdirTemp("", "cri-"); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(b.way, "var/run"), 0o755); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if err := os.Symlink(inside, filepath.Join(b.way, "var/run/crio")); err != nil {
		return fmt.Errorf("making the way to CRI-O: %w", err)
	}
	b.cri, err = cri.Open(host.Open(host.Options{Root: b.way}))
	return err
}

// Close ends the node.
func (b *Bench) Close() error {
	var err error
	if b.cri != nil {
		err = b.cri.Close()
	}
	if b.site != nil {
		b.site.Close()
	}
	if b.Node != nil {
		err = errors.Join(err, b.Node.Close())
	}
	_ = os.RemoveAll(b.way) // a link in a temporary folder
	return err
}

// Took is what a run took.
type Took struct {
	Seconds float64
	Busy    float64 // seconds of all processors of this machine together, whoever used them
	Bytes   int64   // that the registry handed out
	Images  int
}

// Serial pulls the first images of the bench as a shell's loop does: one after the other; 0: all.
func (b *Bench) Serial(ctx context.Context, first int) (Took, error) {
	return b.run(ctx, cri.Pull{Workers: 1}, first, false)
}

// Parallel pulls them as Touchdown does, so many at once; 0: as many as it chooses.
func (b *Bench) Parallel(ctx context.Context, first, workers int) (Took, error) {
	return b.run(ctx, cri.Pull{Workers: workers}, first, true)
}

func (b *Bench) run(ctx context.Context, p cri.Pull, first int, known bool) (took Took, err error) {
	if err := b.empty(ctx); err != nil {
		return took, err
	}
	var wants []cri.Want
	for _, i := range b.folder.Images {
		if first > 0 && len(wants) == first {
			break
		}
		w := cri.Want{Name: i.ByDigest()}
		for _, l := range i.Layers {
			if known {
				w.Blobs = append(w.Blobs, ref.Blob{Digest: string(l.Digest), Size: l.Size})
			}
		}
		wants = append(wants, w)
	}
	served, busy, begun := b.Registry.Served(), processors(), time.Now()
	p.Client = b.cri
	if _, err := p.Run(ctx, wants); err != nil {
		return took, fmt.Errorf("pulling the images of the bench: %w", err)
	}
	took = Took{Seconds: time.Since(begun).Seconds(), Busy: processors() - busy, Bytes: b.Registry.Served().Bytes - served.Bytes}
	list, err := b.cri.List(ctx)
	took.Images = len(list)
	return took, err
}

// empty takes all images away, and what the kernel remembers of files.
func (b *Bench) empty(ctx context.Context) error {
	list, err := b.cri.List(ctx)
	if err != nil {
		return err
	}
	for _, i := range list {
		if err := b.cri.Remove(ctx, i.ID); err != nil {
			return err
		}
	}
	if list, err = b.cri.List(ctx); err != nil || len(list) > 0 {
		return fmt.Errorf("emptying the node's store: %d images are left: %w", len(list), err)
	}
	_, err = b.Node.Shell(ctx, "sync -f /var")
	return err
}

// processors is the time that this machine's processors were not idle since it was switched on, seconds (proc(5)).
func processors() float64 {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(data), "\n")
	ticks := 0.0
	for n, word := range strings.Fields(line)[1:] {
		const idle, iowait, steal, perSecond = 3, 4, 7, 100
		if value, err := strconv.ParseFloat(word, 64); err == nil && n != idle && n != iowait && n < steal {
			ticks += value / perSecond
		}
	}
	return ticks
}
