package envelope

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
)

// ErrOthersMayRead is the error for a file with a secret that more people than its owner can read.
var ErrOthersMayRead = errors.New("others may read it")

// ReadSecret returns the content of a file with a secret, such as a private key, of at most limit bytes: a regular one that nobody but its
// owner may read (ErrOthersMayRead). Links are followed; what counts is the file that was opened. A FAT file system has no owners: what its
// mount says of them counts.
func ReadSecret(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller knows what it reads
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err //nolint:wrapcheck // the caller knows what it reads
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: host.ErrNotRegular}
	case info.Mode().Perm()&0o077 != 0:
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrOthersMayRead}
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return data, err //nolint:wrapcheck // the caller knows what it reads
}
