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
			_, _ = f.Write(make([]byte, info.Size()))
			_ = f.Sync()
			_ = f.Close()
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("wiping %s: %w", path, err)
	}
	return SyncDir(filepath.Dir(path))
}
