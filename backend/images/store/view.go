package store

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// View shows folders of one file system without what is mounted below them. The storage library mounts its overlay folder
// onto itself, and a kernel neither renames nor links from one mount to another, nor, before 5.18, shares blocks between
// them, though it is the same file system. In a view there is one mount for all.
type View struct {
	fd   int
	base string // the folder that the view begins at
}

// NewView makes a view of folders. Where there is none to be had (other file systems, an old kernel, no right to mount), it
// shows the folders as they are. It lasts until it is closed, or the process ends.
func NewView(dirs ...string) *View {
	v := &View{fd: -1}
	base := common(dirs)
	if base == "" {
		return v
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, base, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return v
	}
	seen := &View{fd: int(fd), base: base}
	for _, dir := range dirs {
		for _, name := range []string{dir, filepath.Join(dir, Overlay)} {
			if !sameFile(name, seen.Path(name)) {
				seen.Close()
				return v
			}
		}
	}
	return seen
}

// common is the innermost folder that all lie in, without links.
func common(dirs []string) string {
	base := ""
	for n, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || real != filepath.Clean(dir) || !filepath.IsAbs(dir) {
			return ""
		}
		if n == 0 {
			base = real
		}
		for base != "/" && real != base && !strings.HasPrefix(real, base+"/") {
			base = filepath.Dir(base)
		}
	}
	return base
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return errors.Join(err1, err2) == nil && os.SameFile(x, y)
}

// Path is where a path is seen.
func (v *View) Path(path string) string {
	if v.fd < 0 {
		return path
	}
	return filepath.Join("/proc/self/fd/"+strconv.Itoa(v.fd), strings.TrimPrefix(path, strings.TrimSuffix(v.base, "/")))
}

// Close ends the view.
func (v *View) Close() {
	if v.fd >= 0 {
		shut(v.fd)
		v.fd = -1
	}
}

// Through is the store with its files seen through a view. Its lists and locks stay where they are: a process loses all its
// locks of a file when it closes one descriptor of it.
func (s *Store) Through(v *View) *Store {
	seen := *s
	seen.through = v.Path(s.Root)
	return &seen
}
