package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// MaxFile is the largest file that is read as a whole. The largest that a node has for us, a journal of the cluster's manifests,
// is far below it; the largest of all is the program, of 65 MiB, which an install compares with its own. Chosen.
const MaxFile = 128 << 20

// ErrNotRegular is the error for what is not a file with content: a directory, a pipe, a device, a socket.
var ErrNotRegular = errors.New("is not a regular file")

// ReadRegular returns the first bytes of a regular file, at most limit, and whether that is all of it. It asks what it has opened
// and not what a name stands for, which can change in between; a pipe that nobody writes to does not keep it waiting. Files of
// /proc and /sys are regular ones with a size of 0, so that the size has no say.
func ReadRegular(path string, limit int64) (head []byte, whole bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false, err //nolint:wrapcheck // the caller knows what it reads
	}
	defer f.Close()
	return readRegular(f, limit)
}

// ReadBeneath is ReadRegular for a file below a folder, without links that lead out of it.
func ReadBeneath(folder, name string, limit int64) (head []byte, whole bool, err error) {
	root, err := os.OpenRoot(filepath.Clean(folder) + "/") // the slash refuses a named pipe, whose opening waits for a writer
	if err != nil {
		return nil, false, err //nolint:wrapcheck // the caller knows what it reads
	}
	defer func() { _ = root.Close() }()
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false, err //nolint:wrapcheck // the caller knows what it reads
	}
	defer f.Close()
	return readRegular(f, limit)
}

func readRegular(f *os.File, limit int64) (head []byte, whole bool, err error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: ErrNotRegular}
	}
	if err != nil {
		return nil, false, err
	}
	head, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, false, err //nolint:wrapcheck // the caller knows what it reads
	}
	if int64(len(head)) > limit {
		return head[:limit], false, nil
	}
	return head, true, nil
}

// ReadFile returns the content of a regular file of at most MaxFile bytes.
func (m *Machine) ReadFile(path string) ([]byte, error) {
	b, whole, err := ReadRegular(m.Path(m.follow(path)), MaxFile)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	if !whole {
		return nil, fmt.Errorf("reading %s: it is larger than %d MiB", path, MaxFile>>20)
	}
	return b, nil
}

// ReadHead returns the first bytes of a regular file, at most limit, and whether that is all of it: for files whose size nobody
// vouches for.
func (m *Machine) ReadHead(path string, limit int64) (head []byte, whole bool, err error) {
	head, whole, err = ReadRegular(m.Path(m.follow(path)), limit)
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	return head, whole, nil
}

// ReadTail returns the last bytes of a regular file of the machine, at most limit: for logs, whose end tells what happened.
func ReadTail(m *Machine, path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(m.Path(m.follow(path)), os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > limit {
		if _, err := f.Seek(-limit, io.SeekEnd); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, cause(err))
		}
	}
	tail, _, err := readRegular(f, limit)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	return tail, nil
}
