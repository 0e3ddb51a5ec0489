package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// wipedAtOnce is how many bytes Wipe overwrites, syncs and cuts off before it looks whether it is to end. Chosen: a slow disk of 10 MB/s
// writes them in 3 s, and systemd gives an engine 20 to stop (TimeoutStopSec in touchdown-engine.service).
const wipedAtOnce = 32 << 20

// Wipe overwrites a file before it removes it. One that is not there is fine. On a journaling or copy-on-write disk old blocks may stay, so
// this is care, not a promise. A backup of the cluster has gigabytes: the file is overwritten and cut off from its end, so that ctx can end
// this in the middle, and the next call goes on with what is left.
func Wipe(ctx context.Context, path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		if err := overwrite(ctx, path, info.Size()); err != nil {
			return fmt.Errorf("wiping %s: %w", path, err)
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("wiping %s: %w", path, err)
	}
	return SyncDir(filepath.Dir(path))
}

// overwrite fails only where ctx ends: a file that cannot be written is removed all the same.
func overwrite(ctx context.Context, path string, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	zeros := make([]byte, min(1<<20, size))
	for size > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := (size - 1) / wipedAtOnce * wipedAtOnce
		for at := from; at < size; at += int64(len(zeros)) {
			if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
				return nil
			}
		}
		if f.Sync() != nil || from > 0 && f.Truncate(from) != nil {
			return nil
		}
		size = from
	}
	return nil
}
