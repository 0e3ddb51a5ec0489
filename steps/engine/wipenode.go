package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
)

// wipeMark is in a state folder from the moment at which all that is in it is given up until nothing else is left.
const wipeMark = "wipe-under-way"

// WipeBegun tells whether a power cut came into WipeAll: an engine that starts has to call it again before it reads any record.
func WipeBegun(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, wipeMark))
	return err == nil
}

// WipeAll overwrites and removes everything that Touchdown keeps in a state folder, of the site and of the bench line: secrets first; the
// record of what install laid stays, without which uninstall could not take it away. It
// needs an engine that has ended, and, without giveUp, a job of which nothing can be undone. Where it was cut off, by a power cut or
// with ctx, the next call goes on.
func WipeAll(ctx context.Context, dir string, giveUp bool) (err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !giveUp && !WipeBegun(dir) {
		if err := mayBeWiped(dir); err != nil {
			return err
		}
	}
	for _, of := range []string{dir, filepath.Join(dir, layout.FactoryFolder)} {
		if _, err := os.Stat(of); err != nil {
			continue
		}
		lock, err := takeLock(filepath.Join(of, "lock"))
		if err != nil {
			return err
		}
		defer lock.Close()
	}
	if !WipeBegun(dir) { // a full disk takes no second one
		if err := host.WriteFileAtomic(filepath.Join(dir, wipeMark), []byte("touchdown wipe\n"), 0o600); err != nil {
			return fmt.Errorf("noting that all is wiped: %w", err)
		}
	}
	for _, name := range []string{"secrets", "saved", filepath.Base(layout.Media), filepath.Base(layout.Outbox), filepath.Base(layout.ReportKey), filepath.Base(layout.ClusterBackup)} {
		if err := wipeTree(ctx, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := emptyFolder(ctx, dir, wipeMark, "lock", filepath.Base(layout.Installed)); err != nil {
		return err
	}
	for _, name := range []string{"lock", wipeMark} { // the mark last: what is left has no records
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("emptying the state folder: %w", err)
		}
	}
	return host.SyncDir(dir)
}

// mayBeWiped fails where a job could still be undone with what is wiped. A folder in which there never was a job is wiped, too.
func mayBeWiped(dir string) error {
	s, err := openFolder(dir)
	if err != nil {
		return err
	}
	err = mayGoAside(s)
	if err != nil && problem.From(err).Code == "FAC-NEW" {
		err = nil
	}
	return errors.Join(err, s.close())
}

// emptyFolder wipes and removes what is in a folder, but for the files that are kept.
func emptyFolder(ctx context.Context, dir string, kept ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("emptying the state folder: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if slices.Contains(kept, entry.Name()) {
			continue
		}
		if err := wipeTree(ctx, path); err != nil {
			return err
		}
		// Folders, which are empty by now. One in which something is mounted cannot go, and must not hold up the wipe for ever.
		if err := os.RemoveAll(path); err != nil && !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("emptying the state folder: %w", err)
		}
	}
	return nil
}
