// Package hosttest is a machine for tests: a temporary directory as its root, scripted commands, a disk that
// can fill up, a boot id that can change. It can never touch the machine that the tests run on.
package hosttest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"touchdown/backend/host"
)

// Fake records what is asked of its Machine and answers as it was told.
type Fake struct {
	*host.Machine

	t       testing.TB
	mu      sync.Mutex
	calls   []string
	answers []answer
	room    int // bytes that fit on the disk; -1: any
	boots   int
	moved   time.Duration
	stuck   error
	onWrite func(path string) error
}

type answer struct {
	prefix string
	reply  func(argv []string, stdin []byte) (string, error)
}

// New returns a machine with an empty disk, the boot id "boot-1" and the host name "node". Each command works
// and says nothing until On tells otherwise. Reboot changes the boot id.
func New(t testing.TB) *Fake {
	f := &Fake{t: t, room: -1}
	f.Machine = host.Open(host.Options{
		Root:  t.TempDir(),
		Log:   slog.New(slog.DiscardHandler),
		Exec:  f.exec,
		Write: f.write,
		Clock: f.clock,
	})
	f.Boot()
	f.File("/proc/sys/kernel/hostname", "node\n")
	return f
}

// File puts a file on the machine's disk, however full that is.
func (f *Fake) File(path, content string) {
	f.t.Helper()
	full := f.Path(path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// Content returns what a file holds, "" when there is none.
func (f *Fake) Content(path string) string {
	b, _ := os.ReadFile(f.Path(path))
	return string(b)
}

// On answers commands that begin with prefix ("nmcli connection up"). The latest On that matches wins.
func (f *Fake) On(prefix, output string, err error) {
	f.OnFunc(prefix, func([]string, []byte) (string, error) { return output, err })
}

// OnFunc is On with an answer that is worked out.
func (f *Fake) OnFunc(prefix string, reply func(argv []string, stdin []byte) (string, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers = append(f.answers, answer{prefix, reply})
}

// Calls returns the commands so far, each as one line.
func (f *Fake) Calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Forget empties the record of calls.
func (f *Fake) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = nil
}

// Fill leaves room for n more bytes on the disk; a negative n empties it.
func (f *Fake) Fill(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room = n
}

// OnWrite calls do before each file that the machine writes; an error of do is the disk's.
func (f *Fake) OnWrite(do func(path string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onWrite = do
}

// Boot gives the machine a new boot id, as a reboot does.
func (f *Fake) Boot() {
	f.mu.Lock()
	f.boots++
	id := fmt.Sprintf("boot-%d\n", f.boots)
	f.mu.Unlock()
	f.File("/proc/sys/kernel/random/boot_id", id)
}

// Moved tells by how much the clock was moved in all.
func (f *Fake) Moved() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.moved
}

// StickClock lets moving the clock fail from now on.
func (f *Fake) StickClock(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stuck = err
}

func (f *Fake) clock(ahead time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stuck == nil {
		f.moved += ahead
	}
	return f.stuck
}

func (f *Fake) exec(ctx context.Context, c host.Command) (stdout, both []byte, err error) {
	line := strings.Join(c.Argv, " ")
	f.mu.Lock()
	f.calls = append(f.calls, line)
	var reply func([]string, []byte) (string, error)
	for _, a := range f.answers {
		if line == a.prefix || strings.HasPrefix(line, a.prefix+" ") {
			reply = a.reply
		}
	}
	f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("the command was not begun: %w", err)
	}
	if reply != nil {
		out, err := reply(c.Argv, c.Stdin)
		return []byte(out), []byte(out), err
	}
	if strings.HasPrefix(line, "systemctl reboot") {
		f.Boot()
	}
	return nil, nil, nil
}

// write lets through what still fits and fails like a full disk does: after a part of the data.
func (f *Fake) write(path string, write func([]byte) error, b []byte) error {
	f.mu.Lock()
	do := f.onWrite
	f.mu.Unlock()
	if do != nil {
		if err := do(path); err != nil {
			return err
		}
	}
	f.mu.Lock()
	room := f.room
	if room >= 0 {
		f.room = max(0, room-len(b))
	}
	f.mu.Unlock()
	if room < 0 || len(b) <= room {
		return write(b)
	}
	if err := write(b[:room]); err != nil {
		return err
	}
	return syscall.ENOSPC
}
