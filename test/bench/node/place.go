package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// takePlace waits for one of the places for nodes that are on at once, over all processes that test: one for each processor,
// and two at least. Closing the file gives the place back, and so does the end of the process.
func takePlace(ctx context.Context, cache string) (*os.File, error) {
	dir := filepath.Join(cache, "places")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of places: %w", err)
	}
	var taken *os.File
	var broken error
	err := poll(ctx, "a place for a node among those that are on", func() bool {
		for n := range max(2, runtime.NumCPU()) {
			file, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(n)), os.O_CREATE|os.O_RDWR, 0o600)
			if err != nil {
				broken = fmt.Errorf("taking a place for a node: %w", err)
				return true
			}
			if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
				taken = file
				return true
			}
			_ = file.Close()
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	return taken, broken
}
