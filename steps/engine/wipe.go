package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"touchdown/backend/host"
)

// wipeSaved removes all originals.
func (s *stateFolder) wipeSaved() error { return s.wipeFolder("saved") }

// wipeSecrets removes the secrets kept on disk.
func (s *stateFolder) wipeSecrets() error { return s.wipeFolder("secrets") }

// wipeFolder wipes although the checksums cannot be written: the next engine knows from the journal that nothing is to be there.
func (s *stateFolder) wipeFolder(name string) error {
	if len(s.names(name)) > 0 {
		_ = s.sums.gone(name + "/")
	}
	return wipeTree(context.Background(), s.path(name))
}

// wipeTree overwrites and removes every file below dir; dir itself stays. It ends between two files when ctx does: each is synced, and on
// a busy disk thousands take longer than systemd gives an engine to stop.
func wipeTree(ctx context.Context, dir string) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || (err == nil && d.IsDir()) {
			return nil
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		return host.Wipe(ctx, path)
	})
	if err != nil {
		return fmt.Errorf("wiping %s: %w", dir, err)
	}
	return nil
}

// Purge removes a state folder with all that an engine kept in it, overwritten where that helps. An engine that lives keeps
// its folder.
func Purge(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := takeLock(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := wipeTree(context.Background(), dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing the state folder: %w", err)
	}
	return nil
}
