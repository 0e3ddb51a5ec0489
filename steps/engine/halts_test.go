package engine

import (
	"errors"
	"testing"
	"time"

	"touchdown/backend/message"
	"touchdown/test/wait"
)

// TestANoteHoldsUpNoConsole: a disk that hangs while a stopped start is noted keeps nobody from the engine, and what a person stops meanwhile
// is noted at the next look. The sentence goes when all is noted.
func TestANoteHoldsUpNoConsole(t *testing.T) {
	r := newRig(t, newWorld())
	hangs, goes := make(chan struct{}), make(chan struct{})
	full := errors.New("no space left")
	later := full
	r.mu.Lock()
	r.core.notices[haltNotice] = message.T("It could not be noted.")
	r.core.unnoted["slow"] = func() error {
		close(hangs)
		<-goes
		return nil
	}
	r.mu.Unlock()
	noted := make(chan struct{})
	go func() {
		defer close(noted)
		noteHalts(r.Engine)
	}()
	<-hangs
	asked := make(chan error, 1)
	go func() {
		_, err := r.Snapshot(t.Context())
		r.mu.Lock()
		r.core.unnoted["later"] = func() error { return later }
		r.mu.Unlock()
		asked <- err
	}()
	select {
	case err := <-asked:
		must(t, err)
	case <-time.After(wait.Timeout(10 * time.Second)):
		t.Error("the engine waits for the disk")
	}
	close(goes)
	<-noted
	left := func() (int, bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		_, said := r.core.notices[haltNotice]
		return len(r.core.unnoted), said
	}
	if n, said := left(); n != 1 || !said {
		t.Errorf("%d are not noted, told %t", n, said)
	}
	noteHalts(r.Engine)
	later = nil
	if n, said := left(); n != 1 || !said {
		t.Errorf("on a full disk: %d are not noted, told %t", n, said)
	}
	noteHalts(r.Engine)
	if n, said := left(); n != 0 || said {
		t.Errorf("%d are not noted, told %t", n, said)
	}
}
