package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// rebootAsked is nspawn's exit code when the node asked for a reboot.
const rebootAsked = 133

// Boot switches the machine on. It returns when systemd and D-Bus take commands and the ports are plugged in; what the node
// starts after that needs a wait (Wait).
func (m *Machine) Boot(ctx context.Context) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	m.mu.Lock()
	select {
	case <-m.ended:
	default:
		m.mu.Unlock()
		return errors.New("booting the node: it is on")
	}
	m.ended, m.stopping = make(chan struct{}), false
	ended := m.ended
	m.mu.Unlock()
	ready := make(chan error, 1)
	go m.supervise(ctx, ready, ended)
	if err := <-ready; err != nil {
		return fmt.Errorf("booting the node: %w", err)
	}
	return nil
}

// supervise runs nspawn, again and again for as long as the node asks for a reboot.
func (m *Machine) supervise(ctx context.Context, ready chan<- error, ended chan<- struct{}) {
	defer close(ended)
	for {
		code, err := m.runOnce(ctx, ready)
		m.mu.Lock()
		m.nspawn, m.leader = 0, 0
		again := code == rebootAsked && err == nil && !m.stopping
		m.mu.Unlock()
		if !again {
			return
		}
		ctx, ready = context.Background(), make(chan error, 1)
	}
}

// runOnce is one run of the node from switching on to the end; in between it says that the node takes commands.
func (m *Machine) runOnce(ctx context.Context, ready chan<- error) (code int, err error) {
	if err := m.clearPorts(ctx); err != nil {
		ready <- err
		return 0, err
	}
	cmd := m.world.command(context.Background(), m.nspawnLine()...)
	log, err := os.OpenFile(filepath.Join(m.dir, "nspawn.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		ready <- err
		return 0, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		ready <- err
		return 0, err
	}
	m.mu.Lock()
	m.booted = time.Now()
	m.mu.Unlock()
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	err = m.waitForSystemd(ctx, cmd.Process.Pid, exited)
	if err == nil {
		m.mu.Lock()
		m.boots++
		close(m.cameUp)
		m.cameUp = make(chan struct{})
		m.mu.Unlock()
	}
	ready <- err
	<-exited
	return cmd.ProcessState.ExitCode(), nil
}

// clearPorts removes what a killed node left of its cables: the kernel takes the network of a dead namespace apart some time
// later, and nspawn does not wait for that.
func (m *Machine) clearPorts(ctx context.Context) error {
	return poll(ctx, "the cables of the boot before to be gone", func() bool {
		for _, end := range []string{"lan0", "lan1"} {
			if m.world.run(ctx, "ip", "link", "show", end) == nil {
				_ = m.world.run(ctx, "ip", "link", "delete", end)
				return false
			}
		}
		return true
	})
}

// nspawnLine enters the machine's own cgroups and becomes nspawn.
func (m *Machine) nspawnLine() []string {
	const enter = `name=$1; shift
for c in unified systemd devices; do echo 0 > "/sys/fs/cgroup/$c/$name/cgroup.procs"; done
export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
exec systemd-nspawn "$@"`
	line := []string{
		"sh", "-ec", enter, "enter", m.Name,
		"--quiet", "--boot", "--directory=" + m.tree(), "--register=no", "--keep-unit", "--machine=" + m.Name,
		"--hostname=localhost", "--kill-signal=SIGRTMIN+3", "--console=read-only", "--link-journal=no", "--resolv-conf=off", "--timezone=off",
		"--network-veth-extra=lan0:" + Port0, "--network-veth-extra=lan1:" + Port1,
		// runc and crun join a session keyring for every container.
		"--system-call-filter=@keyring bpf", "--capability=all", "--drop-capability=" + keptBack.nspawn(),
	}
	for _, name := range m.Consoles {
		line = append(line, "--bind="+m.lines[name].slave.Name()+":/dev/"+name)
	}
	return line
}

// waitForSystemd finds the node's first process, plugs the ports in and waits for systemd.
func (m *Machine) waitForSystemd(ctx context.Context, nsenter int, exited <-chan struct{}) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-exited:
			cancel(fmt.Errorf("nspawn ended: %s", m.complaint()))
		case <-ctx.Done():
		}
	}()
	var leader int
	err := poll(ctx, "the node's first process", func() bool {
		for _, nspawn := range childrenOf(nsenter) {
			if leader = firstProcess(nspawn); leader != 0 {
				m.mu.Lock()
				m.nspawn, m.leader = nspawn, leader
				m.mu.Unlock()
				return true
			}
		}
		return false
	})
	if err != nil {
		return err
	}
	if err := m.attach(ctx); err != nil {
		return err
	}
	return poll(ctx, "systemd and D-Bus", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d/root/run/dbus/system_bus_socket", leader))
		return err == nil
	})
}

// firstProcess is the child of nspawn that is process 1 of the node.
func firstProcess(nspawn int) int {
	for _, pid := range childrenOf(nspawn) {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(data), "\nNSpid:")
		line, _, _ := strings.Cut(rest, "\n")
		ids := strings.Fields(line)
		if len(ids) > 2 && ids[len(ids)-1] == "1" {
			return pid
		}
	}
	return 0
}

// complaint is what nspawn wrote last.
func (m *Machine) complaint() string {
	data, err := os.ReadFile(filepath.Join(m.dir, "nspawn.log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}
