package tui

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// interrupt ends a line at which Ctrl-C was pressed.
const interrupt = "\x03"

// flowKeys are Ctrl-Q and Ctrl-S, with which a terminal starts and stops what is written to it.
const flowKeys = "\x11\x13"

// lineReader reads a terminal that gives whole lines, until its input is closed: another reader of the terminal can follow it.
type lineReader struct{ input *input }

// Read returns a line, or a part of one. A line that Ctrl-C ended ends like any other. Ctrl-Q and Ctrl-S are part of no answer.
func (r lineReader) Read(p []byte) (int, error) {
	if len(p) < 2 {
		return 0, io.ErrShortBuffer
	}
	n, err := r.input.read(p[:len(p)-1], -1)
	if errors.Is(err, errStopped) {
		err = io.EOF
	}
	n = len(slices.DeleteFunc(p[:n], func(b byte) bool { return strings.IndexByte(flowKeys, b) >= 0 }))
	if n > 0 && p[n-1] == interrupt[0] {
		p[n] = '\n'
		n++
	}
	return n, err
}

// wholeLines has a terminal give whole lines, and Ctrl-C end one instead of the program: what it means is asked. What it returns
// puts the terminal back.
//
// Ctrl-S stops nothing, as on the screens: pressed by habit, or one byte of noise, it would stop the line until a person knows that
// Ctrl-Q starts it again, and Ctrl-C would not help. IXANY would give it back with any key, but an unattended line has none. On a line
// with software flow control a terminal that cannot keep up loses text, as it loses what the kernel prints; IXOFF stays unchanged, because
// it holds back only the terminal.
func wholeLines(f *os.File) (back func()) {
	was, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return func() {}
	}
	now := *was
	now.Lflag |= unix.ICANON | unix.ECHO | unix.ISIG
	now.Iflag = now.Iflag&^unix.IXON | unix.ICRNL
	now.Oflag |= unix.OPOST
	now.Cc[unix.VINTR], now.Cc[unix.VEOL] = 0, interrupt[0] // 0: no character does it
	_ = unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, &now)
	return func() { _ = unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, was) }
}
