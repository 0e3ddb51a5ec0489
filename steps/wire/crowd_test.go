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

// TestAClientThatLeaksIsServed: a process that makes a client for each question, as a script that polls does, is answered each time, and
// its stream of events goes on meanwhile.
func TestAClientThatLeaksIsServed(t *testing.T) {
	over := make(chan struct{})
	engine := &told{set: func(string, string) error { return nil }, events: func(_ context.Context, each func([]event.Event) error) error {
		err := each([]event.Event{{Seq: 1}})
		<-over
		return errors.Join(err, each([]event.Event{{Seq: 2}}))
	}}
	path := servedWith(t, engine, limits{requestTime, streamTime, process})
	heard := make(chan uint64, 2)
	go func() {
		_ = Dial(path).Events(t.Context(), "", 0, func(es []event.Event) error {
			heard <- es[0].Seq
			return nil
		})
		close(heard)
	}()
	first := <-heard
	for n := range 3 * mostOfOne {
		if err := Dial(path).Set(t.Context(), "", "spec.clusterName", "a"); err != nil {
			t.Fatalf("question %d: %v", n, err)
		}
	}
	close(over)
	if second := <-heard; first != 1 || second != 2 {
		t.Errorf("the stream brought events %d and %d", first, second)
	}
}

// TestAQuietStreamEnds as every other does: its end reaches the client, though nothing was written for longer than a client may take to read.
func TestAQuietStreamEnds(t *testing.T) {
	const stream = 500 * time.Millisecond
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
