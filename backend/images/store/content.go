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
	byHand *atomic.Bool             // sharing is not to be had between these two folders
	room   func() error             // asked once, before the first byte is written
	share  func(to, from int) error // FICLONE; a test stands in for a disk without it
	buf    []byte
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

func (c *content) transfer(from, to int, size int64) error {
	if c.buf == nil {
		c.buf = make([]byte, 256<<10)
	}
	for done := int64(0); done < size; {
		n, err := unix.Read(from, c.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading: %w", err)
		}
		if n == 0 {
			return fmt.Errorf("reading: %w", io.ErrUnexpectedEOF)
		}
		for b := c.buf[:n]; len(b) > 0; {
			w, err := unix.Write(to, b)
			if err != nil && !errors.Is(err, unix.EINTR) {
				return fmt.Errorf("writing: %w", err)
			}
			b = b[max(w, 0):]
		}
		done += int64(n)
	}
	return nil
}
