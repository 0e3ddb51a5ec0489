package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/test/bench/figures"
	"touchdown/test/imagestore"
)

const (
	imageRounds = 5         // where the smallest size is not asked for
	imageSets   = 24        // base layers, each with four images of one layer more
	imagesBytes = 7 << 30   // of all layers, where IMAGES_GIB does not say otherwise
	imageFiles  = 96 << 10  // of all layers: with folders 100,000 inodes
	crowdFiles  = 336 << 10 // of the store whose memory is measured: 400,000 inodes
	flips       = 100
)

// storeBench is a primary store on a separate disk.
type storeBench struct {
	*imagestore.Disk
	primary string
	inodes  int
	used    uint64 // bytes
	taken   map[string][]sample
	rounds  int   // of each method, one after the other; medians count
	bytes   int64 // of all layers
	crowd   int   // files of the store whose memory is measured
}

// imageStore measures the image store: all methods on one store, each from a cold cache.
func imageStore(ctx context.Context, s setup) (taken map[string]figures.Figure, err error) {
	b := &measured{dir: s.dir}
	defer func() { b.end(); err = errors.Join(err, b.err) }()
	defer b.failed()
	h := &storeBench{Disk: imagestore.NewDisk(b, "xfs", 64<<30), taken: map[string][]sample{}, rounds: imageRounds, bytes: imagesBytes, crowd: crowdFiles}
	if s.small {
		h.rounds, h.bytes, h.crowd = 1, 256<<20, crowdFiles/16
	}
	h.primary = filepath.Join(h.Dir, "primary")
	b.must(h.fill())
	for n := range h.rounds {
		b.must(h.round(ctx, n))
	}
	b.must(h.crowded(ctx))
	b.must(h.verified(ctx))
	found, err := h.flipped(ctx)
	b.must(err)
	taken = h.rows()
	taken["single_bit_flips_found"] = figures.Beside(float64(found), "of 100", "goal: 100 of 100", flips)
	memory, err := h.memory(ctx)
	b.must(err)
	taken["memory_400k_inodes_mib"] = figures.Goal(memory, "MiB", 128)
	return taken, nil
}

// fill makes the store: small and large files as in real images, layers that images share.
func (h *storeBench) fill() error {
	size := h.bytes
	if gib, err := strconv.ParseFloat(os.Getenv("IMAGES_GIB"), 64); err == nil {
		size = int64(gib * (1 << 30))
	}
	made := imagestore.New(h.primary)
	const tops = imageSets * 4
	for n := range imageSets { // bases hold many small files, what lies on them few large ones
		seed := uint64(n * 10)
		base := made.Layer("", imagestore.Tree(seed, imageFiles*6/10/imageSets, size*2/10/imageSets)...)
		for i := range uint64(4) {
			top := made.Layer(base, imagestore.Tree(seed+1+i, imageFiles*4/10/tops, size*8/10/tops)...)
			made.Image(top, fmt.Sprintf("registry.example/image-%d-%d:v1", n, i))
		}
	}
	if err := made.Save(); err != nil {
		return err
	}
	var err error
	h.used, h.inodes, err = h.usage()
	return err
}

// method is one row of the comparison.
type method struct {
	name   string
	goesOn bool // with what the one before left; else into an empty folder
	do     func(context.Context, string) error
}

