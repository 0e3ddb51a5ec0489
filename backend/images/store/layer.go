package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// maxLower is how long a layer's list of ancestors may be, bytes: the kernel's limit for mount options, one page, is
// smaller, and the library stops at 128 layers.
const maxLower = 16 << 10

var (
	linkName  = regexp.MustCompile(`^[A-Z0-9]{26}$`)
	lowerList = regexp.MustCompile(`^l/[A-Z0-9]{26}(:l/[A-Z0-9]{26})*$`)
)

// layer makes one layer's folder under a name that says that it is not whole yet.
func (c *cloning) layer(t *tree, id string) error {
	src, err := openDir(unix.AT_FDCWD, c.store.files().layerPath(id))
	if err != nil {
		return t.lost(err)
	}
	defer shut(src)
	name := filepath.Join(c.overlay, id+Part)
	if err := os.RemoveAll(name); err != nil {
		return fmt.Errorf("removing what is left: %w", err)
	}
	if err := os.Mkdir(name, 0o700); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	dst, err := openDir(unix.AT_FDCWD, name)
	if err != nil {
		return err
	}
	defer shut(dst)
	if st, err := lstat(src, "diff"); err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return refused(c.store.files().named(filepath.Join(c.store.files().layerPath(id), "diff")), message.T("it is not a folder"), nil)
	}
	if err := t.copy(src, dst, "diff"); err != nil {
		return err
	}
	if err := c.beside(t, src, dst, id); err != nil {
		return err
	}
	return c.whole(t, src, dst, id)
}

// beside copies what lies beside a layer's files: its names, its ancestors, the folders that a mount needs, the tar-split.
func (c *cloning) beside(t *tree, src, dst int, id string) error {
	link, err := c.store.files().link(id)
	if err != nil {
		return t.lost(err)
	}
	if _, err := c.store.files().lower(id); err != nil {
		return t.lost(err)
	}
	for _, name := range []string{"link", "lower"} {
		if err := t.optional(src, dst, name, name == "lower"); err != nil {
			return err
		}
	}
	for _, name := range []string{"work", "merged", "empty"} {
		if err := t.hollow(src, dst, name); err != nil {
			return err
		}
	}
	if err := c.split(t, dst, id); err != nil {
		return err
	}
	return makeLink(c.overlay, id, link)
}

// split copies the tar-split, by which a layer can be verified; a layer that was pulled in part has none.
func (c *cloning) split(t *tree, dst int, id string) error {
	from, err := openDir(unix.AT_FDCWD, filepath.Join(c.store.files().base(), layersDir))
	if err != nil {
		return err
	}
	defer shut(from)
	st, err := lstat(from, id+splitSuffix)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return refused(c.store.files().named(c.store.files().splitPath(id)), message.T("it is not a file"), err)
	}
	in, err := openFile(from, id+splitSuffix)
	if err != nil {
		return err
	}
	defer shut(in)
	out, err := unix.Openat(dst, SplitFile, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("making the tar-split: %w", err)
	}
	defer shut(out)
	if st.Size == 0 {
		return nil
	}
	return t.data.copy(in, out, st.Size)
}

// whole gives the layer's own folder its attributes, at last.
func (c *cloning) whole(t *tree, src, dst int, id string) error {
	var st unix.Stat_t
	if err := unix.Fstat(src, &st); err != nil {
		return fmt.Errorf("reading attributes: %w", err)
	}
	if _, err := lstat(src, "composefs-data"); err == nil {
		return refused(c.store.files().named(c.store.files().layerPath(id)), message.T("it is kept in composefs, which Touchdown does not know"), nil)
	}
	if err := unix.Fchmod(dst, st.Mode&0o7777); err != nil {
		return fmt.Errorf("setting the mode: %w", err)
	}
	return t.attrs.open(src, dst, &st)
}

// optional copies one file if it is there.
func (t *tree) optional(src, dst int, name string, may bool) error {
	st, err := lstat(src, name)
	if errors.Is(err, unix.ENOENT) && may {
		return nil
	}
	if err != nil {
		return t.lost(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fmt.Errorf("%s: %w", name, unix.EINVAL)
	}
	if err := t.file(src, dst, name, &st); err != nil {
		return t.lost(err)
	}
	return times(dst, name, &st)
}

// hollow makes a folder of the source without what is in it, or mounted on it.
func (t *tree) hollow(src, dst int, name string) error {
	st, err := lstat(src, name)
	if errors.Is(err, unix.ENOENT) && name != "work" {
		return nil
	}
	mode := uint32(0o700)
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && name == "work" {
		mode = st.Mode & 0o777
	}
	if err := unix.Mkdirat(dst, name, mode); err != nil {
		return fmt.Errorf("making %s: %w", name, err)
	}
	return nil
}

func linkTarget(id string) string { return "../" + id + "/diff" }

// makeLink makes a layer's short name in an overlay folder.
func makeLink(overlay, id, link string) error {
	name := filepath.Join(overlay, linksDir, link)
	err := os.Symlink(linkTarget(id), name)
	if errors.Is(err, unix.EEXIST) {
		if target, err := os.Readlink(name); err != nil || target != linkTarget(id) {
			return refused(name, message.F("it leads to %.80q, and layer %s has the same short name", target, id), err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("making a layer's short name: %w", err)
	}
	return nil
}

// room makes sure that a copy by hand fits: all bytes and inodes of the layers, and a tenth.
func (c *cloning) room(ctx context.Context) error {
	var st unix.Statfs_t
	if err := unix.Statfs(c.overlay, &st); err != nil {
		return fmt.Errorf("reading the free space: %w", err)
	}
	files := uint64(0)
	for _, id := range c.ids {
		n, err := c.store.files().entries(ctx, id)
		if err != nil {
			return err
		}
		files += n
	}
	needBytes, needFiles := uint64(c.total)+uint64(c.total)/10, files+files/10
	free := st.Bavail * uint64(st.Bsize)
	if free >= needBytes && (st.Files == 0 || st.Ffree >= needFiles) {
		return nil
	}
	return &problem.Problem{
		Code: "STR-SPCE",
		Summary: message.F("The file system of %s cannot share blocks with the images', and a copy does not fit: it needs %d MiB and %d files, "+
			"free are %d MiB and %d files.", c.overlay, needBytes>>20, needFiles, free>>20, st.Ffree),
		Fix: message.T("Free some space, or put the store on the file system of /var/lib/containers."),
	}
}
