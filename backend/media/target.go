package media

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Allow is what a person allows to be overwritten.
type Allow struct {
	Content   bool // what the target holds
	FixedDisk bool // a disk that is neither removable nor on USB
}

// WriteTo writes a volume to a new image file, or onto a block device that nothing uses. What is there already is overwritten
// only where it is allowed; a device that is mounted or otherwise in use, as the disk that the system runs on is, never.
func WriteTo(path string, image *volume.Image, allow Allow) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) || err == nil && info.Mode().IsRegular():
		return writeImage(path, image, allow.Content)
	case err == nil && info.Mode().Type() == os.ModeDevice:
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			return fmt.Errorf("asking what %s is: %w", path, err)
		}
		is := diskOf("/sys", st.Rdev)
		if !allow.FixedDisk {
			if err := is.refuseFixed(path); err != nil {
				return err
			}
		}
		return writeDevice(path, is, image, allow.Content)
	case err == nil:
		err = errors.New("it is neither a block device nor a file")
	}
	return &problem.Problem{Code: "MED-WRT", Summary: message.F("The medium cannot be written to %s.", path), Fix: message.T("Name a block device, for example /dev/sdb, or a file."), Err: err}
}

func writeImage(path string, image *volume.Image, force bool) error {
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		how = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, how, 0o600)
	if errors.Is(err, os.ErrExist) {
		return &problem.Problem{Code: "MED-FULL", Summary: message.F("%s is there already.", path), Fix: message.T("Name another file, or overwrite it with --force.")}
	}
	if err != nil {
		return fmt.Errorf("writing the medium: %w", err)
	}
	_, err = f.Write(image.Head)
	if err == nil {
		err = f.Truncate(image.Size) // the rest is zeros, which take no room on the disk
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
		return fmt.Errorf("writing the medium: %w", err)
	}
	return nil
}

// used is how much of a device is looked at to see whether it holds something, in bytes: partition tables and the superblocks of
// all common file systems lie there (btrfs has the last one, at 64 KiB).
const used = 1 << 20

func writeDevice(path string, is disk, image *volume.Image, force bool) error {
	// The kernel refuses O_EXCL for a device that is mounted, is swap or part of a volume group, also when only a partition of it is.
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_EXCL|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.EBUSY) {
		return &problem.Problem{Code: "MED-BUSY", Summary: message.F("%s is in use by this system, or one of its partitions is.", path), Fix: message.T("Check the name of the device. Unmount it if it is the stick.")}
	}
	if err != nil {
		return fmt.Errorf("writing the medium: %w", err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("asking for the size of %s: %w", path, err)
	}
	if size < image.Size {
		return &problem.Problem{Code: "MED-SMAL", Summary: message.F("%s has %d bytes, and %d are needed.", path, size, image.Size), Fix: message.T("Use a larger stick.")}
	}
	head := make([]byte, min(size, used))
	if _, err := f.ReadAt(head, 0); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	if !force && len(bytes.Trim(head, "\x00")) > 0 {
		return &problem.Problem{Code: "MED-FULL", Summary: message.F("%s holds something: its first sectors are not empty. It is %s.", path, is.text()), Fix: message.T("Check that it is the stick. If everything on it may be lost, add --force.")}
	}
	// What another file system left behind would make it look like two.
	clean := make([]byte, max(len(image.Head), int(min(image.Size, used))))
	copy(clean, image.Head)
	if _, err := f.WriteAt(clean, 0); err != nil {
		return fmt.Errorf("writing the medium: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("writing the medium: %w", err)
	}
	return nil
}
