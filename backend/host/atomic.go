package host

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteFileAtomic replaces the file at path as a whole: after a crash, a power cut or a full disk at any moment
// there is either the old file or the new one, and no temporary file is left behind by an error. The owner of the old
// file is kept. Its SELinux label is not: the new file gets the type that its folder gives, which is the right one for all that
// we write (test/selinux), where the old file may have been moved there from elsewhere. A symlink at path is replaced, not followed.
func WriteFileAtomic(path string, data []byte, perm fs.FileMode) error {
	return atomic{}.replace(path, data, perm)
}

// atomic replaces files; fault stands in for a disk that misbehaves.
type atomic struct {
	fault func(path string, write func([]byte) error, b []byte) error
}

func (a atomic) replace(path string, data []byte, perm fs.FileMode) error {
	return a.replaceAll(File{path, data, perm})
}

// File is one of several files that belong together.
type File struct {
	Path string
	Data []byte
	Perm fs.FileMode
}

// WriteFilesAtomic replaces several files of one directory like WriteFileAtomic. An error, such as a full disk, leaves
// all of them as they were; a power cut may come between two of them, each whole.
func WriteFilesAtomic(files ...File) error { return atomic{}.replaceAll(files...) }

func (a atomic) replaceAll(files ...File) error {
	var ready []*replacement
	defer func() {
		for _, r := range ready {
			r.drop()
		}
	}()
	for _, f := range files {
		r, err := a.prepare(f)
		if err != nil {
			return failed("writing", f.Path, err)
		}
		ready = append(ready, r)
	}
	for i, r := range ready {
		if err := r.dir.Rename(r.temp, r.name); err != nil {
			return failed("renaming to", files[i].Path, err)
		}
		r.temp = ""
		if i == len(files)-1 || filepath.Dir(files[i+1].Path) != filepath.Dir(files[i].Path) {
			if err := syncDir(filepath.Dir(files[i].Path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// replacement is new content on the disk, beside the file that it will replace. All of it stays beneath the file's folder.
type replacement struct {
	dir  *os.Root
	temp string // "" once it has taken the file's place
	name string
}

func (r *replacement) drop() {
	if r.temp != "" {
		_ = r.dir.Remove(r.temp)
	}
	_ = r.dir.Close()
}

// prepare puts the new content on the disk, beside the old.
func (a atomic) prepare(f File) (*replacement, error) {
	dir, name, err := beneath(f.Path)
	if err != nil {
		return nil, err
	}
	r := &replacement{dir: dir, name: name}
	if err := a.fill(r, f); err != nil {
		r.drop()
		return nil, err
	}
	return r, nil
}

func (a atomic) fill(r *replacement, f File) (err error) {
	temp, err := r.create()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
		}
	}()
	keepOwner(f.Path, temp)
	if err := temp.Chmod(f.Perm); err != nil {
		return fmt.Errorf("setting the mode: %w", err)
	}
	if err := a.write(f.Path, temp, f.Data); err != nil {
		return err
	}
	// Some file systems find out that they are full only here or at close.
	if err := temp.Sync(); err != nil {
		return fmt.Errorf("syncing: %w", err)
	}
	if err := temp.Close(); err != nil {
		return fmt.Errorf("closing: %w", err)
	}
	return nil
}

// create makes a temporary file that nobody else has open.
func (r *replacement) create() (*os.File, error) {
	// The name is cut so that it is a file name too: what matters of it is only that a person recognises it.
	shown := r.name[:min(len(r.name), maxFileName-len(".."+rand.Text()))]
	for range 100 {
		temp := "." + shown + "." + rand.Text()
		file, err := r.dir.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("creating a temporary file: %w", err)
		}
		r.temp = temp
		return file, nil
	}
	return nil, errors.New("creating a temporary file: every name is taken")
}

func (a atomic) write(path string, temp *os.File, data []byte) error {
	plain := func(b []byte) error {
		if _, err := temp.Write(b); err != nil {
			return fmt.Errorf("filling a temporary file: %w", err)
		}
		return nil
	}
	if a.fault != nil {
		return a.fault(path, plain, data)
	}
	return plain(data)
}

// keepOwner gives temp the owner of the file it will replace. It is best effort: the file may be new, the user not root.
func keepOwner(path string, temp *os.File) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	if int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid() {
		_ = temp.Chown(int(st.Uid), int(st.Gid))
	}
}

// mkdirAll is os.MkdirAll that a power cut does not take back.
func mkdirAll(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := mkdirAll(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making a directory: %w", err)
	}
	return syncDir(filepath.Dir(dir))
}

// SyncDir lets what was made, renamed and removed in a folder outlive a power cut. A file system that cannot says EINVAL.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("opening a folder: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing a folder: %w", err)
	}
	return nil
}

// syncDir is SyncDir on any file system: where there is no sync for folders, their renames are as durable as they get.
func syncDir(dir string) error {
	if err := SyncDir(dir); !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}
