package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"touchdown/steps/wire"
	"touchdown/test/wait"
)

// machine is a folder with an engine's state, on which engines run that have no cluster.
type machine struct {
	t   *testing.T
	dir string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "machine-") // not the test's own folder: the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "root"), 0o755); err != nil {
		t.Fatal(err)
	}
	return &machine{t, dir}
}

func (m *machine) socket() string { return filepath.Join(m.dir, "s") }

// program is a touchdown of this machine.
func (m *machine) program(args ...string) *exec.Cmd {
	cmd := exec.Command("touchdown", append([]string{"--socket", m.socket()}, args...)...)
	cmd.Env = append(os.Environ(), rootFolder+"="+filepath.Join(m.dir, "root"), "TERM=vt220")
	return cmd
}

// engine starts an engine and waits until it answers.
func (m *machine) engine() *exec.Cmd {
	m.t.Helper()
	cmd := m.program("engine", "--no-power", "--state", filepath.Join(m.dir, "state"))
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { end(cmd) })
	wait.Until(m.t, "the engine", func(ctx context.Context) error {
		_, err := wire.Dial(m.socket()).Snapshot(ctx)
		return err
	})
	return cmd
}

// end kills a process, if it still runs.
func end(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// seat is a console on its own terminal.
type seat struct {
	cmd *exec.Cmd
	tty *os.File
	mu  sync.Mutex
	vt  vt10x.Terminal
}

func (m *machine) console() *seat {
	m.t.Helper()
	c := &seat{cmd: m.program("console"), vt: vt10x.New(vt10x.WithSize(80, 24))}
	var err error
	if c.tty, err = pty.StartWithSize(c.cmd, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		m.t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 4096)
		for n, err := c.tty.Read(buf); err == nil; n, err = c.tty.Read(buf) {
			c.mu.Lock()
			_, _ = c.vt.Write(buf[:n])
			c.mu.Unlock()
		}
	}()
	m.t.Cleanup(func() { end(c.cmd); c.tty.Close() })
	return c
}

func (c *seat) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := c.tty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// shows waits for a text on the screen.
func (c *seat) shows(t *testing.T, want string) {
	t.Helper()
	c.showsOneOf(t, want)
}

// showsOneOf waits for one of some texts on the screen, and returns the first of them that is there.
func (c *seat) showsOneOf(t *testing.T, wanted ...string) string {
	t.Helper()
	var found string
	wait.Until(t, strings.Join(wanted, " or ")+" on the screen", func(context.Context) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		screen := c.vt.String()
		for _, want := range wanted {
			if strings.Contains(screen, want) {
				found = want
				return nil
			}
		}
		return errors.New(screen)
	})
	return found
}

// leavesHardware goes on from the hardware to the network. The free space below the test's folder is that of the machine that runs the
// test: where it is short, Continue asks once more.
func (c *seat) leavesHardware(t *testing.T) {
	t.Helper()
	const next, again = "IPv4 method", "press Continue again"
	c.types(t, "c")
	if c.showsOneOf(t, next, again) == again {
		c.types(t, "c")
		c.shows(t, next)
	}
}

// TestConsolesComeAndGo kills consoles on separate terminals, the one that has control and one that looks: the engine and
// the others go on.
func TestConsolesComeAndGo(t *testing.T) {
	m := newMachine(t)
	owner := m.engine()
	for _, killed := range []int{0, 1} {
		both := []*seat{m.console(), m.console()}
		for _, c := range both {
			c.shows(t, "nobody has control")
		}
		both[0].types(t, "\x07")
		both[0].shows(t, "you have control")
		both[1].shows(t, "read-only: ")
		end(both[killed].cmd)
		left := both[1-killed]
		if killed == 0 {
			left.shows(t, "nobody has control")
			left.types(t, "\x07")
		}
		left.shows(t, "you have control")
		left.types(t, "\x03")
		left.shows(t, "Leave this console?")
		end(left.cmd)
		wait.Until(t, "control to be free", func(ctx context.Context) error {
			s, err := wire.Dial(m.socket()).Snapshot(ctx)
			if err == nil && s.Control.Holder != "" {
				err = errors.New(s.Control.Holder)
			}
			return err
		})
	}
	if err := owner.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the engine is another one: %v", err)
	}
}

// TestKilledWhileTyping kills the engine a hundred times (ten times among the quick tests) in the middle of the questions: each
// answer that it took is there when the next one starts, and the one on its way is there or is not.
func TestKilledWhileTyping(t *testing.T) {
	kills := 100
	if testing.Short() {
		kills = 10
	}
	m := newMachine(t)
	random := rand.New(rand.NewPCG(16, 0))
	taken, onItsWay := map[string]string{}, map[string]string{}
	for n := range kills {
		owner := m.engine()
		client := wire.Dial(m.socket())
		m.holds(client, taken, onItsWay)
		token, err := client.TakeControl(t.Context(), "tty1", true)
		if err != nil {
			t.Fatal(err)
		}
		left := random.IntN(4)
		for i := range left {
			path, value := answer(random, n, i)
			if err := client.Set(t.Context(), token, path, value); err != nil {
				t.Fatal(err)
			}
			taken[path] = value
		}
		path, value := answer(random, n, left)
		sent := make(chan error, 1)
		go func() { sent <- client.Set(t.Context(), token, path, value) }()
		for range random.IntN(20000) { // some time between sending and saving
		}
		end(owner)
		if err := <-sent; err == nil {
			taken[path] = value
		} else {
			onItsWay[path] = value
		}
	}
}

// answer is what someone types.
func answer(random *rand.Rand, n, i int) (path, value string) {
	return []string{"spec.clusterName", "spec.baseDomain"}[random.IntN(2)], fmt.Sprintf("a%d-%d", n, i)
}

// holds compares the answers of an engine that has just started.
func (m *machine) holds(client *wire.Client, taken, onItsWay map[string]string) {
	m.t.Helper()
	s, err := client.Snapshot(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			for _, f := range step.Fields {
				want, asked := taken[f.Path]
				if late := onItsWay[f.Path]; late != "" && f.Value == late {
					want, asked, taken[f.Path] = late, true, late
				}
				if asked && f.Value != want {
					m.t.Fatalf("%s is %q, want %q", f.Path, f.Value, want)
				}
			}
		}
	}
	clear(onItsWay)
}
