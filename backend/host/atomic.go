package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteFileAtomic replaces the file at path as a whole: after a crash, a power cut or a full disk at any moment
// there is either the old file or the new one, and no temporary file is left behind by an error. Owner and
// SELinux label of the old file are kept. A symlink at path is replaced, not followed.
func WriteFileAtomic(path string, data []byte, perm fs.FileMode) error {
	return atomic{}.replace(path, data, perm)
}

// atomic replaces files; fault stands in for a disk that misbehaves.
type atomic struct {
	fault func(path string, write func([]byte) error, b []byte) error
}

func (a atomic) replace(path string, data []byte, perm fs.FileMode) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("creating a temporary file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	keepAttributes(path, temp)
	if err := temp.Chmod(perm); err != nil {
		return fmt.Errorf("setting the mode: %w", err)
	}
	if err := a.write(path, temp, data); err != nil {
		return err
	}
	// Some file systems find out that they are full only here or at close.
	if err := temp.Sync(); err != nil {
		return fmt.Errorf("syncing: %w", err)
	}
	if err := temp.Close(); err != nil {
		return fmt.Errorf("closing: %w", err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("renaming: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

func (a atomic) write(path string, temp *os.File, data []byte) error {
	plain := func(b []byte) error {
		_, err := temp.Write(b)
		return err
	}
	if a.fault != nil {
		return a.fault(path, plain, data)
	}
	return plain(data)
}

// keepAttributes gives temp the owner and the SELinux label of the file it will replace. Both are best effort:
// the file may be new, the file system without labels, the user not root.
func keepAttributes(path string, temp *os.File) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	if int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid() {
		_ = temp.Chown(int(st.Uid), int(st.Gid))
	}
	label := make([]byte, 256)
	if n, err := unix.Lgetxattr(path, "security.selinux", label); err == nil && n > 0 {
		_ = unix.Fsetxattr(int(temp.Fd()), "security.selinux", label[:n], 0)
	}
}

// mkdirAll is os.MkdirAll that a power cut does not take back.
func mkdirAll(dir string) error {
	_, err := os.Stat(dir)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := mkdirAll(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// syncDir makes renames and removals in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("opening the directory: %w", err)
	}
	defer d.Close()
	// Some file systems have no sync for directories and say EINVAL; their renames are as durable as they get.
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("syncing the directory: %w", err)
	}
	return nil
}
