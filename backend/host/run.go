package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"touchdown/backend/value"
)

// Command is one command, for what Run's list of words cannot say.
type Command struct {
	Argv    []string
	Stdin   []byte
	Secrets []string // values masked wherever the command is shown
	Tail    int      // bytes of output that are kept, the last ones; 0: all
}

// Exec carries out a command without any shell and returns what it wrote to stdout and, in order, to both
// stdout and stderr.
type Exec func(ctx context.Context, c Command) (stdout, both []byte, err error)

// RunError is a command that failed.
type RunError struct {
	Argv   []string // secrets masked
	Output []string // its last 20 lines, secrets masked
	Err    error
}

// Error names the command and why it failed, with the last line that it wrote.
func (e *RunError) Error() string {
	text := fmt.Sprintf("running %s: %v", strings.Join(e.Argv, " "), e.Err)
	if n := len(e.Output); n > 0 {
		text += ": " + e.Output[n-1]
	}
	return text
}

// Unwrap returns the cause.
func (e *RunError) Unwrap() error { return e.Err }

// NotInstalled reports whether a command failed because the machine has no such program.
func NotInstalled(err error) bool { return errors.Is(err, exec.ErrNotFound) }

// Run runs a command, without a shell, until it ends or ctx does, and returns what it wrote to stdout.
// It fails with a *RunError.
func (m *Machine) Run(ctx context.Context, argv ...string) (string, error) {
	return m.RunCommand(ctx, Command{Argv: argv})
}

// RunCommand is Run with input and secrets.
func (m *Machine) RunCommand(ctx context.Context, c Command) (string, error) {
	if len(c.Argv) == 0 {
		return "", &RunError{Err: errors.New("no command given")}
	}
	began := time.Now()
	stdout, both, err := m.exec(ctx, c)
	// A command killed because its time was up reports only the signal.
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	shown := maskArgv(c)
	attrs := []any{"argv", shown, "took", time.Since(began).Round(time.Millisecond).String()}
	if err == nil {
		m.log.Info("ran", attrs...)
		return string(stdout), nil
	}
	m.log.Warn("this command failed:", append(attrs, "err", err.Error())...)
	return string(stdout), &RunError{Argv: shown, Output: lastLines(value.Mask(string(both), c.Secrets, Masked), 20), Err: err}
}

// start runs a real process.
func start(ctx context.Context, c Command) (stdout, both []byte, err error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	// Parsers and people looking for a message both want the same words everywhere.
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "SYSTEMD_PAGER=", "SYSTEMD_COLORS=0")
	cmd.Stdin = bytes.NewReader(c.Stdin)
	// Its own process group, so that the end of ctx ends the children too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, all := &tail{limit: c.Tail}, &tail{limit: c.Tail}
	shared := &lockedWriter{w: all}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(out, shared), shared
	err = cmd.Run()
	return out.last(), all.last(), err
}

// tail keeps the end of what is written, so that a command which never stops talking does not fill the memory.
type tail struct {
	bytes.Buffer
	limit int
}

func (t *tail) Write(b []byte) (int, error) {
	n, err := t.Buffer.Write(b)
	if t.limit > 0 && t.Len() > 2*t.limit {
		t.Next(t.Len() - t.limit)
	}
	return n, err
}

func (t *tail) last() []byte {
	if t.limit > 0 && t.Len() > t.limit {
		t.Next(t.Len() - t.limit)
	}
	return t.Bytes()
}

// lockedWriter lets stdout and stderr be copied into one buffer.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// lastLines returns the last n lines that are not empty.
func lastLines(text string, n int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-n):]
}
