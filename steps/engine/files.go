package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"touchdown/backend/host"
)

// maxKept bounds what is read of one file of the state folder, in bytes; the largest is the journal, a few MiB.
const maxKept = 256 << 20

// errNotAFile is about something in the place of a file that is none: a folder, a link, a pipe, a device.
var errNotAFile = errors.New("it is not a regular file")

// openKept opens a file of the state folder. A link is not followed, and a pipe does not block.
func openKept(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(errNotAFile, err)
	}
	return f, nil
}

// readKept reads a file of the state folder.
func readKept(path string) ([]byte, error) {
	f, err := openKept(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKept+1))
	if err == nil && len(data) > maxKept {
		err = fmt.Errorf("it is larger than %d MiB", maxKept>>20)
	}
	return data, err
}

// openOwn opens a file of ours for writing and makes it where it is absent. What lies in its place and is none is renamed to
// aside, "" when there was nothing.
func openOwn(path string, flags int) (f *os.File, aside string, err error) {
	f, err = openKept(path, os.O_RDWR|os.O_CREATE|flags)
	if err == nil || readOnly(err) {
		return f, "", err
	}
	if aside, asideErr := putAside(path, ".unreadable"); asideErr == nil {
		f, err = openKept(path, os.O_RDWR|os.O_CREATE|flags)
		return f, aside, err
	}
	return nil, "", err
}

// readOnly tells whether an error is about the file system as a whole, not about what lies on it.
func readOnly(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// putAside renames what cannot be used, so that it is neither lost nor in the way, and returns its new name.
func putAside(path, suffix string) (string, error) {
	name, err := asideName(path, suffix)
	if err != nil {
		return "", err
	}
	if err := os.Rename(path, name); err != nil {
		return "", err
	}
	return name, host.SyncDir(filepath.Dir(path))
}

// asideName is a name that nothing has yet. There are not many: a disk that damages a file at every start must not fill itself.
func asideName(path, suffix string) (string, error) {
	name := path + suffix
	for n := 2; n <= 20; n++ {
		_, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil { // its folder is none, and a pipe would block
			return "", err
		}
		name = fmt.Sprintf("%s%s-%d", path, suffix, n)
	}
	return name, os.RemoveAll(name)
}

// ownFolder makes a folder of the state folder where it is absent, and puts aside what is none.
func ownFolder(path string) (aside string, err error) {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		if aside, err = putAside(path, ".unreadable"); err != nil {
			return "", err
		}
	}
	return aside, os.MkdirAll(path, 0o700)
}

// leftover tells whether a name is of a temporary file that host.WriteFileAtomic makes beside a file, and that a power cut
// leaves there. No file of ours begins with a dot.
func leftover(name string, of ...string) bool {
	for _, n := range of {
		if strings.HasPrefix(name, "."+n+".") {
			return true
		}
	}
	return len(of) == 0 && strings.HasPrefix(name, ".")
}

// clearLeftovers removes the temporary files in a folder. They may hold a part of a secret.
func clearLeftovers(dir string, of ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if leftover(entry.Name(), of...) && entry.Type().IsRegular() {
			errs = append(errs, host.Wipe(context.Background(), filepath.Join(dir, entry.Name())))
		}
	}
	return errors.Join(errs...)
}
