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

// Confined is this program, started once more to read what may be hostile. It cannot get privileges and has none of our
// environment and files. Where this process is root's it runs as nobody; where root may not change users, as the engine of a node
// may not, it stays root without any capability. Its command calls Confine before it reads anything.
type Confined struct {
	Args  []string      // words behind the program's name
	Input *os.File      // its standard input
	Order *os.File      // nil, or what else it reads, as its file 3
	Most  int64         // bytes that it may write; with more it is killed
	Large bool          // it is about to write nearly that much: there is room for it at once, since a buffer that grows takes three times as much
	Time  time.Duration // how long it may run
}

// errConfined is the error of a confined process that was stopped at one of its limits, or fell.
var errConfined = errors.New("the confined process was stopped")

// nobody is the user without rights of every Linux (the kernel's overflow user).
const nobody = 65534

// Run returns what the process wrote to its standard output.
func (c Confined) Run(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Time)
	defer cancel()
	out := &limited{left: c.Most, full: cancel}
	if c.Large {
		out.kept.Grow(int(c.Most))
	}
	said := &limited{left: 4 << 10, full: func() {}}
	done := make(chan error, 1) // nobody may be there any more
	go func() {
		// What is set here belongs to one thread, and the process that this thread starts has it too. The thread is not used again: it
		// ends with this goroutine.
		runtime.LockOSThread()
		cmd := c.command(ctx, out, said)
		err := giveUp(cmd.SysProcAttr)
		if err == nil {
			err = cmd.Run()
		}
		done <- err
	}()
	err, ended := await(ctx, done, mercy)
	if !ended { // what it wrote may still be written to
		return nil, fmt.Errorf("%w: it cannot be ended, as the device that it reads does not answer: %w", errConfined, ctx.Err())
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
	return nil, fmt.Errorf("%w: %w: %s", errConfined, err, first)
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
	if c.Order != nil {
		cmd.ExtraFiles = []*os.File{c.Order}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Input, out, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = mercy / 2 // for what it wrote
	return cmd
}

// needed are the capabilities of a process that starts another one as nobody, and can end it.
const needed = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID | 1<<unix.CAP_KILL

// giveUp has what this thread starts have no privileges, and get none: as nobody where the thread may do that, else with the
// thread's own user and without its capabilities, which execve gives nobody back (the kernel's cap_bprm_creds_from_file, after
// PR_SET_NO_NEW_PRIVS). A process of root's that may not change users could not end one of nobody's either.
func giveUp(of *syscall.SysProcAttr) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up privileges: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has, none [2]unix.CapUserData // 64 capabilities, 32 in each
	if err := unix.Capget(&header, &has[0]); err != nil {
		return fmt.Errorf("asking for capabilities: %w", err)
	}
	if os.Geteuid() == 0 && has[0].Effective&needed == needed {
		of.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		return nil
	}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	return nil
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
