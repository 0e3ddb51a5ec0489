package tui

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// joinWait is how long the bytes of one key may be apart. Service processors pass them on one by one.
const joinWait = 200 * time.Millisecond

// joiner reads a terminal so that an escape sequence comes out of one Read, however slowly it comes in. It calls hung
// when the line hangs up: that is normal on a serial line, and Bubble Tea would wait for ever.
type joiner struct {
	in         *os.File
	stopR      *os.File
	stopW      *os.File
	hung       func()
	escTimeout time.Duration
}

func newJoiner(in *os.File, hung func()) (*joiner, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &joiner{in: in, stopR: r, stopW: w, hung: hung, escTimeout: joinWait}, nil
}

// Close ends a Read that waits. The terminal stays open.
func (j *joiner) Close() error { return j.stopW.Close() }

// Read returns at least one byte, and no part of an escape sequence as long as its bytes keep coming.
func (j *joiner) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := j.read(p, -1)
	for err == nil && n < len(p) && unfinished(p[:n]) {
		var more int
		more, err = j.read(p[n:], j.escTimeout)
		if more == 0 && err == nil {
			break
		}
		n += more
	}
	if n > 0 {
		return n, nil
	}
	return 0, err
}

// read waits for input as long as it takes when wait is negative; after wait it returns 0 bytes.
func (j *joiner) read(p []byte, wait time.Duration) (int, error) {
	ms := -1
	if wait >= 0 {
		ms = int(wait / time.Millisecond)
	}
	fds := []unix.PollFd{
		{Fd: int32(j.in.Fd()), Events: unix.POLLIN},
		{Fd: int32(j.stopR.Fd()), Events: unix.POLLIN},
	}
	for {
		n, err := unix.Poll(fds, ms)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if n == 0 {
			return 0, nil
		}
		if fds[1].Revents != 0 {
			return 0, io.EOF
		}
		got, err := unix.Read(int(j.in.Fd()), p)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case err != nil || got == 0:
			j.hung()
			return 0, io.EOF
		}
		return got, nil
	}
}

// unfinished reports whether b ends inside an escape sequence.
func unfinished(b []byte) bool {
	for i := len(b) - 1; i >= 0 && i >= len(b)-16; i-- {
		if b[i] != 0x1b {
			continue
		}
		return !complete(b[i+1:])
	}
	return false
}

// complete reports whether what follows ESC is a whole key: ESC x, ESC O x, ESC [ ... x.
func complete(b []byte) bool {
	switch {
	case len(b) == 0:
		return false
	case b[0] == 'O':
		return len(b) > 1
	case b[0] != '[':
		return true
	}
	if len(b) > 1 && b[1] == '[' { // the kernel console's F1 to F5: ESC [ [ A
		return len(b) > 2
	}
	for _, c := range b[1:] {
		if c >= 0x40 && c <= 0x7e {
			return true
		}
	}
	return false
}
