package layerstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/images/store"
)

// disk is the image store's folder: what lies where, and the changes of it that are there as a whole or not at all. It knows nothing
// of what the files mean.
type disk struct {
	dir  string
	told func(string) // before each change; may be nil
}

func (p *Store) disk() disk { return disk{p.Dir, p.Step} }

func (d disk) root(n int) string { return filepath.Join(d.dir, generationsDir, strconv.Itoa(n)) }

func (d disk) overlay() string { return filepath.Join(d.dir, store.Overlay) }

func (d disk) pointed(link string) (int, error) {
	target, err := os.Readlink(filepath.Join(d.dir, link))
	if err != nil {
		return 0, fmt.Errorf("reading which generation is %s: %w", link, err)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(target, generationsDir+"/"))
	if err != nil || target != generationsDir+"/"+strconv.Itoa(n) {
		return 0, fmt.Errorf("reading which generation is %s: it is %.80q", link, target)
	}
	return n, nil
}

func (d disk) numbers() ([]int, error) {
	entries, err := os.ReadDir(filepath.Join(d.dir, generationsDir))
	if err != nil {
		return nil, fmt.Errorf("reading the generations: %w", err)
	}
	var all []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n >= 0 {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, cmp.Compare)
	return all, nil
}

func (d disk) nextNumber() (int, error) {
	all, err := d.numbers()
	if err != nil || len(all) == 0 {
		return 1, err
	}
	return all[len(all)-1] + 1, nil
}

// point turns a link to a generation, in one step, and durably.
func (d disk) point(link string, n int) error {
	name := filepath.Join(d.dir, link)
	if err := os.Remove(name + part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a link: %w", err)
	}
	if err := os.Symlink(generationsDir+"/"+strconv.Itoa(n), name+part); err != nil {
		return fmt.Errorf("making a link: %w", err)
	}
	d.step("point " + link)
	if err := os.Rename(name+part, name); err != nil {
		return fmt.Errorf("turning a link: %w", err)
	}
	d.step("pointed " + link)
	return host.SyncDir(d.dir)
}

// discard removes a folder so that it is there as a whole or not at all.
func (d disk) discard(path string) error {
	d.step("discard")
	err := os.Rename(path, path+old)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) { // of an earlier time
		if err = os.RemoveAll(path + old); err == nil {
			err = os.Rename(path, path+old)
		}
	}
	if err == nil {
		err = host.SyncDir(filepath.Dir(path))
	}
	if err == nil {
		d.step("discarded")
		err = os.RemoveAll(path + old)
	}
	if err != nil {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return nil
}

// place gives a generation a file: one of another generation is linked, one of another store copied.
func (d disk) place(from, to string) error {
	if strings.HasPrefix(from, d.dir+"/") {
		if err := os.Link(from, to); err != nil {
			return fmt.Errorf("linking a file: %w", err)
		}
		return nil
	}
	return store.CopyFile(from, to)
}

// exchange puts the new folder in the place of the damaged one, in one step.
func (d disk) exchange(fresh, folder string) error {
	if err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, folder, unix.RENAME_EXCHANGE); err != nil {
		return fmt.Errorf("exchanging the layer: %w", err)
	}
	d.step("exchanged")
	if err := os.RemoveAll(folder + damaged); err != nil {
		return fmt.Errorf("removing an earlier damaged layer: %w", err)
	}
	if err := os.Rename(fresh, folder+damaged); err != nil {
		return fmt.Errorf("putting the damaged layer aside: %w", err)
	}
	return nil
}

// shortName finds which name in the image store leads to a layer; its own file may be what is damaged.
func (d disk) shortName(id string) string {
	links := filepath.Join(d.overlay(), "l")
	entries, _ := os.ReadDir(links)
	for _, e := range entries {
		if target, _ := os.Readlink(filepath.Join(links, e.Name())); target == "../"+id+"/diff" {
			return e.Name()
		}
	}
	return ""
}

// relink gives every generation the new layer's tar-split.
func (d disk) relink(id string) error {
	numbers, err := d.numbers()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		name := store.At(d.root(n)).SplitPath(id)
		if _, err := os.Lstat(name); err != nil {
			continue
		}
		_ = os.Remove(name + part)
		if err := os.Link(filepath.Join(d.overlay(), id, store.SplitFile), name+part); err != nil {
			return fmt.Errorf("linking a tar-split: %w", err)
		}
		if err := os.Rename(name+part, name); err != nil {
			return fmt.Errorf("naming a tar-split: %w", err)
		}
		if err := host.SyncDir(filepath.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

// clean removes what is half made, and short names that lead nowhere.
func (d disk) clean() error {
	for _, dir := range []string{d.dir, d.overlay(), filepath.Join(d.dir, generationsDir)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("reading the image store: %w", err)
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), part) && !strings.HasSuffix(e.Name(), old) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("removing what is half made: %w", err)
			}
		}
	}
	return d.cleanLinks()
}

func (d disk) cleanLinks() error {
	links := filepath.Join(d.overlay(), "l")
	entries, err := os.ReadDir(links)
	if err != nil {
		return fmt.Errorf("reading the image store: %w", err)
	}
	for _, e := range entries {
		name := filepath.Join(links, e.Name())
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			if err := os.Remove(name); err != nil {
				return fmt.Errorf("removing a short name: %w", err)
			}
		}
	}
	return nil
}

func (d disk) step(what string) {
	if d.told != nil {
		d.told(what)
	}
}

func (d disk) current() (int, error) { return d.pointed(currentLink) }

func (d disk) switchTo(n int) error {
	now, err := d.current()
	if err != nil || now == n {
		return err
	}
	if err := d.point(previousLink, now); err != nil {
		return err
	}
	return d.point(currentLink, n)
}

// removeGeneration takes a generation away: first its name, in one step.
func (d disk) removeGeneration(n int) error {
	return d.discard(d.root(n))
}
