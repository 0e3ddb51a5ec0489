package bmc

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"touchdown/test/bench/node"
	"touchdown/test/bench/person"
)

// TestSessionThatDrops has a line again whose connection was lost. The lock of the line has a name that no other line has, and
// is gone in the end.
func TestSessionThatDrops(t *testing.T) {
	node.Require(t, Able())
	locked := func() int {
		found, err := filepath.Glob(filepath.Join(locks, fmt.Sprintf("LCK..bmc-%d-*", os.Getpid())))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	t.Cleanup(func() {
		if n := locked(); n != 0 {
			t.Errorf("%d locks stayed in %s", n, locks)
		}
	})
	far, line := net.Pipe()
	t.Cleanup(func() { far.Close(); line.Close() })
	p := Start(t, line)
	say := func(text string) {
		t.Helper()
		if _, err := io.WriteString(far, text); err != nil {
			t.Fatal(err)
		}
	}
	s := p.Activate()
	technician := person.Sit(t, s)
	technician.Shows("SOL Session operational")
	say("before\r\n")
	technician.Shows("before")
	if n := locked(); n != 1 {
		t.Errorf("%d locks in %s, want one for the open line", n, locks)
	}
	p.Drop(s)
	technician.Move(p.Activate())
	technician.Shows("SOL Session operational")
	say("behind\r\n")
	technician.Shows("behind")
}
