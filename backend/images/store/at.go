package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// maxDepth is how many folders may lie in each other; each costs two open files. Images have 20.
const maxDepth = 512

// entry is one name of a folder.
type entry struct {
	name  string
	inode uint64
}

// openDir opens a folder, never through a link.
func openDir(at int, name string) (int, error) { return open(at, name, unix.O_DIRECTORY) }

// openFile opens a regular file, never through a link, and never waits for the other end of a pipe.
func openFile(at int, name string) (int, error) { return open(at, name, unix.O_NONBLOCK) }

// open leaves the access time unchanged where that is allowed: to the owner and to root.
func open(at int, name string, also int) (int, error) {
	flags := unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | also
	fd, err := unix.Openat(at, name, flags|unix.O_NOATIME, 0)
	if errors.Is(err, unix.EPERM) {
		fd, err = unix.Openat(at, name, flags, 0)
	}
	if err != nil {
		return -1, &os.PathError{Op: "opening", Path: name, Err: err}
	}
	return fd, nil
}

// shut closes a file. What was written to it is synced with its whole file system before anybody is told of it.
func shut(fd int) { _ = unix.Close(fd) }

func lstat(at int, name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return st, &os.PathError{Op: "reading the attributes of", Path: name, Err: err}
	}
	return st, nil
}

// listing reads a folder in pieces, each sorted by inode: so a cold disk is read forwards.
type listing struct {
	buf     []byte
	entries []entry
}

// next gives the following piece, or nothing at the end.
func (l *listing) next(fd int) ([]entry, error) {
	if l.buf == nil {
		l.buf = make([]byte, 16<<10)
	}
	for {
		n, err := unix.Getdents(fd, l.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading a folder: %w", err)
		}
		if n == 0 {
			return nil, nil
		}
		l.parse(l.buf[:n])
		if len(l.entries) > 0 {
			return l.entries, nil
		}
	}
}

// parse reads the kernel's records: inode (8 bytes), offset (8), length (2), type (1), name, zero.
func (l *listing) parse(buf []byte) {
	l.entries = l.entries[:0]
	for len(buf) > 19 {
		size := int(binary.NativeEndian.Uint16(buf[16:]))
		if size < 20 || size > len(buf) {
			return
		}
		name := string(buf[19:size])
		if end := strings.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if name != "." && name != ".." {
			l.entries = append(l.entries, entry{name, binary.NativeEndian.Uint64(buf)})
		}
		buf = buf[size:]
	}
	slices.SortFunc(l.entries, func(a, b entry) int { return cmp.Compare(a.inode, b.inode) })
}
