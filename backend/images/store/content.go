package store

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// content copies what is in files: by sharing the blocks where the file system can, else by reading and writing.
type content struct {
	byHand *atomic.Bool             // these two folders cannot share content
	room   func() error             // asked once, before the first byte is written
	share  func(to, from int) error // FICLONE; a test stands in for a disk without it
	stop   func() error             // why not to go on; may be nil
	buf    []byte
	copied int64 // since the free space was looked at
}

func (c *content) copy(from, to int, size int64) error {
	if !c.byHand.Load() {
		err := c.share(to, from)
		if err == nil {
			return nil
		}
		if !noSharing(err) {
			return fmt.Errorf("sharing the content: %w", err)
		}
		if err := c.room(); err != nil {
			return err
		}
		c.byHand.Store(true)
	}
	return c.transfer(from, to, size)
}

// noSharing tells the file system's no from a fault of the disk.
func noSharing(err error) bool {
	for _, no := range []error{unix.EXDEV, unix.EOPNOTSUPP, unix.ENOTTY, unix.EINVAL, unix.ENOSYS} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// transfer copies by hand. Holes stay holes: a file may be much larger than what it takes on the disk.
func (c *content) transfer(from, to int, size int64) error {
	if c.buf == nil {
		c.buf = make([]byte, 256<<10)
	}
	for at := int64(0); at < size; {
		data, hole, err := extent(from, at, size)
		if err != nil {
			return err
		}
		for at = data; at < hole; {
			n, err := c.piece(from, to, at, hole-at)
			if err != nil {
				return err
			}
			at += int64(n)
		}
	}
	if err := unix.Ftruncate(to, size); err != nil { // a hole at the end
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}

// extent finds the next data of a file, and where it ends; at the end of the file there is none.
func extent(file int, at, size int64) (data, hole int64, err error) {
	data, err = unix.Seek(file, at, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return size, size, nil
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) {
		return at, size, nil // a file system that knows no holes
	}
	if err == nil {
		hole, err = unix.Seek(file, data, unix.SEEK_HOLE)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("reading: %w", err)
	}
	return data, min(hole, size), nil
}

// piece copies some bytes to the same place of another file.
func (c *content) piece(from, to int, at, length int64) (int, error) {
	if c.stop != nil {
		if err := c.stop(); err != nil {
			return 0, err
		}
	}
	if c.copied >= checkEveryBytes {
		c.copied = 0
		if err := room(to, 0); err != nil {
			return 0, err
		}
	}
	n, err := unix.Pread(from, c.buf[:min(length, int64(len(c.buf)))], at)
	switch {
	case errors.Is(err, unix.EINTR):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("reading: %w", err)
	case n == 0:
		return 0, fmt.Errorf("reading: %w", io.ErrUnexpectedEOF)
	}
	c.copied += int64(n)
	for done := 0; done < n; {
		w, err := unix.Pwrite(to, c.buf[done:n], at+int64(done))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return 0, fmt.Errorf("writing: %w", err)
		}
		done += max(w, 0)
	}
	return n, nil
}
