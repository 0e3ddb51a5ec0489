package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// places limits the nodes that are on at once, over all processes that test: one for each processor, and two at least. A
// process has one place however many nodes it runs, and takes it before the lock of a prepared disk, so that nobody who has
// the one waits for somebody who has the other.
type places struct {
	mu    sync.Mutex
	users int
	file  *os.File
}

// ours is this process's place.
var ours places

// take waits for a place. The place is given back by as many calls of leave.
func (p *places) take(ctx context.Context, cache string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users > 0 {
		p.users++
		return nil
	}
	dir := filepath.Join(cache, "places")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of places: %w", err)
	}
	var broken error
	err := poll(ctx, "a place for a node among those that are on", func() bool {
		for n := range max(2, runtime.NumCPU()) {
			file, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(n)), os.O_CREATE|os.O_RDWR, 0o600)
			if err != nil {
				broken = fmt.Errorf("taking a place for a node: %w", err)
				return true
			}
			if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
				p.file, p.users = file, 1
				return true
			}
			_ = file.Close()
		}
		return false
	})
	if err != nil {
		return err
	}
	return broken
}

func (p *places) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users == 0 {
		_ = p.file.Close()
		p.file = nil
	}
}
