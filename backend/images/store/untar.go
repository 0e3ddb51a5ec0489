package store

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// How a tar of a layer says that names are gone (the image specification's layer changesets), and how overlayfs does.
const (
	whiteoutMark = ".wh."
	opaqueMark   = ".wh..wh..opq"
	opaqueAttr   = "trusted.overlay.opaque"
	attrRecord   = "SCHILY.xattr." // of a tar's extended header: an attribute of the file
)

// untarring unpacks a layer as the library does for overlayfs. Nothing leads out of its root.
type untarring struct {
	root    *os.Root
	budget  *budget
	folders []stamped // their times come last: each file in them changes them
}

// stamped is a folder with its times: of a whole header there would be too much to keep.
type stamped struct {
	name             string
	access, modified time.Time
}

// untar unpacks a tar of at most size bytes.
func untar(ctx context.Context, dir string, from io.Reader, size int64) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the layer: %w", err)
	}
	defer func() { _ = root.Close() }()
	at, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("opening the layer: %w", err)
	}
	defer at.Close()
	u := &untarring{root: root, budget: &budget{disk: int(at.Fd()), left: size}}
	in := tar.NewReader(stopping{ctx, from})
	for ctx.Err() == nil {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return u.end(ctx)
		}
		if err != nil {
			return fmt.Errorf("reading the tar: %w", err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		h.Name = inRoot(h.Name)
		if err := u.one(h, in); err != nil {
			return fmt.Errorf("%.200q: %w", h.Name, err)
		}
	}
	return context.Cause(ctx)
}

// inRoot is a tar's name below the root; "." is the root itself.
func inRoot(name string) string {
	return strings.TrimPrefix(path.Clean("./"+path.Clean("/"+name)), "/")
}

// end sets the folders' times, the innermost first.
func (u *untarring) end(ctx context.Context) error {
	for n := len(u.folders) - 1; n >= 0; n-- {
		f := u.folders[n]
		if n%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := u.in(f.name, func(at int, base string) error { return tarTimes(at, base, f.access, f.modified) }); err != nil {
			return fmt.Errorf("%.200q: %w", f.name, err)
		}
	}
	return nil
}

// in calls do with the open folder that a name is in.
func (u *untarring) in(name string, do func(at int, base string) error) error {
	dir, err := u.root.Open(path.Dir(name))
	if err != nil {
		return fmt.Errorf("opening its folder: %w", err)
	}
	defer dir.Close()
	return do(int(dir.Fd()), path.Base(name))
}

func (u *untarring) one(h *tar.Header, content io.Reader) error {
	if err := u.budget.entry(h); err != nil {
		return err
	}
	if err := u.root.MkdirAll(path.Dir(h.Name), 0o755); err != nil {
		return fmt.Errorf("making its folder: %w", err)
	}
	dir, base := path.Split(h.Name)
	switch {
	case base == opaqueMark:
		return u.in(path.Join(dir, "."), func(at int, base string) error {
			return setAttr(at, base, opaqueAttr, "y")
		})
	case strings.HasPrefix(base, whiteoutMark):
		gone := strings.TrimPrefix(base, whiteoutMark)
		if gone == "" || gone == "." || gone == ".." {
			return errors.New("a whiteout has to name a file")
		}
		h.Name = path.Join(dir, gone)
		return u.in(h.Name, func(at int, base string) error { return tarNode(at, base, unix.S_IFCHR, 0, h) })
	}
	if err := u.replace(h); err != nil {
		return err
	}
	if err := u.make(h, content); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeDir {
		u.folders = append(u.folders, stamped{h.Name, h.AccessTime, h.ModTime})
	}
	return u.in(h.Name, func(at int, base string) error { return tarAttrs(at, base, h) })
}

// replace takes away what an earlier entry of the same name made; a folder stays for a folder.
func (u *untarring) replace(h *tar.Header) error {
	st, err := u.root.Lstat(h.Name)
	if errors.Is(err, os.ErrNotExist) || err == nil && st.IsDir() && h.Typeflag == tar.TypeDir {
		return nil
	}
	if err == nil {
		err = u.root.RemoveAll(h.Name)
	}
	if err != nil {
		return fmt.Errorf("replacing it: %w", err)
	}
	return nil
}

func (u *untarring) make(h *tar.Header, content io.Reader) (err error) {
	switch h.Typeflag {
	case tar.TypeDir:
		if err = u.root.Mkdir(h.Name, 0o700); errors.Is(err, os.ErrExist) {
			err = nil
		}
	case tar.TypeReg:
		err = u.file(h.Name, content)
	case tar.TypeLink:
		err = u.root.Link(inRoot(h.Linkname), h.Name)
	case tar.TypeSymlink:
		err = u.root.Symlink(h.Linkname, h.Name)
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		kind := map[byte]uint32{tar.TypeChar: unix.S_IFCHR, tar.TypeBlock: unix.S_IFBLK, tar.TypeFifo: unix.S_IFIFO}[h.Typeflag]
		return u.in(h.Name, func(at int, base string) error {
			return tarNode(at, base, kind, unix.Mkdev(uint32(h.Devmajor), uint32(h.Devminor)), h)
		})
	default:
		return fmt.Errorf("an entry of type %q is none of a layer", h.Typeflag)
	}
	if err != nil {
		return fmt.Errorf("making it: %w", err)
	}
	return nil
}

func (u *untarring) file(name string, content io.Reader) error {
	out, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err //nolint:wrapcheck // make does
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Close())
}

func tarNode(at int, base string, kind uint32, device uint64, h *tar.Header) error {
	if err := unix.Mknodat(at, base, kind, int(device)); err != nil {
		return fmt.Errorf("making it: %w", err)
	}
	if err := unix.Fchownat(at, base, h.Uid, h.Gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("setting the owner: %w", err)
	}
	return nil
}

// tarAttrs sets owner, mode, attributes and times, in this order: a change of owner takes away setuid bits and capabilities, so
// one more name of a file, which has no attributes in a tar, must not change it.
func tarAttrs(at int, base string, h *tar.Header) error {
	var st unix.Stat_t // of a hard link it is what it leads to
	if err := unix.Fstatat(at, base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("reading its type: %w", err)
	}
	if int(st.Uid) != h.Uid || int(st.Gid) != h.Gid {
		if err := unix.Fchownat(at, base, h.Uid, h.Gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return fmt.Errorf("setting the owner: %w", err)
		}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		if err := unix.Fchmodat(at, base, uint32(h.Mode)&0o7777, 0); err != nil {
			return fmt.Errorf("setting the mode: %w", err)
		}
	}
	for name, value := range h.PAXRecords {
		if attr, is := strings.CutPrefix(name, attrRecord); is && attr != selinux { // nor does the library take a label
			if err := setAttr(at, base, attr, value); err != nil {
				return err
			}
		}
	}
	return tarTimes(at, base, h.AccessTime, h.ModTime)
}

func setAttr(at int, base, name, value string) error {
	err := unix.Lsetxattr(inFolder(at, base), name, []byte(value), 0)
	if err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("setting attribute %s: %w", name, err)
	}
	return nil
}

func tarTimes(at int, base string, access, modified time.Time) error {
	if access.Before(modified) {
		access = modified
	}
	stamp := func(t time.Time) unix.Timespec { return unix.NsecToTimespec(t.UnixNano()) }
	if err := unix.UtimesNanoAt(at, base, []unix.Timespec{stamp(access), stamp(modified)}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("setting the times: %w", err)
	}
	return nil
}