// round takes each method once. Each round begins with another of those that copy: a file system ages with what is done to it.
func (h *storeBench) round(ctx context.Context, n int) error {
	to := filepath.Join(h.Dir, "copy")
	copies := []method{{"cp", false, h.cp("never")}, {"cp reflink", false, h.cp("auto")}, {"clone", false, h.clone}, {"floor", false, h.floor}}
	first := n % len(copies)
	for _, m := range slices.Concat(copies[first:], copies[:first], []method{
		{"seed", false, h.seed},
		{"again", true, h.seed},
		{"move", false, h.move},
	}) {
		if !m.goesOn {
			if err := errors.Join(os.RemoveAll(to), os.Mkdir(to, 0o700)); err != nil {
				return err
			}
		}
		if m.name == "move" { // a copy is moved: the store is needed again
			if out, err := exec.CommandContext(ctx, "cp", "-a", "--reflink=always", h.primary, to).CombinedOutput(); err != nil {
				return fmt.Errorf("copying: %w\n%s", err, out)
			}
		}
		if err := h.take(m.name, func() error { return m.do(ctx, to) }); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return os.RemoveAll(to)
}

// cp is the seed's method: everything that is there.
func (h *storeBench) cp(reflink string) func(context.Context, string) error {
	return func(ctx context.Context, to string) error {
		out, err := exec.CommandContext(ctx, "cp", "-ar", "--reflink="+reflink, h.primary, to).CombinedOutput()
		if err != nil {
			return fmt.Errorf("cp: %w\n%.1000s", err, out)
		}
		return nil
	}
}

// clone is the copy alone.
func (h *storeBench) clone(ctx context.Context, to string) error {
	s, err := store.Open(ctx, h.primary)
	if err != nil {
		return err
	}
	var ids []string
	for _, l := range s.Layers {
		if l.DiffDigest != "" {
			ids = append(ids, l.ID)
		}
	}
	if err := os.MkdirAll(filepath.Join(to, store.Overlay, "l"), 0o700); err != nil {
		return err
	}
	return s.Clone(ctx, filepath.Join(to, store.Overlay), ids, store.CloneOptions{})
}

// seed is the whole of it: lists, clone, a generation, quick verification, switch.
func (h *storeBench) seed(ctx context.Context, to string) error {
	p, err := layerstore.Init(filepath.Join(to, "pool"))
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, h.primary)
	if err != nil {
		return err
	}
	g, err := p.Add(ctx, s, layerstore.Selection{}, nil)
	if err != nil {
		return err
	}
	return p.Switch(ctx, g.N)
}

// floor makes the same names without content: what no method that makes files can go below.
func (h *storeBench) floor(_ context.Context, to string) error {
	return filepath.WalkDir(h.primary, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := to + path[len(h.primary):]
		switch {
		case d.IsDir():
			return os.MkdirAll(name, 0o755)
		case d.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, name)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		return f.Close()
	})
}

func (h *storeBench) move(ctx context.Context, to string) error {
	p, err := layerstore.Init(filepath.Join(to, "pool"))
	if err != nil {
		return err
	}
	_, err = p.Move(ctx, filepath.Join(to, "primary"), layerstore.Selection{})
	return err
}

// rows are those of the table.
func (h *storeBench) rows() map[string]figures.Figure {
	seconds := func(name string) float64 { return h.median(name, func(s sample) float64 { return s.seconds }) }
	cpu := func(name string) float64 { return h.median(name, func(s sample) float64 { return s.cpu }) }
	against := func(value float64, unit, name string, other float64) figures.Figure {
		return figures.Beside(value, unit, name, other)
	}
	written := func(s sample) float64 { return s.written / 1e6 }
	more := h.median("clone", func(s sample) float64 { return s.used })
	return map[string]figures.Figure{
		"clone_vs_cp_s":           against(seconds("clone"), "s", "cp -ar --reflink=never; goal 0.1 or less", seconds("cp")),
		"clone_vs_cp_written_mb":  against(h.median("clone", written), "MB", "cp -ar --reflink=never; goal 0.01 or less", h.median("cp", written)),
		"clone_vs_cp_reflink_s":   against(seconds("clone"), "s", "cp -ar --reflink=auto; goal 1.15 or less", seconds("cp reflink")),
		"clone_vs_cp_crowded_s":   against(seconds("clone crowded"), "s", "cp -ar --reflink=auto with 5 containers mounted; goal 0.125 or less", seconds("cp crowded")),
		"clone_vs_floor_s":        against(seconds("clone"), "s", "the same tree of empty files; goal 1.4 or less", seconds("floor")),
		"seed_vs_cp_reflink_s":    against(seconds("seed"), "s", "cp -ar --reflink=auto; lists, quick verification and switch included", seconds("cp reflink")),
		"move_s":                  figures.Goal(seconds("move"), "s", 0.5),
		"move_vs_cp_s":            against(seconds("move"), "s", "cp -ar --reflink=never; goal 0.0167 or less", seconds("cp")),
		"extra_disk_mb":           against(more/1e6, "MB", "the store; goal 0.01 or less", float64(h.used)/1e6),
		"again_s_per_100k_inodes": figures.Goal(seconds("again")*1e5/float64(h.inodes), "s", 2.5),
		"verify_vs_floor_cpu_s":   against(cpu("verify"), "CPU s", "reading and sha256 of the same files; goal 1.3 or less", cpu("sha256")),
		"store_inodes":            figures.Beside(float64(h.inodes), "inodes", "goal: at least 100000", 1e5),
		"store_gib":               figures.Beside(float64(h.used)/(1<<30), "GiB", "goal: at least 7", 7),
	}
}
