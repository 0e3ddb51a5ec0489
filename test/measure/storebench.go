package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/store"
	"touchdown/test/imagestore"
)

// sample is what one run of a method took.
type sample struct {
	seconds, cpu float64
	written      float64 // bytes
	used         float64 // bytes more on the disk
}

// take runs a method from a cold cache to the end of a sync.
func (h *storeBench) take(name string, do func() error) error {
	if err := store.SyncFS(h.Dir); err != nil {
		return err
	}
	h.Trim()
	h.WaitIdle()
	h.Cold()
	before, _, err := h.usage()
	if err != nil {
		return err
	}
	written, cpu, start := h.Written(), cpuSeconds(), time.Now()
	if err := errors.Join(do(), store.SyncFS(h.Dir)); err != nil {
		return err
	}
	s := sample{seconds: time.Since(start).Seconds(), cpu: cpuSeconds() - cpu, written: float64(h.Written() - written)}
	after, _, err := h.usage()
	s.used = float64(after) - float64(before)
	h.taken[name] = append(h.taken[name], s)
	fmt.Printf("  %-20s %7.2f s %7.2f CPU s %9.1f MB written %9.1f MB more\n", name, s.seconds, s.cpu, s.written/1e6, s.used/1e6)
	return err
}

func cpuSeconds() float64 {
	sum := 0.0
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) == nil {
			sum += time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
		}
	}
	return sum
}

// usage is what lies on the disk.
func (h *storeBench) usage() (used uint64, inodes int, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(h.Dir, &st); err != nil {
		return 0, 0, fmt.Errorf("reading the disk's state: %w", err)
	}
	return (st.Blocks - st.Bfree) * uint64(st.Bsize), int(st.Files - st.Ffree), nil
}

func (h *storeBench) median(name string, of func(sample) float64) float64 {
	var all []float64
	for _, s := range h.taken[name] {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// boxLayers is how many base layers a mounted container has: 0.5 GB in 25,000 inodes, as was measured of real ones.
const boxLayers = 9

// crowded compares the methods on a store from which five containers run.
func (h *storeBench) crowded(ctx context.Context) error {
	s, err := store.Open(ctx, h.primary)
	if err != nil {
		return err
	}
	boxes := make([]string, 5)
	bases := slices.DeleteFunc(slices.Clone(s.Layers), func(l store.Layer) bool { return l.Parent != "" })
	mount := func() error {
		for n := range boxes {
			var lower []string
			for i := range boxLayers {
				l := bases[(n*boxLayers+i)%len(bases)]
				lower = append(lower, s.LayerFolder(l.ID)+"/diff")
			}
			boxes[n] = s.LayerFolder(s.Images[n].TopLayer) + "/merged"
			if err := unix.Mount("overlay", boxes[n], "overlay", unix.MS_RDONLY, "lowerdir="+strings.Join(lower, ":")); err != nil {
				return fmt.Errorf("mounting a container: %w", err)
			}
		}
		return nil
	}
	unmount := func() {
		for _, box := range boxes {
			_ = unix.Unmount(box, unix.MNT_DETACH)
		}
	}
	to := filepath.Join(h.Dir, "copy")
	for n := range 2 * h.rounds {
		name, do := "cp crowded", h.cp("auto")
		if n%2 == 1 {
			name, do = "clone crowded", h.clone
		}
		if err := os.Mkdir(to, 0o700); err != nil {
			return err
		}
		err := h.take(name, func() error { defer unmount(); return errors.Join(mount(), do(ctx, to)) })
		if err := errors.Join(err, os.RemoveAll(to)); err != nil {
			return err
		}
	}
	return nil
}

// verified measures the full verification against reading and summing up the same files.
func (h *storeBench) verified(ctx context.Context) error {
	s, err := store.Open(ctx, h.primary)
	if err != nil {
		return err
	}
	for range h.rounds {
		if err := h.take("sha256", func() error { return sumUp(filepath.Join(h.primary, store.Overlay)) }); err != nil {
			return err
		}
		err := h.take("verify", func() error {
			found, err := s.Full(ctx, store.VerifyOptions{})
			return errors.Join(err, store.Damaged(found))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func sumUp(dir string) error {
	sum, buf := sha256.New(), make([]byte, 256<<10)
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for {
			n, err := unix.Read(fd, buf)
			if n <= 0 || err != nil {
				return err
			}
			sum.Write(buf[:n])
		}
	})
}

// flipped turns one bit after the other, and counts those that are found where they are.
func (h *storeBench) flipped(ctx context.Context) (int, error) {
	s, err := store.Open(ctx, h.primary)
	if err != nil {
		return 0, err
	}
	rnd, found := rand.New(rand.NewPCG(1, 2)), 0
	for range flips {
		layer := s.Layers[rnd.IntN(len(s.Layers))].ID
		files, err := filepath.Glob(filepath.Join(s.LayerFolder(layer), "diff", "*", "file-*"))
		if err != nil {
			return 0, err
		}
		files = slices.DeleteFunc(files, func(f string) bool {
			st, err := os.Lstat(f)
			return err != nil || !st.Mode().IsRegular() || st.Size() == 0
		})
		path := files[rnd.IntN(len(files))]
		undo, err := flip(path, rnd)
		if err != nil {
			return 0, err
		}
		damage, err := s.Full(ctx, store.VerifyOptions{Layers: []string{layer}})
		if err := errors.Join(err, undo()); err != nil {
			return 0, err
		}
		if len(damage) == 1 && filepath.Join(s.Root, damage[0].File) == path && damage[0].Layer == layer && len(damage[0].Images) > 0 {
			found++
		}
	}
	return found, nil
}

func flip(path string, rnd *rand.Rand) (undo func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	at, b := rnd.Int64N(st.Size()), make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		return nil, err
	}
	bit := byte(1) << rnd.IntN(8)
	_, err = f.WriteAt([]byte{b[0] ^ bit}, at)
	return func() error {
		_, err := f.WriteAt(b, at)
		return errors.Join(err, f.Close())
	}, err
}

// memory is the most that this process holds, MiB, while it clones and verifies a store of 400,000 inodes.
func (h *storeBench) memory(ctx context.Context) (float64, error) {
	if err := os.RemoveAll(h.primary); err != nil {
		return 0, err
	}
	made := imagestore.New(h.primary)
	for n := range uint64(8) {
		made.Image(made.Layer("", imagestore.Tree(n, h.crowd/8, 64<<20)...), fmt.Sprintf("registry.example/crowd-%d:v1", n))
	}
	if err := made.Save(); err != nil {
		return 0, err
	}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the peak begins again
		return 0, err
	}
	err := h.seed(ctx, filepath.Join(h.Dir, "crowd"))
	if err == nil {
		err = h.verifyOnce(ctx)
	}
	if err != nil {
		return 0, err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.TrimSpace(rest[:strings.Index(rest, "kB")]), 64)
	return kib / 1024, err
}

func (h *storeBench) verifyOnce(ctx context.Context) error {
	s, err := store.Open(ctx, h.primary)
	if err != nil {
		return err
	}
	found, err := s.Full(ctx, store.VerifyOptions{})
	return errors.Join(err, store.Damaged(found))
}
