package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Wipe overwrites a file before it removes it. One that is not there is fine. On a journaling or copy-on-write disk old blocks may stay, so
// this is care, not a promise.
func Wipe(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			zeros := make([]byte, 1<<20) // a backup of the cluster has gigabytes
			for left := info.Size(); left > 0; left -= int64(len(zeros)) {
				if _, err := f.Write(zeros[:min(left, int64(len(zeros)))]); err != nil {
					break
				}
			}
			_ = f.Sync()
			_ = f.Close()
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("wiping %s: %w", path, err)
	}
	return SyncDir(filepath.Dir(path))
}
