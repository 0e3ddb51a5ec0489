package host

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vishvananda/netns"
)

// ErrSameNetwork is what InNetwork returns for a namespace that is the node's own.
var ErrSameNetwork = errors.New("it is the node's own network")

// InNetwork calls f on a thread that is in the network namespace at path, and returns what f returns. Nothing was called if it was
// not entered: because it is gone, the process may not, or it is the namespace own. A thread that cannot come back ends with its
// goroutine.
func InNetwork(path string, own netns.NsHandle, f func() error) (entered bool, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		home, failed := netns.Get()
		if failed != nil {
			err = fmt.Errorf("finding the node's own network: %w", failed)
			return
		}
		defer func() { _ = home.Close() }()
		other, failed := netns.GetFromPath(path)
		if failed != nil {
			err = fmt.Errorf("opening the network %s: %w", path, failed)
			return
		}
		defer func() { _ = other.Close() }()
		if other.Equal(own) {
			err = ErrSameNetwork
			return
		}
		if failed = netns.Set(other); failed != nil {
			err = fmt.Errorf("entering the network %s: %w", path, failed)
			return
		}
		entered, err = true, f()
		if netns.Set(home) == nil {
			runtime.UnlockOSThread()
		}
	}()
	<-done
	return entered, err
}
