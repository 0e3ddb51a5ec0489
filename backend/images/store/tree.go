package store

import (
	"errors"
	"fmt"
	"os"
	"path"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// tree copies one folder with all that is in it, on open folders only: no name is followed that could be a link.
type tree struct {
	attrs *attrs
	data  *content
	stop  func() error  // why not to go on
	bytes *atomic.Int64 // of files, counted up as they are copied
	gone  bool          // something was there and is not any more

	device uint64            // of the source: nothing that is mounted into it belongs to it
	root   int               // of the copy
	links  map[uint64]string // first name of an inode that has several, below root
}

// copy makes the folder name of from again in to.
func (t *tree) copy(from, to int, name string) error {
	src, err := openDir(from, name)
	if err != nil {
		return t.lost(err)
	}
	defer shut(src)
	var st unix.Stat_t
	if err := unix.Fstat(src, &st); err != nil {
		return fmt.Errorf("reading attributes: %w", err)
	}
	if err := unix.Mkdirat(to, name, st.Mode&0o777); err != nil {
		return &os.PathError{Op: "making", Path: name, Err: err}
	}
	dst, err := openDir(to, name)
	if err != nil {
		return err
	}
	defer shut(dst)
	t.device, t.root, t.links = st.Dev, dst, map[uint64]string{}
	if err := t.children(src, dst, "", 0); err != nil {
		return err
	}
	if err := t.attrs.open(src, dst, &st); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return times(to, name, &st)
}

func (t *tree) children(src, dst int, below string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%.80s…: more than %d folders lie in each other", below, maxDepth)
	}
	for l := (listing{}); ; {
		entries, err := l.next(src)
		if err != nil {
			return fmt.Errorf("%s: %w", below, err)
		}
		if entries == nil {
			return nil
		}
		if err := t.stop(); err != nil {
			return err
		}
		for _, e := range entries {
			if err := t.one(src, dst, e.name, path.Join(below, e.name), depth); err != nil {
				return t.lost(err)
			}
		}
	}
}

// lost notes that a name disappeared between two looks at it: someone removes the layer.
func (t *tree) lost(err error) error {
	if errors.Is(err, unix.ENOENT) {
		t.gone = true
	}
	return err
}

func (t *tree) one(src, dst int, name, below string, depth int) error {
	st, err := lstat(src, name)
	if err != nil {
		return err
	}
	if st.Dev != t.device {
		return &os.PathError{Op: "copying", Path: below, Err: errMounted}
	}
	isDir := st.Mode&unix.S_IFMT == unix.S_IFDIR
	if st.Nlink > 1 && !isDir {
		if first, known := t.links[st.Ino]; known {
			if err := unix.Linkat(t.root, first, dst, name, 0); err != nil {
				return &os.PathError{Op: "linking", Path: below, Err: err}
			}
			return nil
		}
		t.links[st.Ino] = below
	}
	switch {
	case isDir:
		err = t.folder(src, dst, name, below, depth, &st)
	case st.Mode&unix.S_IFMT == unix.S_IFREG:
		err = t.file(src, dst, name, &st)
	default:
		err = t.special(src, dst, name, &st)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", below, err)
	}
	return times(dst, name, &st)
}

var errMounted = errors.New("another file system is mounted there")

func (t *tree) folder(src, dst int, name, below string, depth int, st *unix.Stat_t) error {
	in, err := openDir(src, name)
	if err != nil {
		return err
	}
	defer shut(in)
	if err := unix.Mkdirat(dst, name, st.Mode&0o777); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	out, err := openDir(dst, name)
	if err != nil {
		return err
	}
	defer shut(out)
	if err := t.children(in, out, below, depth+1); err != nil {
		return err
	}
	return t.attrs.open(in, out, st)
}

func (t *tree) file(src, dst int, name string, st *unix.Stat_t) error {
	in, err := openFile(src, name)
	if err != nil {
		return err
	}
	defer shut(in)
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	out, err := unix.Openat(dst, name, flags, st.Mode&0o777)
	if err != nil {
		return fmt.Errorf("making the file: %w", err)
	}
	defer shut(out)
	if st.Size > 0 {
		if err := t.data.copy(in, out, st.Size); err != nil {
			return err
		}
		t.bytes.Add(st.Size)
	}
	return t.attrs.open(in, out, st)
}

// special makes what has no content: links, whiteouts (devices 0:0), other devices, pipes, sockets.
func (t *tree) special(src, dst int, name string, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		target, err := readlink(src, name)
		if err != nil {
			return err
		}
		if err := unix.Symlinkat(target, dst, name); err != nil {
			return fmt.Errorf("making the link: %w", err)
		}
	} else if err := unix.Mknodat(dst, name, st.Mode, int(st.Rdev)); err != nil {
		return fmt.Errorf("making the device: %w", err)
	}
	return t.attrs.named(src, dst, name, st)
}

func readlink(at int, name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(at, name, buf)
	if err != nil {
		return "", &os.PathError{Op: "reading the link", Path: name, Err: err}
	}
	return string(buf[:n]), nil
}
