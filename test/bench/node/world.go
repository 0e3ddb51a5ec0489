package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"touchdown/test/wait"
)

// world is a network, mount and PID namespace around one node. Nothing in it outlives this process: it ends when its
// first process does, and that one reads a pipe of ours.
type world struct {
	unshare *exec.Cmd
	pipe    io.Closer
	pid     int // of the first process inside, seen from here
}

// worldScript prepares the namespaces. nspawn's own state gets its own folder: two nodes would share the machine's.
const worldScript = `set -e
mount -t proc proc /proc
mkdir -p /run/systemd/nspawn
mount -t tmpfs tmpfs /run/systemd/nspawn
ip link set lo up
ip link add lan type bridge mcast_snooping 0
ip link set lan up
echo ready
cat
:`

func newWorld() (*world, error) {
	// bash stays as the first process: it reaps the orphans of a killed node.
	line := keptBack.bounded("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "slave", "--", "bash", "-c", worldScript)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("making the node's pipe: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("making the node's pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("making the node's namespaces: %w", err)
	}
	w := &world{unshare: cmd, pipe: pipe}
	_, readErr := io.ReadFull(out, make([]byte, len("ready\n")))
	children := childrenOf(cmd.Process.Pid)
	if readErr != nil || len(children) != 1 {
		w.end()
		return nil, fmt.Errorf("making the node's namespaces: %s", strings.TrimSpace(complaint.String()))
	}
	w.pid = children[0]
	return w, nil
}

// end kills everything in the namespaces; the mounts and the loop device go with them.
func (w *world) end() {
	_ = w.pipe.Close()
	if w.pid != 0 {
		_ = syscall.Kill(w.pid, syscall.SIGKILL)
	}
	_ = w.unshare.Wait()
}

// path is a file of the namespaces, as it can be opened from here.
func (w *world) path(path string) string {
	return filepath.Join("/proc", strconv.Itoa(w.pid), "root", path)
}

func (w *world) command(ctx context.Context, argv ...string) *exec.Cmd {
	line := keptBack.bounded(append([]string{"nsenter", "-t", strconv.Itoa(w.pid), "-n", "-m", "-p", "--"}, argv...)...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs a program in the namespaces, outside of the node.
func (w *world) run(ctx context.Context, argv ...string) error {
	if _, err := output(w.command(ctx, argv...)); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return nil
}

// output runs a command; its error holds what the command complained about.
func output(cmd *exec.Cmd) ([]byte, error) {
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(complaint.String())
		if text == "" {
			text = strings.TrimSpace(out.String())
		}
		return out.Bytes(), fmt.Errorf("%w: %s", err, text)
	}
	return out.Bytes(), nil
}

func childrenOf(pid int) []int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	var pids []int
	for _, field := range strings.Fields(string(data)) {
		if n, err := strconv.Atoi(field); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}

// poll asks until the answer is yes or the context ends.
func poll(ctx context.Context, what string, done func() bool) error {
	return wait.For(ctx, what, done)
}

var errOff = errors.New("the node is off")
