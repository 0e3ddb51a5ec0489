package kernel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"

	"touchdown/test/bench/kernel/talk"
	"touchdown/test/wait"
)

var errOff = errors.New("the guest is off")

// line is the connection to the agent in the guest. It outlives reboots.
type line struct {
	conn net.Conn

	mu      sync.Mutex
	last    int
	waiting map[int]chan talk.Answer
	boot    string        // the one that takes orders
	changed chan struct{} // closed when boot changes
}

func newLine(conn net.Conn) *line {
	l := &line{conn: conn, waiting: map[int]chan talk.Answer{}, changed: make(chan struct{})}
	go l.listen()
	return l
}

func (l *line) listen() {
	defer l.drop()
	lines := bufio.NewReader(l.conn)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var a talk.Answer
		if json.Unmarshal(text, &a) != nil {
			continue // empty, or what a boot that ended did not get out
		}
		if a.Boot != "" {
			l.drop()
			l.mu.Lock()
			l.boot = a.Boot
			close(l.changed)
			l.changed = make(chan struct{})
			l.mu.Unlock()
			continue
		}
		l.mu.Lock()
		if c := l.waiting[a.ID]; c != nil {
			c <- a
			delete(l.waiting, a.ID)
		}
		l.mu.Unlock()
	}
}

// drop ends the orders that a boot, or the guest, took with it.
func (l *line) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, c := range l.waiting {
		close(c)
		delete(l.waiting, id)
	}
}

func (l *line) close() { _ = l.conn.Close() }

// booted waits until another boot than the one with that id takes orders.
func (l *line) booted(ctx context.Context, before string) error {
	for {
		l.mu.Lock()
		boot, changed := l.boot, l.changed
		l.mu.Unlock()
		if boot != before {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the guest to boot: %w", context.Cause(ctx))
		}
	}
}

func (l *line) order(ctx context.Context, o talk.Order) (talk.Answer, error) {
	result := make(chan talk.Answer, 1)
	l.mu.Lock()
	l.last++
	o.ID = l.last
	text, err := json.Marshal(o)
	if err == nil {
		l.waiting[o.ID] = result
		_, err = l.conn.Write(append(text, '\n'))
	}
	l.mu.Unlock()
	if err != nil {
		return talk.Answer{}, fmt.Errorf("giving the guest an order: %w", err)
	}
	select {
	case a, ok := <-result:
		if !ok {
			return a, errors.New("the guest went off over it")
		}
		return a, nil
	case <-ctx.Done():
		return talk.Answer{}, fmt.Errorf("waiting for the guest's answer: %w", context.Cause(ctx))
	}
}

func (g *Guest) on() (*line, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.line == nil {
		return nil, errOff
	}
	return g.line, nil
}

// Run runs a program in the guest as root, and returns what it wrote to both outputs, and its exit code.
func (g *Guest) Run(ctx context.Context, argv ...string) (out string, code int, err error) {
	return g.run(ctx, talk.Order{Argv: argv})
}

func (g *Guest) run(ctx context.Context, o talk.Order) (out string, code int, err error) {
	l, err := g.on()
	if err != nil {
		return "", 0, fmt.Errorf("running %s in the guest: %w", o.Argv[0], err)
	}
	a, err := l.order(ctx, o)
	if err != nil {
		return "", 0, fmt.Errorf("running %s in the guest: %w", strings.Join(o.Argv, " "), err)
	}
	return string(a.Out) + string(a.Complaint), a.Code, nil
}

// Shell runs a script in the guest that has to succeed.
func (g *Guest) Shell(ctx context.Context, script string) (string, error) {
	out, code, err := g.Run(ctx, "bash", "-c", script)
	if err == nil && code != 0 {
		err = fmt.Errorf("in the guest: %s: exit %d: %s", script, code, out)
	}
	return out, err
}

// Wait repeats a script in the guest until it succeeds.
func (g *Guest) Wait(ctx context.Context, script string) error {
	return wait.For(ctx, strconv.Quote(script), func(ctx context.Context) error {
		_, err := g.Shell(ctx, script)
		return err
	})
}

// WriteFile writes a file of the guest.
func (g *Guest) WriteFile(ctx context.Context, name string, data []byte, mode os.FileMode) error {
	const script = `cat > "$1" && chmod "$2" "$1" && sync "$1"`
	out, code, err := g.run(ctx, talk.Order{Argv: []string{"bash", "-c", script, "write", name, strconv.FormatUint(uint64(mode.Perm()), 8)}, Stdin: data})
	if err == nil && code != 0 {
		err = fmt.Errorf("writing %s of the guest: %s", name, out)
	}
	return err
}
