package iso

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Open opens an image for reading, and with write for WriteInPlace too. No other program that asks first, such as a second
// touchdown iso embed, gets an image that is open for writing.
func Open(name string, write bool) (*os.File, *Image, error) {
	how, lock := os.O_RDONLY, unix.LOCK_SH
	if write {
		how, lock = os.O_RDWR, unix.LOCK_EX
	}
	f, err := os.OpenFile(name, how|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, &problem.Problem{Code: "LVE-READ", Summary: message.F("%s cannot be opened.", name), Fix: message.T("Check the name and its permissions."), Err: err}
	}
	image, err := read(f, lock)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, image, nil
}

func read(f *os.File, lock int) (*Image, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the image: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &problem.Problem{Code: "LVE-READ", Summary: message.F("%s is not a regular file.", f.Name()), Fix: message.T("Name the file of the image; write the filled image to the stick afterwards."), Err: host.ErrNotRegular}
	}
	// A file system without locks has no other error than this one that matters.
	if err := unix.Flock(int(f.Fd()), lock|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, &problem.Problem{Code: "LVE-BUSY", Summary: message.F("Another program is working on %s.", f.Name()), Fix: message.T("Wait until it has ended."), Err: err}
	}
	return Read(f, info.Size())
}

// half stands at the beginning of the Ignition area while the areas are being written. No archive begins with its first byte, so that
// what a power cut left of it is never taken for one.
const half = "touchdown: half written\n"

// device is what an image lies on.
type device interface {
	WriteAt(b []byte, offset int64) (int, error)
	Sync() error
}

// write writes the areas. The beginning of the Ignition area, which lies within one sector of 512 bytes, changes twice, alone each time:
// before all else to half, and after all else to what it shall be. Whenever the power fails, the image is the old one, the new one,
// or one that Read says is not whole.
func (f *Filling) write(to device) error {
	head := min(int64(len(half)), 512-f.ignition.offset%512, int64(len(f.ignition.data)))
	mark := patch{f.ignition.offset, []byte(half)[:head]}
	rest := append([]patch{{f.ignition.offset + head, f.ignition.data[head:]}}, f.kargs...)
	last := patch{f.ignition.offset, f.ignition.data[:head]}
	for _, patches := range [][]patch{{mark}, rest, {last}} {
		for _, p := range patches {
			if _, err := to.WriteAt(p.data, p.offset); err != nil {
				return fmt.Errorf("writing %d bytes at %d of the image: %w", len(p.data), p.offset, err)
			}
		}
		if err := to.Sync(); err != nil {
			return fmt.Errorf("writing the image to the disk: %w", err)
		}
	}
	return nil
}

// WriteInPlace fills the image itself, which Open opened for writing. Nobody but its owner may read it from then on.
func (f *Filling) WriteInPlace(image *os.File) error {
	info, err := image.Stat()
	if err != nil {
		return unwritable(image.Name(), err)
	}
	if own := info.Mode().Perm() &^ 0o077; own != info.Mode().Perm() {
		if err := image.Chmod(own); err != nil {
			return exposed(image.Name(), err)
		}
	}
	if err := private(image, image.Name()); err != nil {
		return err
	}
	if err := f.write(image); err != nil {
		return &problem.Problem{
			Code: "LVE-WRT", Summary: message.F("%s could not be written to its end. It is half written now.", image.Name()),
			Fix: message.T("Remove the cause and run the same command with --force."), Err: err,
		}
	}
	return nil
}

// WriteCopy makes a filled copy of the image, which nobody but its owner may read: it can hold secrets. The file gets its name when it
// is whole; one that is there already is left alone. On a file system that can, the copy shares all else with the image. When ctx ends,
// nothing is left.
func (f *Filling) WriteCopy(ctx context.Context, image *os.File, name string) (err error) {
	taken := &problem.Problem{Code: "LVE-THRE", Summary: message.F("%s is there already.", name), Fix: message.T("Name another file."), Err: os.ErrExist}
	if _, err := os.Lstat(name); err == nil {
		return taken
	}
	temp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".part-") // 0600
	if err != nil {
		return unwritable(name, err)
	}
	defer func() {
		if failed := temp.Close(); failed != nil {
			err = errors.Join(err, unwritable(name, failed))
		}
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	if err := private(temp, name); err != nil {
		return err
	}
	if err := f.copy(ctx, temp, image); err != nil {
		return unwritable(name, err)
	}
	if err = f.write(temp); err != nil {
		return unwritable(name, err)
	}
	err = publish(temp.Name(), name, func(from, to string) error {
		return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	})
	if errors.Is(err, os.ErrExist) {
		return taken
	}
	if err != nil {
		return unwritable(name, err)
	}
	if err := host.SyncDir(filepath.Dir(name)); err != nil && !errors.Is(err, unix.EINVAL) { // which is a file system without a sync for folders
		return unwritable(name, err)
	}
	return nil
}

// publish gives a file its name, unless it is taken. NFS and 9p do not know such a rename; a second name is refused there as well.
func publish(temp, name string, rename func(from, to string) error) error {
	err := rename(temp, name)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	if err = os.Link(temp, name); err == nil {
		err = os.Remove(temp)
	}
	if err != nil {
		return fmt.Errorf("giving the image its name: %w", err)
	}
	return nil
}

// copy copies the image, and refuses one that changed since it was read.
func (f *Filling) copy(ctx context.Context, to, from *os.File) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("copying the image: %w", err)
	}
	if err := unix.IoctlFileClone(int(to.Fd()), int(from.Fd())); err != nil {
		n, err := io.Copy(to, stopping{ctx, io.NewSectionReader(from, 0, f.size)})
		if err == nil && n != f.size {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("copying the image: %w", err)
		}
	}
	if info, err := to.Stat(); err != nil || info.Size() != f.size {
		return errors.Join(errors.New("the image changed while it was copied"), err)
	}
	return nil
}

// stopping is a reader that ends with the error of its context.
type stopping struct {
	ctx  context.Context //nolint:containedctx // it lives as long as one copy
	from io.Reader
}

func (s stopping) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err // whoever copies says what was copied
	}
	return s.from.Read(b) //nolint:wrapcheck // as above
}

// private refuses a file that others may read, whatever mode it was given: vfat has the mode that its mount says.
func private(f *os.File, name string) error {
	info, err := f.Stat()
	if err != nil {
		return unwritable(name, err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return exposed(name, fmt.Errorf("it has the mode %04o", mode))
	}
	return nil
}

func exposed(name string, err error) error {
	return &problem.Problem{
		Code: "LVE-PERM", Summary: message.F("%s would be open to other users, and the filled image can hold secrets.", name),
		Fix: message.T("Use a file of your own, on a file system with permissions. If it is on vfat, mount that with umask=077."), Err: err,
	}
}

func unwritable(name string, err error) error {
	return &problem.Problem{Code: "LVE-THRE", Summary: message.F("The filled image cannot be written to %s.", name), Fix: message.T("Choose a folder that has room for the whole image and that you may write to."), Err: err}
}
