package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Confined is this program, started once more to read what may be hostile. It cannot get privileges, runs as nobody when this
// process is root's, and has none of our environment and files. Its command calls Confine before it reads anything.
type Confined struct {
	Args  []string      // words behind the program's name
	Input *os.File      // its standard input
	Most  int64         // bytes that it may write; with more it is killed
	Time  time.Duration // how long it may run
}

// ErrConfined is the error of a confined process that was stopped at one of its limits, or fell.
var ErrConfined = errors.New("the confined process was stopped")

// nobody is the user without rights of every Linux (the kernel's overflow user).
const nobody = 65534

// Run returns what the process wrote to its standard output.
func (c Confined) Run(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Time)
	defer cancel()
	out := &limited{left: c.Most, full: cancel}
	said := &limited{left: 4 << 10, full: func() {}}
	done := make(chan error, 1) // nobody may be there any more
	go func() {
		// What is set here belongs to one thread, and the process that this thread starts has it too. The thread is not used again: it
		// ends with this goroutine.
		runtime.LockOSThread()
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			done <- fmt.Errorf("giving up privileges: %w", err)
			return
		}
		done <- c.command(ctx, out, said).Run()
	}()
	err, ended := await(ctx, done, mercy)
	if !ended { // what it wrote may still be written to
		return nil, fmt.Errorf("%w: it cannot be ended, as the device that it reads does not answer: %w", ErrConfined, ctx.Err())
	}
	switch {
	case err == nil && !out.cut:
		return out.kept.Bytes(), nil
	case out.cut:
		err = fmt.Errorf("it wrote more than %d bytes", c.Most)
	case ctx.Err() != nil:
		err = fmt.Errorf("%w (%w)", ctx.Err(), err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(said.kept.String()), "\n")
	return nil, fmt.Errorf("%w: %w: %s", ErrConfined, err, first)
}

// mercy is how long Run waits for a process that is to end. One that waits in the kernel for a device cannot be killed.
const mercy = time.Second

// await waits for the end of a process, after that of ctx no longer than mercy.
func await(ctx context.Context, done <-chan error, mercy time.Duration) (err error, ended bool) {
	select {
	case err := <-done:
		return err, true
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err, true
	case <-time.After(mercy):
		return nil, false
	}
}

func (c Confined) command(ctx context.Context, out, said io.Writer) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", c.Args...)
	cmd.Args[0] = "touchdown"
	cmd.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=none"} // few threads: each counts as memory
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Input, out, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	cmd.WaitDelay = mercy / 2 // for what it wrote
	return cmd
}

// limited keeps what is written, up to a limit.
type limited struct {
	kept bytes.Buffer // not embedded: io.Copy would find its ReadFrom and pass the limit by
	left int64
	full func()
	cut  bool
}

// Write takes all that it is given, so that the process is not told that nobody listens.
func (l *limited) Write(b []byte) (int, error) {
	keep := b[:min(int64(len(b)), l.left)]
	l.left -= int64(len(keep))
	if len(keep) < len(b) && !l.cut {
		l.cut = true
		l.full()
	}
	_, _ = l.kept.Write(keep)
	return len(b), nil
}
