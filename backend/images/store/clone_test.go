package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/store"
	"touchdown/backend/problem"
	"touchdown/test/imagestore"
)

// describe lists a tree with everything that a copy must keep, content but for its size excluded.
func describe(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	first := map[uint64]string{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		target, _ := os.Readlink(path)
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			st.Size, st.Nlink = 0, 0
		} else if st.Nlink > 1 {
			if _, known := first[st.Ino]; !known {
				first[st.Ino] = name
			}
		}
		if st.Mode&unix.S_IFMT != unix.S_IFREG {
			st.Atim.Sec = 0 // looking at it changes it
		}
		all = append(all, fmt.Sprintf("%q mode %o owner %d:%d size %d links %d=%q device %d changed %d.%d read %d target %q attributes %q", name, st.Mode,
			st.Uid, st.Gid, st.Size, st.Nlink, first[st.Ino], st.Rdev, st.Mtim.Sec, st.Mtim.Nsec, st.Atim.Sec, target, attributes(t, path)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func attributes(t *testing.T, path string) []string {
	t.Helper()
	list := make([]byte, 4096)
	n, err := unix.Llistxattr(path, list)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for name := range strings.SplitSeq(strings.Trim(string(list[:n]), "\x00"), "\x00") {
		value := make([]byte, 4096)
		n, _ := unix.Lgetxattr(path, name, value)
		all = append(all, name+"="+string(value[:max(n, 0)]))
	}
	slices.Sort(all)
	return all
}

func ids(s *store.Store) []string {
	all, _ := s.Closure(s.Images)
	return all
}

// cloned clones all layers of a store's images into a new folder, and gives it.
func cloned(t *testing.T, s *store.Store, dir string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "overlay", "l"), 0o755); err != nil {
		t.Fatal(err)
	}
	last := store.Copied{}
	err := s.Clone(t.Context(), filepath.Join(dir, "overlay"), ids(s), store.CloneOptions{Progress: func(p store.Copied) { last = p }})
	if err != nil {
		t.Fatal(err)
	}
	if last.Layers != last.LayersTotal || last.Layers != len(ids(s)) || last.Bytes == 0 || last.Bytes > last.BytesTotal {
		t.Errorf("the last progress is %+v", last)
	}
	return filepath.Join(dir, "overlay")
}

func TestCloneIsTheSame(t *testing.T) {
	primary := imagestore.NewDisk(t, "xfs", 1<<30)
	filled(t, filepath.Join(primary.Dir, "primary"))
	s := open(t, filepath.Join(primary.Dir, "primary"))
	for name, to := range map[string]string{"shared": primary.Dir, "copied": imagestore.NewDisk(t, "ext4", 1<<30).Dir} {
		t.Run(name, func(t *testing.T) {
			overlay := cloned(t, s, filepath.Join(to, "clone"))
			for _, id := range ids(s) {
				want, have := describe(t, filepath.Join(s.LayerFolder(id), "diff")), describe(t, filepath.Join(overlay, id, "diff"))
				for n := range want {
					if n >= len(have) || want[n] != have[n] {
						t.Fatalf("layer %s:\nsource %s\nclone  %s", id, want[n], have[min(n, len(have)-1)])
					}
				}
				if len(have) != len(want) {
					t.Errorf("layer %s has %d files, its clone %d", id, len(want), len(have))
				}
			}
			if left, err := os.ReadDir(overlay); err != nil || len(left) != len(ids(s))+1 {
				t.Errorf("the clone's folder has %v, %v", left, err)
			}
		})
	}
}

func TestCloneSharesBlocks(t *testing.T) {
	disk := imagestore.NewDisk(t, "xfs", 1<<30)
	made := imagestore.New(filepath.Join(disk.Dir, "primary"))
	made.Image(made.Layer("", imagestore.File{Name: "large", Size: 100 << 20}), "registry.example/large:v1")
	if err := made.Save(); err != nil {
		t.Fatal(err)
	}
	used := func() uint64 {
		var st unix.Statfs_t
		if err := errors.Join(store.SyncFS(disk.Dir), unix.Statfs(disk.Dir, &st)); err != nil {
			t.Fatal(err)
		}
		return (st.Blocks - st.Bfree) * uint64(st.Bsize)
	}
	before := used()
	cloned(t, open(t, made.Root), filepath.Join(disk.Dir, "clone"))
	if more := used() - before; more > 2<<20 {
		t.Errorf("a clone of 100 MiB takes %d bytes", more)
	}
}

func TestCloneLeavesRunningContainersAlone(t *testing.T) {
	disk := imagestore.NewDisk(t, "xfs", 1<<30)
	made, _ := filled(t, filepath.Join(disk.Dir, "primary"))
	s := open(t, made.Root)
	top := ids(s)[1]
	if err := unix.Mount("tmpfs", made.Path("overlay", top, "merged"), "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(made.Path("overlay", top, "merged"), unix.MNT_DETACH)
	if err := os.WriteFile(made.Path("overlay", top, "merged", "file"), []byte("of a container"), 0o644); err != nil {
		t.Fatal(err)
	}
	overlay := cloned(t, s, filepath.Join(disk.Dir, "clone"))
	if left, err := os.ReadDir(filepath.Join(overlay, top, "merged")); err != nil || len(left) != 0 {
		t.Errorf("the clone has %v, %v of a mount", left, err)
	}
}

func TestCloneRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, made *imagestore.Store, id, link string)
		want  string
	}{
		"a short name that leads elsewhere": {func(t *testing.T, made *imagestore.Store, _, link string) {
			do(t, os.Remove(link), os.Symlink("/etc", link))
		}, "/overlay/l/"},
		"a short name that is a path": {func(t *testing.T, made *imagestore.Store, id, _ string) {
			do(t, os.WriteFile(made.Path("overlay", id, "link"), []byte("../../../../../etc/shadow"), 0o644))
		}, "/link"},
		"ancestors that are paths": {func(t *testing.T, made *imagestore.Store, id, _ string) {
			do(t, os.WriteFile(made.Path("overlay", id, "lower"), []byte("/etc:/root"), 0o644))
		}, "/lower"},
		"files that are a link": {func(t *testing.T, made *imagestore.Store, id, _ string) {
			diff := made.Path("overlay", id, "diff")
			do(t, os.Rename(diff, diff+".away"), os.Symlink("/etc", diff))
		}, "diff"},
		"a mount in the files": {func(t *testing.T, made *imagestore.Store, id, _ string) {
			at := made.Path("overlay", id, "diff", "usr")
			do(t, unix.Mount("tmpfs", at, "tmpfs", 0, ""))
			t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
		}, "another file system"},
		"a tar-split that is a link": {func(t *testing.T, made *imagestore.Store, id, _ string) {
			split := made.Path("overlay-layers", id+".tar-split.gz")
			do(t, os.Remove(split), os.Symlink("/etc/shadow", split))
		}, "tar-split"},
		"composefs": {func(t *testing.T, made *imagestore.Store, id, _ string) {
			do(t, os.Mkdir(made.Path("overlay", id, "composefs-data"), 0o755))
		}, "composefs"},
	} {
		t.Run(name, func(t *testing.T) {
			made, s := small(t)
			id := ids(s)[0]
			link, err := s.Link(id)
			do(t, err)
			c.spoil(t, made, id, made.Path("overlay", "l", link))
			overlay := filepath.Join(t.TempDir(), "overlay")
			do(t, os.MkdirAll(filepath.Join(overlay, "l"), 0o755))
			err = s.Clone(t.Context(), overlay, []string{id}, store.CloneOptions{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("refused with %v", err)
			}
			if _, err := os.Lstat(filepath.Join(overlay, id)); err == nil {
				t.Error("the layer is there all the same")
			}
		})
	}
}

