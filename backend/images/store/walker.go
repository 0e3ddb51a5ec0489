package store

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// walker finds the files of a layer one after the other, folder by folder, with one open folder for each level: names of
// a tar that follow each other mostly lie in the same one.
type walker struct {
	fds   []int    // open folders: the layer's, then down to the one used last
	parts []string // their names, without the layer's
	dir   string   // the same as one path
	odd   int      // a folder that was reached through a link within the layer, or -1
	oddAt string
}

func newWalker(diff string) (*walker, error) {
	root, err := openDir(unix.AT_FDCWD, diff)
	if err != nil {
		return nil, err
	}
	return &walker{fds: []int{root}, odd: -1}, nil
}

func (w *walker) close() {
	for _, fd := range w.fds {
		shut(fd)
	}
	if w.odd >= 0 {
		shut(w.odd)
	}
}

// at gives the open folder that a name below the layer lies in, and the rest of the name.
func (w *walker) at(name string) (int, string, error) {
	dir, base := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	if w.odd >= 0 && dir == w.oddAt {
		return w.odd, base, nil
	}
	if dir == w.dir {
		return w.fds[len(w.fds)-1], base, nil
	}
	parts := []string(nil)
	if dir != "" {
		parts = strings.Split(dir, "/")
	}
	same := 0
	for same < len(parts) && same < len(w.parts) && parts[same] == w.parts[same] {
		same++
	}
	w.leave(same)
	w.dir = "\x00" // until all are open
	for _, p := range parts[same:] {
		if len(w.fds) > maxDepth {
			return -1, "", fmt.Errorf("more than %d folders lie in each other", maxDepth)
		}
		const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
		fd, err := unix.Openat(w.fds[len(w.fds)-1], p, flags, 0)
		if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
			return w.through(dir, base)
		}
		if err != nil {
			return -1, "", &os.PathError{Op: "opening", Path: dir, Err: err}
		}
		w.fds, w.parts = append(w.fds, fd), append(w.parts, p)
	}
	w.dir = dir
	return w.fds[len(w.fds)-1], base, nil
}

func (w *walker) leave(depth int) {
	for len(w.parts) > depth {
		shut(w.fds[len(w.fds)-1])
		w.fds, w.parts = w.fds[:len(w.fds)-1], w.parts[:len(w.parts)-1]
	}
}

// through opens a folder behind a link that the same layer holds (lib -> usr/lib), as the library did when it unpacked
// the layer: the kernel takes the layer for the root, so that no link leads out of it.
func (w *walker) through(dir, base string) (int, string, error) {
	fd, err := unix.Openat2(w.fds[0], dir, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return -1, "", &os.PathError{Op: "opening", Path: dir, Err: err}
	}
	if w.odd >= 0 {
		shut(w.odd)
	}
	w.odd, w.oddAt = fd, dir
	return fd, base, nil
}
