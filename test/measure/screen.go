package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// screen is a console on a terminal that never answers a query.
type screen struct {
	cmd *exec.Cmd
	tty *os.File

	mu   sync.Mutex
	got  []byte
	last time.Time // when the newest byte came
}

// openScreen starts a console on an 80x24 vt220, of 9600 baud when it is slow.
func openScreen(l *lab, slow bool) (*screen, error) {
	s := &screen{cmd: exec.Command(l.binary, "--socket", l.socket, "console")}
	s.cmd.Env = append(os.Environ(), "TERM=vt220", "NO_COLOR=", "LC_ALL=C")
	line, tty, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("making a line: %w", err)
	}
	defer tty.Close()
	err = pty.Setsize(line, &pty.Winsize{Rows: 24, Cols: 80})
	if slow {
		err = errors.Join(err, slowDown(int(tty.Fd())))
	}
	s.tty, s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = line, tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err = errors.Join(err, s.cmd.Start()); err != nil {
		_ = line.Close()
		return nil, fmt.Errorf("starting the console: %w", err)
	}
	go s.read()
	return s, nil
}

// slowDown gives a line 9600 baud. A pseudo terminal is as fast as before, but the console goes by what the line says.
func slowDown(fd int) error {
	state, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	state.Cflag = state.Cflag&^unix.CBAUD | unix.B9600
	return unix.IoctlSetTermios(fd, unix.TCSETS, state)
}

func (s *screen) read() {
	buf := make([]byte, 4096)
	for {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		s.got = append(s.got, buf[:n]...)
		s.last = time.Now()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) close() {
	_ = s.cmd.Process.Kill()
	_ = s.tty.Close()
	_ = s.cmd.Wait()
}

// pause is how long nothing has to come for an answer to be over.
const pause = 500 * time.Millisecond

// until waits for text on the line.
func (s *screen) until(text string, limit time.Duration) error {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		found := bytes.Contains(s.got, []byte(text))
		s.mu.Unlock()
		if found {
			return nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Errorf("%q did not show within %v; the console wrote:\n%q", text, limit, s.got)
}

// quiet waits until nothing has come for a while and returns the bytes so far.
func (s *screen) quiet(pause time.Duration) int {
	for {
		s.mu.Lock()
		silent, n := time.Since(s.last) > pause, len(s.got)
		s.mu.Unlock()
		if silent {
			return n
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// cost types keys and returns how many bytes the console answered with.
func (s *screen) cost(keys string) int {
	_, all := s.costs(keys)
	return all
}

// written is how many bytes have come.
func (s *screen) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

// costs types keys and returns how many bytes the console answered with: in its first answer, and in all. Where the first answer is the
// focus that moves, the rest is what is said of the field, which comes when no key has come for a while.
func (s *screen) costs(keys string) (first, all int) {
	before := s.quiet(pause)
	s.mu.Lock()
	s.last = time.Now()
	s.mu.Unlock()
	_, _ = s.tty.WriteString(keys) // a console that died shows as no bytes
	for end := time.Now().Add(pause); first == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		first = len(s.got) - before
		s.mu.Unlock()
	}
	return first, s.quiet(pause) - before
}
