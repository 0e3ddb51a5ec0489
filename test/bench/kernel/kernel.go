// Package kernel runs a bench node with its own kernel, in QEMU without hardware help: VLANs, bonds and Open vSwitch's
// datapath are the kernel's, a boot is a boot. It has no container runtime and no cluster: what is proved here is how the
// node is reached.
package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"touchdown/test/bench"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// Ports is how many network ports a guest has. They are called as those of the bench node are: node.Port0, node.Port1.
const Ports = 2

// Options say what is at the end of the guest's cables; both go to the same switch.
type Options struct {
	Networks map[int]*site.Site // by VLAN; Untagged is where the node was built
	Live     *Live              // nil: a node
	Ignition []byte             // config of the disk from which the node was installed; nil: none
}

// Guest is one virtual machine with the node's packages, the files of the bench and the baked, armed node's, and the program
// under test. Its disk is XFS; what was not synced is gone when its power is cut.
type Guest struct {
	dir    string // sockets, disk, console.log
	made   string // the folder that mkguest.sh made
	agent  string // program that takes orders in the guest
	trunks [Ports]*trunk
	live   *Live
	serial string   // of the machine, as its firmware tells it; "": it tells none
	parts  []string // of the machine from the next boot on, besides those of each: arguments of QEMU's

	mu   sync.Mutex
	qemu *exec.Cmd // nil: off
	gone chan struct{}
	line *line
}

// New makes a guest for a test, off, and ends it with the test. Where it cannot run it skips the test, in CI it fails it.
func New(t testing.TB, o Options) *Guest {
	t.Helper()
	g, err := build(o)
	node.Require(t, err)
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Errorf("ending the guest: %v", err)
		}
	})
	wait.Explain(t, "the end of the guest's console and journal", g.tail)
	return g
}

func build(o Options) (_ *Guest, err error) {
	root, err := bench.Root()
	if err != nil {
		return nil, err
	}
	built := filepath.Join(root, ".cache", "bench", "kernel")
	g := &Guest{agent: filepath.Join(built, "bin", "guest")}
	// A guest keeps the disk that it began with when another is built.
	if g.made, err = filepath.EvalSymlinks(filepath.Join(built, "guest")); err != nil {
		return nil, fmt.Errorf("%w: the virtual machine is not built (make bench-kernel): %w", node.ErrUnable, err)
	}
	for _, tool := range []string{"qemu-system-x86_64", "qemu-img"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("%w: %w", node.ErrUnable, err)
		}
	}
	// Paths of sockets are short.
	if g.dir, err = os.MkdirTemp("/var/tmp", "guest-"); err != nil {
		return nil, fmt.Errorf("making the guest's folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close())
		}
	}()
	for i := range g.trunks {
		if g.trunks[i], err = newTrunk(o.Networks); err != nil {
			return nil, err
		}
	}
	if g.live = o.Live; g.live != nil {
		err = g.layLive(root)
	} else {
		err = g.lay(root, o.Ignition)
	}
	if err != nil {
		return nil, err
	}
	return g, run("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", g.file("disk.img"), filepath.Join(g.dir, "disk"))
}

// file is one of the files that mkguest.sh made.
func (g *Guest) file(name string) string { return filepath.Join(g.made, name) }

const agentUnit = `[Unit]
Description=Takes orders of the bench
DefaultDependencies=no
After=local-fs.target

[Service]
ExecStartPre=/sbin/modprobe virtio_console
ExecStart=/usr/local/bin/bench-guest

[Install]
WantedBy=sysinit.target
`

// kubeconfig is the one that an installed node has for its API; no API answers there.
const kubeconfig = `apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: here}}]
clusters: [{name: here, cluster: {server: "https://localhost:6443"}}]
users: [{name: here, user: {token: none}}]
`

// coldplug is what udev looks at in a boot: each of several hundred devices costs an emulated processor 30 ms.
const coldplug = `[Service]
ExecStart=
ExecStart=udevadm trigger --action=add --subsystem-match=net --subsystem-match=block --subsystem-match=virtio --subsystem-match=module
`

// lay writes what the first boot lays over the packages.
func (g *Guest) lay(root string, ignition []byte) error {
	l := layer{map[string]entry{}}
	built := filepath.Join(root, ".cache", "bench", "node")
	err := errors.Join(
		l.installed(ignition), // before the rest, as a first boot comes before the bake
		l.tree(filepath.Join(built, "machineconfig", "root")),
		l.tree(filepath.Join(root, "test", "bench", "node", "rootfs")),
		l.bake(),
		l.copy("/usr/local/bin/podman", 0o755, filepath.Join(built, "bin", "podman")),
		l.common(root, g.agent))
	l.file("/etc/NetworkManager/system-connections/enp1s0.nmconnection", 0o600, []byte(node.InstalledProfile))
	l.file("/var/lib/touchdown/armed", 0o600, nil)
	l.file("/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig", 0o600, []byte(kubeconfig))
	for i, name := range []string{node.Port0, node.Port1} {
		text := fmt.Sprintf("[Match]\nPermanentMACAddress=%s\n\n[Link]\nName=%s\n", MAC(i), name)
		l.file("/etc/systemd/network/10-"+name+".link", 0o644, []byte(text))
	}
	return errors.Join(err, g.putLayer(l))
}

// putLayer writes what the guest's first boot lays over the packages.
func (g *Guest) putLayer(l layer) error {
	out, err := os.Create(filepath.Join(g.dir, "layer"))
	if err != nil {
		return fmt.Errorf("making the guest's layer: %w", err)
	}
	return errors.Join(l.write(out), out.Close())
}

// common are the files of nodes and of live systems, and what neither starts.
func (l layer) common(root, agent string) error {
	l.unit(unit{Name: "bench-guest.service", Contents: agentUnit, Enabled: true})
	l.file("/etc/hostname", 0o644, []byte(node.HostName+"\n"))
	l.file(units+"systemd-udev-trigger.service.d/10-bench.conf", 0o644, []byte(coldplug))
	for _, u := range idle {
		l.link(units+u, "/dev/null")
	}
	return errors.Join(
		l.copy("/usr/local/bin/touchdown", 0o755, filepath.Join(root, ".cache", "bin", "touchdown")),
		l.copy("/usr/local/bin/bench-guest", 0o755, agent))
}

// idle are units that would only take time: nobody sits at the consoles, and the clock is set by Touchdown itself.
var idle = []string{
	"touchdown-consoles.service", "getty.target", "chrony.service", "systemd-binfmt.service",
	"proc-sys-fs-binfmt_misc.automount", "systemd-pstore.service", "systemd-tmpfiles-clean.timer", "uuidd.socket", "e2scrub_reap.service",
}

// MAC is the hardware address of a port.
func MAC(port int) string { return fmt.Sprintf("52:54:00:00:51:%02x", port+1) }

func run(argv ...string) error {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", argv[0], err, out)
	}
	return nil
}

// Close ends the guest and removes its disk.
func (g *Guest) Close() error {
	errs := []error{g.Cut()}
	for _, t := range g.trunks {
		if t != nil {
			errs = append(errs, t.close())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(g.dir))...)
}

// tail is what there is to see of a guest that did not do what it should.
func (g *Guest) tail() string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	console, _ := os.ReadFile(filepath.Join(g.dir, "console.log"))
	journal, err := g.Shell(ctx, "journalctl --no-pager --boot --lines=60 --output=short-monotonic")
	if err != nil {
		journal = err.Error()
	}
	return string(console[max(0, len(console)-3000):]) + "\n" + journal
}
