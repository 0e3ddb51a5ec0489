// Package bench starts the look-alike of a single-node OpenShift that tests and the demo run against.
package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"touchdown/test/wait"
)

// ErrNotBuilt says that the bench's program or its definitions are missing from the cache.
var ErrNotBuilt = errors.New("the bench is not built (make bench)")

// Options say what cluster to start; the zero value is a cluster without any delay, in its own folder.
type Options struct {
	Delay    string   // zero (default), life or how many times faster than life
	Domain   string   // cluster name and base domain; default sno.factory.example
	Dir      string   // state folder; default: a new one, removed by Stop. One with a cluster in it goes on with that
	Older    bool     // the API definitions of OpenShift 4.14
	Address  string   // of the node; default: a free loopback address
	NodeRoot string   // root of the node's files, for what the machine config operator writes there
	RealNode bool     // a kubelet keeps the Node object
	Fresh    bool     // seed again instead of starting from the cached seeded state
	Real     []string // operators that the test runs for real: their stand-ins stay away
}

// Cluster is a running look-alike. Its API listens on Address:6443 and its router on Address:443.
type Cluster struct {
	Kubeconfig string   // of system:admin, as the installer leaves it
	Address    string   // of the node
	Domain     string   // cluster name and base domain
	Dir        string   // state folder: kubeconfigs, pki/, logs/
	Real       []string // operators that have no stand-in

	socket    string
	process   *exec.Cmd
	stdin     io.Closer
	exited    chan struct{}
	temporary bool
	life      atomic.Bool // the pace that SetDelay gave
}

// Start starts a cluster for a test and stops it with the test. Where the bench is not built it skips the test, in CI it fails it.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	wait.Slow(t)
	c, err := Launch(wait.Within(t, 2*time.Minute), o)
	if errors.Is(err, ErrNotBuilt) {
		wait.Unable(t, "%v", err)
	}
	if err != nil {
		t.Fatalf("starting the bench: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stopping the bench: %v", err)
		}
	})
	wait.Explain(t, "the end of the cluster's log", func() string { return c.Log(30) })
	return c
}

// Launch starts a cluster and returns when it is ready. It ends with Stop, or when this process does.
func Launch(ctx context.Context, o Options) (*Cluster, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	cache := filepath.Join(root, ".cache", "bench")
	definitions := filepath.Join(cache, "crds")
	if o.Older {
		definitions += "-4.14"
	}
	program := filepath.Join(cache, "bin", "controlplane")
	for _, need := range []string{program, definitions} {
		if _, err := os.Stat(need); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotBuilt, err)
		}
	}
	if o.Domain == "" {
		o.Domain = "sno.factory.example"
	}
	c := &Cluster{Domain: o.Domain, Dir: o.Dir, Real: o.Real, exited: make(chan struct{})}
	if c.Dir == "" {
		// Not the test's own folder: its long name would not leave room for the path of a socket.
		if c.Dir, err = os.MkdirTemp("", "bench-"); err != nil {
			return nil, fmt.Errorf("making the state folder: %w", err)
		}
		c.temporary = true
	}
	if err := c.start(ctx, program, append(o.arguments(c.Dir, filepath.Join(cache, "seeded")), "--crds", definitions)); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (o Options) arguments(dir, seeded string) []string {
	args := []string{"run", "--state", dir, "--domain", o.Domain}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	add("--delay", o.Delay)
	add("--address", o.Address)
	add("--node-root", o.NodeRoot)
	if o.RealNode {
		args = append(args, "--real-node")
	}
	for _, name := range o.Real {
		add("--real", name)
	}
	if !o.Fresh {
		add("--cache", seeded)
	}
	return args
}

// start runs the program and waits for its one line.
func (c *Cluster) start(ctx context.Context, program string, args []string) error {
	c.process = exec.Command(program, args...)
	var complaint strings.Builder
	c.process.Stderr = &complaint
	// Its own process group: a Ctrl-C at the test must not reach it before the test's clean-up does.
	c.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := c.process.StdoutPipe()
	if err != nil {
		return fmt.Errorf("making the bench's pipe: %w", err)
	}
	// The bench ends when its stdin does, so it never outlives us.
	if c.stdin, err = c.process.StdinPipe(); err != nil {
		return fmt.Errorf("making the bench's pipe: %w", err)
	}
	if err := c.process.Start(); err != nil {
		return fmt.Errorf("starting the bench: %w", err)
	}
	line := make(chan string, 1)
	go func() {
		defer close(c.exited)
		text, _ := bufio.NewReader(stdout).ReadString('\n')
		line <- text
		_ = c.process.Wait()
	}()
	select {
	case <-ctx.Done():
		return fmt.Errorf("waiting for the bench: %w", ctx.Err())
	case text := <-line:
		return c.announced(text, &complaint)
	}
}

func (c *Cluster) announced(line string, complaint fmt.Stringer) error {
	var ready struct {
		Ready                        bool
		Kubeconfig, Address, Control string
	}
	if err := json.Unmarshal([]byte(line), &ready); err != nil || !ready.Ready {
		<-c.exited
		return fmt.Errorf("starting the bench: %s", strings.TrimSpace(complaint.String()))
	}
	c.Kubeconfig, c.Address, c.socket = ready.Kubeconfig, ready.Address, ready.Control
	return nil
}

// Stop ends the cluster and removes its folder if the bench made it.
func (c *Cluster) Stop() error {
	if c.process != nil && c.process.Process != nil {
		_ = c.stdin.Close()
		select {
		case <-c.exited:
		case <-time.After(wait.Timeout(10 * time.Second)):
			_ = c.process.Process.Kill()
			<-c.exited
		}
	}
	if !c.temporary {
		return nil
	}
	if err := os.RemoveAll(c.Dir); err != nil {
		return fmt.Errorf("removing the bench's folder: %w", err)
	}
	return nil
}

// Log returns the last lines of the supervisor's log.
func (c *Cluster) Log(lines int) string {
	data, err := os.ReadFile(filepath.Join(c.Dir, "logs", "run.log"))
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// Root is the checkout: the folder of the outermost go.mod above the working folder: the bench has its own nested modules.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the checkout: %w", err)
	}
	root := ""
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			root = dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if root == "" {
		return "", fmt.Errorf("finding the checkout: no go.mod above the working folder")
	}
	return root, nil
}
