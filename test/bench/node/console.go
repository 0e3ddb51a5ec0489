package node

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/creack/pty"
)

// scrollback bounds what a line keeps for a reader that is late. A serial line has no flow control: what nobody reads is lost.
const scrollback = 256 << 10

// Line is the far end of one of the node's consoles, as a monitor or a terminal server has it. It outlives reboots.
type Line struct {
	master, slave *os.File
	in, out       pace

	mu     sync.Mutex
	filled *sync.Cond
	buffer []byte
	closed bool
}

var _ io.ReadWriteCloser = (*Line)(nil)

// newLine makes a line that lets so many bits a second through, as a serial line does; 0: as many as come.
func newLine(baud int) (*Line, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("making a console line: %w", err)
	}
	// The slave stays open: with no program on it the line would otherwise end.
	l := &Line{master: master, slave: slave, in: pace{baud: baud}, out: pace{baud: baud}}
	l.filled = sync.NewCond(&l.mu)
	go l.drain()
	return l, nil
}

func (l *Line) drain() {
	chunk := make([]byte, l.out.chunk(4096))
	for {
		n, err := l.master.Read(chunk)
		l.out.passed(n)
		l.mu.Lock()
		l.buffer = append(l.buffer, chunk[:n]...)
		if over := len(l.buffer) - scrollback; over > 0 {
			l.buffer = append(l.buffer[:0], l.buffer[over:]...)
		}
		l.closed = l.closed || err != nil
		l.filled.Broadcast()
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Read returns what the node wrote and nobody has read yet, and waits for it where there is nothing.
func (l *Line) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.buffer) == 0 {
		if l.closed {
			return 0, io.EOF
		}
		l.filled.Wait()
	}
	n := copy(p, l.buffer)
	l.buffer = append(l.buffer[:0], l.buffer[n:]...)
	return n, nil
}

// Forget throws away what the node wrote and nobody has read yet.
func (l *Line) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buffer = l.buffer[:0]
}

// unread is what the node wrote and nobody has read yet.
func (l *Line) unread() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.buffer)
}

// Write types.
func (l *Line) Write(p []byte) (typed int, err error) {
	for typed < len(p) {
		n, err := l.master.Write(p[typed:min(typed+l.in.chunk(len(p)), len(p))])
		typed += n
		if err != nil {
			return typed, fmt.Errorf("typing at the console: %w", err)
		}
		l.in.passed(n)
	}
	return typed, nil
}

// pace is how fast one direction of a line lets bytes through: a start bit, eight of data and a stop bit each. What waits
// stays in the kernel, which keeps 8 KiB of a pseudo terminal and 4 of a serial port; after that the writer waits.
type pace struct {
	baud int
	free time.Time // when the line has let through all that passed
}

// chunk is how much may pass at once: what a slow line does in a fiftieth of a second, or most.
func (p *pace) chunk(most int) int {
	if p.baud == 0 {
		return most
	}
	return max(p.baud/bitsOfByte/50, 1)
}

// passed waits for as long as n bytes take.
func (p *pace) passed(n int) {
	if p.baud == 0 {
		return
	}
	if now := time.Now(); p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(n*bitsOfByte) * time.Second / time.Duration(p.baud)) // the rate of the line
	time.Sleep(time.Until(p.free))
}

const bitsOfByte = 10

// Resize sets the size that programs on the console see. A new line has the size 0x0, as a serial line does.
func (l *Line) Resize(columns, rows int) error {
	if err := pty.Setsize(l.master, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		return fmt.Errorf("resizing the console: %w", err)
	}
	return nil
}

// Close ends the line: readers get the end, the node an error.
func (l *Line) Close() error {
	l.mu.Lock()
	l.closed = true
	l.filled.Broadcast()
	l.mu.Unlock()
	_ = l.slave.Close()
	if err := l.master.Close(); err != nil {
		return fmt.Errorf("closing a console line: %w", err)
	}
	return nil
}
