// Package node runs a booted look-alike of a single-node OpenShift machine: real systemd, NetworkManager, Open vSwitch,
// CRI-O, kubelet and kube-apiserver on an XFS disk whose power can be cut.
package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"touchdown/test/bench"
	"touchdown/test/bench/images"
	"touchdown/test/wait"
)

// ErrUnable says that this machine cannot run a node: something is not built, or root or a tool is missing.
var ErrUnable = errors.New("the bench node cannot run here")

// The ports of the node. The host end of port n is called lan<n> and is plugged into the bridge "lan".
const (
	Port0 = "enp1s0" // uplink of br-ex in the factory
	Port1 = "enp2s0"
)

// prefix begins the names of machines, which are those of their cgroups too.
const prefix = "bench-"

// Options say what machine to start; the zero value has a new disk without a cluster on it.
type Options struct {
	Image     string         // prepared disk to start from a copy of (EnsureImage); empty: a new disk
	Delay     string         // pace of the stand-ins: zero (default), life or how many times faster than life
	Consoles  []string       // devices with a line to the outside; default tty1 and ttyS0
	Baud      map[string]int // bits a second that the line of a console lets through; 0: as many as come
	Unplugged []int          // ports (0, 1) whose cable is out from the start
	BrExHangs bool           // leave out the cure for br-ex hanging in activation after an unclean stop
}

// Machine is one node. Its methods may be called from several goroutines.
type Machine struct {
	Options
	Name string // of the machine and its cgroup; not the node's host name

	dir   string // everything of this machine: disk image and mount points
	cache string // .cache/bench/node
	// What the node's tree is made of, the lowest first. Between the two may be another NetworkManager.
	packages, manager, layer string
	world                    *world
	lines                    map[string]*Line

	place *os.File // among the nodes that are on; nil: whoever made the machine has one for it

	turn sync.Mutex // one boot, stop or cut at a time

	mu        sync.Mutex
	nspawn    int // 0: off
	leader    int // PID 1 of the node, seen from here; 0: none
	stopping  bool
	boots     int       // times that the node came up so far
	booted    time.Time // when it was last switched on
	unplugged map[int]bool
	sticks    int           // that were plugged in
	cameUp    chan struct{} // closed, and made again, when the node comes up
	ended     chan struct{} // closed when the machine is off
}

// Start makes a machine for a test, boots it and ends it with the test. Where it cannot run it skips the test, in CI it fails it.
func Start(t testing.TB, o Options) *Machine {
	t.Helper()
	wait.Slow(t)
	m, err := New(t.Context(), o)
	Require(t, err)
	m.EndsWith(t)
	if err := m.Boot(wait.Within(t, time.Minute)); err != nil {
		t.Fatalf("booting the bench node: %v", err)
	}
	return m
}

// Require ends a test whose node could not be made: where the machine is unable to by skipping it, but in CI it fails.
func Require(t testing.TB, err error) {
	t.Helper()
	switch {
	case errors.Is(err, ErrUnable) || errors.Is(err, images.ErrNotMade):
		wait.Unable(t, "%v", err)
	case err != nil:
		t.Fatalf("making the bench node: %v", err)
	}
}

