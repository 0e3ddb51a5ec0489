package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"touchdown/test/bench/controlplane/internal/apiserver"
)

// child is the process with etcd and kube-apiserver. It dies by kill -9 and comes back, as its static pod would.
type child struct {
	dir, address string
	listen       string // where the server listens
	log          *slog.Logger
	probe        *http.Client
	hold         func() bool              // nobody wants to wait: without delays, also not for a server that has just come up
	remember     func(sni []string) error // keeps what a good roll-out started with

	turn sync.Mutex // one start or stop at a time

	mu       sync.Mutex
	process  *exec.Cmd
	stdin    io.Closer
	exited   chan struct{}
	wanted   bool // an exit that nobody asked for is followed by a new start
	sni      []string
	faults   orders
	past     apiserver.Counts // of the processes before
	restarts int
}

func newChild(dir, address, listen string, log *slog.Logger) *child {
	return &child{dir: dir, address: address, listen: listen, log: log, past: apiserver.Counts{Reads: map[string]int{}, Writes: map[string]int{}}}
}

// start begins a process and waits until it is ready or gone.
func (c *child) start(ctx context.Context, sni []string) error {
	out, err := os.OpenFile(filepath.Join(c.dir, "logs", "serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the server's log: %w", err)
	}
	defer out.Close()
	from, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("finding the end of the server's log: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the own program: %w", err)
	}
	args := []string{"serve", "--state", c.dir, "--address", c.address, "--listen", c.listen}
	if c.hold() {
		args = append(args, "--hold")
	}
	for _, pair := range sni {
		args = append(args, "--sni", pair)
	}
	cmd := exec.Command(self, args...)
	cmd.Stdout, cmd.Stderr = out, out
	// The child ends when this pipe does: it cannot outlive its supervisor, however that dies.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("making the server's pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	exited := make(chan struct{})
	c.mu.Lock()
	c.process, c.stdin, c.exited, c.sni, c.wanted = cmd, stdin, exited, sni, true
	c.faults.restarted()
	c.mu.Unlock()
	go func() { _ = cmd.Wait(); close(exited) }()
	if err := c.waitReady(ctx, exited); err != nil {
		if tail := lastError(out.Name(), from); tail != "" {
			return errors.New(tail)
		}
		return err
	}
	go c.revive(ctx, exited)
	return c.sendFaults()
}

func (c *child) waitReady(ctx context.Context, exited <-chan struct{}) error {
	for {
		if c.ready() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-exited:
			return errors.New("the server ended before it was ready")
		case <-time.After(30 * time.Millisecond):
		}
	}
}

func (c *child) ready() bool {
	resp, err := c.probe.Get("https://" + net.JoinHostPort(local(c.listen), "6443") + "/readyz")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// setProbe makes the client that asks whether the server is ready.
func (c *child) setProbe(config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.Timeout = 2 * time.Second
	probe, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("making the readiness probe: %w", err)
	}
	c.probe = probe
	return nil
}

// kill takes the last counts and ends the process without warning.
func (c *child) kill() {
	c.mu.Lock()
	cmd, exited, stdin := c.process, c.exited, c.stdin
	c.wanted = false
	c.mu.Unlock()
	if cmd == nil {
		return
	}
	c.keepCounts()
	_ = cmd.Process.Kill()
	<-exited
	_ = stdin.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.process = nil
}

// stop ends the process for good. A kill is as good as any stop: etcd has synced every write, and a graceful one waits for seconds on open watches.
func (c *child) stop() {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.kill()
}

// revive starts the server again after an exit nobody asked for.
func (c *child) revive(ctx context.Context, exited <-chan struct{}) {
	select {
	case <-ctx.Done():
		return
	case <-exited:
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	c.mu.Lock()
	mine, sni := c.wanted && c.exited == exited, c.sni
	c.mu.Unlock()
	if !mine || ctx.Err() != nil {
		return
	}
	c.log.Warn("the server ended unexpectedly, starting it again")
	c.countRestart()
	if err := c.start(ctx, sni); err != nil {
		c.log.Error("starting the server again", "error", err)
	}
}

// RollOut implements operators.APIServer.
func (c *child) RollOut(ctx context.Context, sni []string, outage func(context.Context) error) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.kill()
	if err := outage(ctx); err != nil {
		return err
	}
	c.countRestart()
	if err := c.start(ctx, sni); err != nil {
		return err
	}
	return c.remember(sni)
}

// outage is a fault on demand: the server is away for a while and comes back as it was. down is closed when it is away.
func (c *child) outage(ctx context.Context, d time.Duration, down chan<- struct{}) {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.kill()
	close(down)
	select {
	case <-ctx.Done():
		return
	case <-time.After(d):
	}
	c.countRestart()
	if err := c.start(ctx, c.SNI()); err != nil && ctx.Err() == nil {
		c.log.Error("starting the server after an outage", "error", err)
	}
}

// SNI implements operators.APIServer.
func (c *child) SNI() []string { c.mu.Lock(); defer c.mu.Unlock(); return c.sni }

func (c *child) countRestart() { c.mu.Lock(); defer c.mu.Unlock(); c.restarts++ }

// lastError finds why the server gave up in what it wrote since an offset.
func lastError(path string, from int64) string {
	data, err := os.ReadFile(path)
	if err != nil || int64(len(data)) < from {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(data[from:])), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if text, ok := strings.CutPrefix(lines[i], "controlplane: "); ok {
			return text
		}
	}
	return ""
}

// socket calls the control socket of the child.
func (c *child) socket(method, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding a control request: %w", err)
	}
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(c.dir, "serve.sock"))
		},
	}}
	req, err := http.NewRequest(method, "http://serve"+path, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("making a control request: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("asking the server: %w", err)
	}
	defer resp.Body.Close()
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("reading the server's answer: %w", err)
	}
	return nil
}
