package bmc

import (
	"io"
	"net"
	"testing"

	"touchdown/test/bench/node"
	"touchdown/test/bench/person"
)

// TestSessionThatDrops has a line again whose connection was lost.
func TestSessionThatDrops(t *testing.T) {
	node.Require(t, Able())
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
	p.Drop(s)
	technician.Move(p.Activate())
	technician.Shows("SOL Session operational")
	say("behind\r\n")
	technician.Shows("behind")
}
