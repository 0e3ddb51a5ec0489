package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"touchdown/test/wait"
)

// Command is a program to be run in the node, as root with a login's environment. It ends with the context, its children need not.
func (m *Machine) Command(ctx context.Context, argv ...string) (*exec.Cmd, error) {
	m.mu.Lock()
	leader := m.leader
	m.mu.Unlock()
	if leader == 0 {
		return nil, errOff
	}
	// nsenter keeps what this process may do: the fence has to be put up before it enters.
	const fenced = `echo 0 > "$1/cgroup.procs"; shift; exec "$@"`
	line := []string{"-ec", fenced, "fenced", m.cgroup("devices")}
	line = append(line, keptBack.bounded("nsenter", "-t", strconv.Itoa(leader), "-a", "--", "env", "-i", "HOME=/root", "TERM=dumb", "LANG=C.UTF-8",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")...)
	cmd := exec.CommandContext(ctx, "sh", append(line, argv...)...)
	cmd.WaitDelay = time.Second
	return cmd, nil
}

// Run runs a program in the node and returns what it wrote to its standard output.
func (m *Machine) Run(ctx context.Context, argv ...string) ([]byte, error) {
	cmd, err := m.Command(ctx, argv...)
	if err != nil {
		return nil, fmt.Errorf("running %s in the node: %w", argv[0], err)
	}
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := Finish(cmd); err != nil {
		return out.Bytes(), fmt.Errorf("in the node: %s: %w: %s", strings.Join(argv, " "), err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out.Bytes(), nil
}

// Finish starts a Command and waits for its end, over a shutdown of the node too: systemd stops all processes before it
// ends them, nsenter stops itself with its child, and stopped it would keep the node from ending.
func Finish(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("entering the node: %w", err)
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				_ = cmd.Process.Signal(syscall.SIGCONT)
			}
		}
	}()
	return cmd.Wait() // bare: its exit code is the caller's
}

// Shell runs a script in the node.
func (m *Machine) Shell(ctx context.Context, script string) (string, error) {
	out, err := m.Run(ctx, "bash", "-c", script)
	return string(out), err
}

// Wait repeats a script in the node until it succeeds. It goes on over a reboot of the node.
func (m *Machine) Wait(ctx context.Context, script string) error {
	return wait.For(ctx, strconv.Quote(script), func(ctx context.Context) error {
		_, err := m.Shell(ctx, script)
		return err
	})
}

// ReadFile reads a file of the node, on or off.
func (m *Machine) ReadFile(name string) ([]byte, error) {
	if m.isOn() {
		return m.Run(context.Background(), "cat", "--", name)
	}
	target, err := m.realOffline(name)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(m.offline(target))
	if err != nil {
		return nil, fmt.Errorf("reading a file of the node: %w", err)
	}
	return data, nil
}

// realOffline follows the links of a name as the node would: they lead from the node's root, not from the machine's.
func (m *Machine) realOffline(name string) (string, error) {
	for range 10 {
		link, err := os.Readlink(m.offline(name))
		if err != nil {
			return name, nil
		}
		if !path.IsAbs(link) {
			link = path.Join(path.Dir(name), link)
		}
		name = link
	}
	return "", fmt.Errorf("following the links of %s: there are too many", name)
}

// WriteFile writes a file of the node, on or off, with the folders above it, and syncs it.
func (m *Machine) WriteFile(name string, data []byte, mode os.FileMode) error {
	script := `set -e; mkdir -p "$(dirname "$1")"; cat > "$1.new"; chmod "$2" "$1.new"; sync "$1.new"; mv -T "$1.new" "$1"; sync "$(dirname "$1")"`
	argv := []string{"bash", "-c", script, "write", name, strconv.FormatUint(uint64(mode.Perm()), 8)}
	var cmd *exec.Cmd
	var err error
	if m.isOn() {
		cmd, err = m.Command(context.Background(), argv...)
	} else {
		argv[4] = path.Join(m.tree(), name)
		cmd = m.world.command(context.Background(), argv...)
	}
	if err != nil {
		return fmt.Errorf("writing %s of the node: %w", name, err)
	}
	cmd.Stdin = bytes.NewReader(data)
	if _, err := output(cmd); err != nil {
		return fmt.Errorf("writing %s of the node: %w", name, err)
	}
	return nil
}

// offline is where a file of the node is while it is off.
func (m *Machine) offline(name string) string { return m.world.path(path.Join(m.tree(), name)) }

func (m *Machine) isOn() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.leader != 0
}

// Journal returns what a unit logged since the node booted; an empty name means everything.
func (m *Machine) Journal(ctx context.Context, unit string) (string, error) {
	argv := []string{"journalctl", "--no-pager", "--boot", "--output=short-monotonic"}
	if unit != "" {
		argv = append(argv, "--unit="+unit)
	}
	out, err := m.Run(ctx, argv...)
	return string(out), err
}

// Reboot has the node reboot as it does in life, and returns when it takes commands again.
func (m *Machine) Reboot(ctx context.Context) error {
	before := m.Boots()
	// The command may lose its connection: what counts is the next boot.
	_, asked := m.Run(ctx, "systemctl", "reboot")
	if errors.Is(asked, errOff) {
		return fmt.Errorf("rebooting the node: %w", asked)
	}
	if err := m.Booted(ctx, before); err != nil {
		return errors.Join(err, asked)
	}
	return nil
}

// Booted waits until the node has come up more than so many times.
func (m *Machine) Booted(ctx context.Context, times int) error {
	for {
		m.mu.Lock()
		boots, next := m.boots, m.cameUp
		m.mu.Unlock()
		if boots > times {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the node to boot again: %w", context.Cause(ctx))
		}
	}
}

// PowerOff shuts the node down in order.
func (m *Machine) PowerOff(ctx context.Context) error {
	_, asked := m.Run(ctx, "systemctl", "poweroff")
	if errors.Is(asked, errOff) {
		return fmt.Errorf("switching the node off: %w", asked)
	}
	select {
	case <-m.Off():
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("waiting for the node to switch off: %w", context.Cause(ctx)), asked)
	}
}
