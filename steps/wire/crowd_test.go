package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"touchdown/steps/event"
	"touchdown/test/wait"
)

// TestCrowdOfManyProcesses: a burst never has more than there may be, and ends connections of the process that has the most, not a console's.
func TestCrowdOfManyProcesses(t *testing.T) {
	who := 0
	c := &crowd{of: func(net.Conn) int { return who }, by: map[int]int{}}
	in := func(as int) *member {
		who = as
		near, other := net.Pipe()
		t.Cleanup(func() { other.Close() })
		return c.join(near)
	}
	const consoles, greedy = 3, 20
	for range consoles {
		in(1)
	}
	for n := range mostOfAll - consoles {
		in(100 + n%greedy)
	}
	for n := range mostOfAll / 2 {
		late := in(1000 + n)
		if now := c.open.Len(); late == nil || now > mostOfAll {
			t.Fatalf("there are %d connections, the latest %v", now, late)
		}
	}
	if c.open.Len() != mostOfAll || c.by[1] != consoles {
		t.Errorf("%d connections, %d of the console", c.open.Len(), c.by[1])
	}
	for c.open.Len() > 0 {
		m, _ := c.open.Front().Value.(*member)
		m.Close()
		m.Close()
	}
	if len(c.by) != 0 {
		t.Errorf("all ended, and %v are counted", c.by)
	}
}

// TestAQuietStreamEnds as every other does: its end reaches the client, though nothing was written for longer than a client may take to read.
func TestAQuietStreamEnds(t *testing.T) {
	const stream = 50 * time.Millisecond
	engine := &told{events: func(_ context.Context, each func([]event.Event) error) error {
		err := each([]event.Event{{Seq: 1}})
		time.Sleep(4 * stream)
		return err
	}}
	path := servedWith(t, engine, limits{requestTime, stream, process})
	ctx, stop := context.WithTimeout(t.Context(), wait.Timeout(10*time.Second))
	defer stop()
	err := Dial(path).Events(ctx, "", 0, func([]event.Event) error { return nil })
	if !errors.Is(err, io.EOF) {
		t.Errorf("it ended with %v", err)
	}
}
