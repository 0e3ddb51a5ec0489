package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.podman.io/storage/pkg/lockfile"
	"golang.org/x/sys/unix"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// lockTimeout is how long others may hold the locks. CRI-O 1.34 does while it unpacks a layer: seconds, for the largest on
// a slow disk a minute.
const lockTimeout = 3 * time.Minute

// lock takes the library's locks in the order given. The library keeps one object for a path and a process, either for
// writing or not, so every lock is opened for writing where the disk allows it, and then taken for reading.
func lock(ctx context.Context, write bool, files ...string) (func(), error) {
	var held []*lockfile.LockFile
	release := func() {
		for n := len(held) - 1; n >= 0; n-- {
			held[n].Unlock()
		}
	}
	for _, file := range files {
		l, err := openLock(file)
		if err == nil {
			err = wait(ctx, l, write)
		}
		if err != nil {
			release()
			return nil, &problem.Problem{
				Code: "STR-LCK", Summary: message.F("The image store's lock %s is taken.", file),
				Fix: message.T("Wait until no podman, skopeo or CRI-O works on the images, then retry."), Err: err,
			}
		}
		held = append(held, l)
	}
	return release, nil
}

func openLock(file string) (*lockfile.LockFile, error) {
	l, err := lockfile.GetLockFile(file)
	if err == nil {
		return l, nil
	}
	// On a read-only mount; the second time the library only says that the lock is not for writing.
	if l, readOnly := lockfile.GetROLockFile(file); readOnly == nil {
		return l, nil
	}
	return nil, fmt.Errorf("opening the lock: %w", err)
}

// wait stands in line for the lock as the library does, in the kernel, so that others that come later do not overtake for
// ever. That can't be ended: what comes too late is given back.
func wait(ctx context.Context, l *lockfile.LockFile, write bool) error {
	if write && !l.IsReadWrite() {
		return fmt.Errorf("locking: %w", unix.EROFS)
	}
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	got := make(chan error)
	go func() {
		err := acquire(l, write)
		select {
		case got <- err:
		case <-ctx.Done():
			if err == nil {
				l.Unlock()
			}
		}
	}()
	select {
	case err := <-got:
		return err
	case <-ctx.Done():
		return fmt.Errorf("locking: %w", context.Cause(ctx))
	}
}

// acquire takes the lock. The library panics where it can't.
func acquire(l *lockfile.LockFile, write bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("locking: %v", r)
		}
	}()
	if write {
		l.Lock()
	} else {
		l.RLock()
	}
	return nil
}

// lockable makes sure that opening the locks makes or follows nothing outside of the store.
func (s *Store) lockable() error {
	for _, name := range []string{"", Overlay, layersDir, imagesDir, layersLock, imagesLock} {
		file := filepath.Join(s.Root, name)
		st, err := os.Lstat(file)
		isLock := name == layersLock || name == imagesLock
		if isLock && errors.Is(err, fs.ErrNotExist) {
			continue // the library makes it, and so does Open
		}
		if err != nil {
			return &problem.Problem{
				Code: "STR-MSNG", Summary: message.F("There is no image store at %s.", s.Root),
				Fix: message.T("Check that CRI-O has run on this node, and where its storage.conf puts its images."), Err: err,
			}
		}
		link := st.Mode()&fs.ModeSymlink != 0
		if isLock && !st.Mode().IsRegular() || !isLock && !st.IsDir() && (!link || name != "" && name != Overlay) {
			return refused(file, message.F("it is %v", st.Mode()), nil)
		}
	}
	return nil
}

// Locked calls f with both locks of the store held for writing, and with what the store holds under them. Afterwards
// other programs read the lists again.
func Locked(ctx context.Context, root string, f func(*Store) error) error {
	s := &Store{Root: root, byID: map[string]int{}}
	if err := s.lockable(); err != nil {
		return err
	}
	files := []string{filepath.Join(root, layersLock), filepath.Join(root, imagesLock)}
	unlock, err := lock(ctx, true, files...)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.read(); err != nil {
		return err
	}
	if err := f(s); err != nil {
		return err
	}
	for _, file := range files {
		l, err := lockfile.GetLockFile(file)
		if err != nil {
			return fmt.Errorf("opening the lock: %w", err)
		}
		if _, err := l.RecordWrite(); err != nil {
			return fmt.Errorf("telling others of the change: %w", err)
		}
	}
	return nil
}