func TestVanishedLayerIsTold(t *testing.T) {
	made, s := small(t)
	id := ids(s)[0]
	do(t, os.RemoveAll(made.Path("overlay", id)))
	overlay := t.TempDir()
	err := s.Clone(t.Context(), overlay, []string{id}, store.CloneOptions{})
	if gone, is := errors.AsType[*store.VanishedError](err); !is || gone.Layer != id {
		t.Errorf("it is told as %v", err)
	}
}

func TestCopyNeedsRoom(t *testing.T) {
	_, s := small(t)
	for name, c := range map[string]struct{ options, code string }{
		"space": {"size=1m", "STR-SPCE"}, "inodes": {"size=100m,nr_inodes=40", "STR-SPCE"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			do(t, unix.Mount("tmpfs", dir, "tmpfs", 0, c.options))
			t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
			do(t, os.Mkdir(filepath.Join(dir, "l"), 0o755))
			err := s.Clone(t.Context(), dir, ids(s), store.CloneOptions{})
			if problem.From(err).Code != c.code {
				t.Errorf("refused with %v", err)
			}
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

func TestCloneStopsWhenItIsTold(t *testing.T) {
	_, s := small(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Clone(ctx, t.TempDir(), ids(s), store.CloneOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

func do(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// small is a store of one odd layer, on whatever disk the tests have: made by root only.
func small(t *testing.T) (*imagestore.Store, *store.Store) {
	t.Helper()
	imagestore.NeedRoot(t)
	made := imagestore.New(filepath.Join(t.TempDir(), "primary"))
	made.Image(made.Layer("", imagestore.Odd()...), "registry.example/odd:v1", "registry.example/odd@")
	do(t, made.Save())
	return made, open(t, made.Root)
}