// Launch makes a machine and boots it. It ends with Close, or when this process does.
func Launch(ctx context.Context, o Options) (*Machine, error) {
	m, err := New(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := m.Boot(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// New makes a machine that is off, with its disk mounted: files can be read and written before the first boot.
func New(ctx context.Context, o Options) (_ *Machine, err error) {
	cache, err := ready()
	if err != nil {
		return nil, err
	}
	place, err := takePlace(ctx, cache)
	if err != nil {
		return nil, err
	}
	m, err := assemble(ctx, cache, o)
	if err != nil {
		_ = place.Close()
		return nil, err
	}
	m.place = place
	return m, nil
}

// assemble makes the parts of a machine.
func assemble(ctx context.Context, cache string, o Options) (_ *Machine, err error) {
	if o.Consoles == nil {
		o.Consoles = []string{"tty1", "ttyS0"}
	}
	runs := filepath.Join(cache, "run")
	if err := os.MkdirAll(runs, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of machines: %w", err)
	}
	removeLeftovers(runs)
	dir, err := os.MkdirTemp(runs, fmt.Sprintf("%d-", os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("making the machine's folder: %w", err)
	}
	m := &Machine{
		Options: o, Name: prefix + filepath.Base(dir), dir: dir, cache: cache,
		lines: map[string]*Line{}, unplugged: map[int]bool{}, cameUp: make(chan struct{}), ended: make(chan struct{}),
	}
	close(m.ended)
	defer func() {
		if err != nil {
			err = errors.Join(err, m.remove())
		}
	}()
	if err := m.findTrees(); err != nil {
		return nil, err
	}
	for _, port := range o.Unplugged {
		m.unplugged[port] = true
	}
	for _, name := range o.Consoles {
		if m.lines[name], err = newLine(o.Baud[name]); err != nil {
			return nil, err
		}
	}
	if err := m.makeCgroups(); err != nil {
		return nil, err
	}
	if m.world, err = newWorld(); err != nil {
		return nil, err
	}
	if err := m.makeDisk(ctx); err != nil {
		return nil, err
	}
	return m, m.configure()
}

// keepsSpeed sets a console's speed again each time that its unit has hung it up: the driver of a serial line keeps the speed
// that the kernel's command line gave it (console=ttyS0,9600), a pseudo terminal forgets it.
const keepsSpeed = `[Service]
ExecStart=
ExecStart=/bin/sh -c 'stty %d; exec /usr/local/bin/touchdown console'
`

// configure writes what the options say into the node's files.
func (m *Machine) configure() error {
	delay := m.Delay
	if delay == "" {
		delay = "zero"
	}
	if err := m.WriteFile("/etc/bench/controlplane.env", []byte("DELAY="+delay+"\n"), 0o644); err != nil {
		return err
	}
	for name, baud := range m.Baud {
		if baud == 0 {
			continue
		}
		unit := fmt.Sprintf("/etc/systemd/system/touchdown-console@%s.service.d/10-baud.conf", name)
		if err := m.WriteFile(unit, fmt.Appendf(nil, keepsSpeed, baud), 0o644); err != nil {
			return err
		}
	}
	cure := m.world.path(filepath.Join(m.tree(), "etc/systemd/system/NetworkManager.service.d/10-br-ex.conf"))
	if !m.BrExHangs {
		return nil
	}
	if err := os.Remove(cure); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("leaving out the cure for br-ex: %w", err)
	}
	return nil
}

// Close ends the machine without care for what is on its disk, and removes it.
func (m *Machine) Close() error {
	err := m.remove()
	if m.place != nil {
		_ = m.place.Close()
	}
	return err
}

func (m *Machine) remove() error {
	if m.world != nil {
		m.world.end()
		<-m.off()
	}
	for _, line := range m.lines {
		if line != nil {
			_ = line.Close()
		}
	}
	m.removeCgroups()
	if err := os.RemoveAll(m.dir); err != nil {
		return fmt.Errorf("removing the machine's folder: %w", err)
	}
	return nil
}

// Console is the far end of one of the node's consoles.
func (m *Machine) Console(name string) *Line { return m.lines[name] }

// off is closed while the machine is off.
func (m *Machine) off() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended
}

// Off is closed when the machine is off; ask again after the next boot.
func (m *Machine) Off() <-chan struct{} { return m.off() }

// Boots counts how many times the node came up, its own reboots included.
func (m *Machine) Boots() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boots
}

// ready finds the built parts and the machine's abilities.
func ready() (cache string, err error) {
	root, err := bench.Root()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(root, ".cache", "bench", "node")
	for _, part := range []string{"root", "layer"} {
		if _, err := os.Stat(filepath.Join(cache, part)); err != nil {
			return "", fmt.Errorf("%w: it is not built (make bench-node): %w", ErrUnable, err)
		}
	}
	if os.Geteuid() != 0 {
		return "", fmt.Errorf("%w: it needs root", ErrUnable)
	}
	for _, tool := range []string{"systemd-nspawn", "unshare", "nsenter", "setpriv", "mkfs.xfs", "xfs_io", "ethtool", "ip"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("%w: %s is missing (make bench-node)", ErrUnable, tool)
		}
	}
	return cache, nil
}

// removeLeftovers removes the disks and cgroups of machines whose process was killed; their namespaces ended with it.
func removeLeftovers(runs string) {
	entries, err := os.ReadDir(runs)
	if err != nil {
		return
	}
	for _, e := range entries {
		pid, _, _ := strings.Cut(e.Name(), "-")
		if _, err := os.Stat("/proc/" + pid); os.IsNotExist(err) {
			_ = os.RemoveAll(filepath.Join(runs, e.Name()))
			removeCgroups(prefix + e.Name())
		}
	}
}
