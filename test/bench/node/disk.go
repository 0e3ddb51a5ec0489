package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"touchdown/test/wait"
)

// diskSize is what the node's disk claims to have; the file is sparse.
const diskSize = 12 << 30

func (m *Machine) image() string { return filepath.Join(m.dir, "disk.img") }
func (m *Machine) disk() string  { return filepath.Join(m.dir, "disk") }
func (m *Machine) tree() string  { return filepath.Join(m.dir, "tree") }

// makeDisk makes the disk, new or as a copy, and mounts it.
func (m *Machine) makeDisk(ctx context.Context) error {
	for _, dir := range []string{m.disk(), m.tree()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("making a mount point: %w", err)
		}
	}
	if m.Image != "" {
		if err := m.world.run(ctx, "cp", "--sparse=always", m.imageFile(m.Image), m.image()); err != nil {
			return fmt.Errorf("copying the prepared disk %s: %w", m.Image, err)
		}
		return m.mount(ctx)
	}
	if err := os.WriteFile(m.image(), nil, 0o600); err != nil {
		return fmt.Errorf("making the disk: %w", err)
	}
	if err := os.Truncate(m.image(), diskSize); err != nil {
		return fmt.Errorf("making the disk: %w", err)
	}
	if err := m.world.run(ctx, "mkfs.xfs", "-q", "-m", "reflink=1", m.image()); err != nil {
		return fmt.Errorf("formatting the disk: %w", err)
	}
	return m.mount(ctx)
}

// mount mounts the disk and on it the node's tree: the packages below, the files of the bench above them, and what the
// node writes on top, on the disk. /var is wholly on the disk, because containers need a file system that is not an overlay.
func (m *Machine) mount(ctx context.Context) error {
	disk := m.disk()
	// Copies of one prepared disk have one identity, and two of them may be mounted.
	if err := m.world.run(ctx, "mount", "-o", "loop,nouuid", m.image(), disk); err != nil {
		return fmt.Errorf("mounting the disk: %w", err)
	}
	root, layer := m.packages, m.layer
	lower := layer + ":" + root
	if m.manager != "" {
		lower = layer + ":" + m.manager + ":" + root
	}
	if _, err := os.Stat(m.world.path(disk + "/var")); os.IsNotExist(err) {
		const fill = `mkdir "$3/upper" "$3/work" && chmod 755 "$3/upper" && cp -a "$1/var/." "$3/var.new" && cp -a "$2/var/." "$3/var.new" && sync -f "$3" && mv "$3/var.new" "$3/var" && sync -f "$3"`
		if err := m.world.run(ctx, "sh", "-ec", fill, "fill", root, layer, disk); err != nil {
			return fmt.Errorf("filling the disk: %w", err)
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", lower, disk, disk)
	if err := m.world.run(ctx, "mount", "-t", "overlay", "overlay", "-o", options, m.tree()); err != nil {
		return fmt.Errorf("mounting the node's tree: %w", err)
	}
	if err := m.world.run(ctx, "mount", "--bind", disk+"/var", m.tree()+"/var"); err != nil {
		return fmt.Errorf("mounting the node's /var: %w", err)
	}
	return nil
}

// findTrees fixes what the machine is mounted from: a build in the meantime does not change a machine that runs.
func (m *Machine) findTrees() (err error) {
	if m.packages, err = filepath.EvalSymlinks(filepath.Join(m.cache, "root")); err != nil {
		return fmt.Errorf("finding the packages: %w", err)
	}
	if m.layer, err = filepath.EvalSymlinks(filepath.Join(m.cache, "layer")); err != nil {
		return fmt.Errorf("finding the files of the bench: %w", err)
	}
	m.manager, err = olderManager(m.cache)
	return err
}

// olderManager is the tree of the NetworkManager that the environment asks for in place of the one among the packages: that of a
// node of an older OpenShift. "" where none is asked for.
func olderManager(cache string) (string, error) {
	version := os.Getenv("BENCH_NETWORKMANAGER")
	if version == "" {
		return "", nil
	}
	tree, err := filepath.EvalSymlinks(filepath.Join(cache, "networkmanager-"+version))
	if err != nil {
		return "", fmt.Errorf("finding NetworkManager %s (make bench-networkmanager): %w", version, err)
	}
	return tree, nil
}

// unmount waits for the last user of the disk, which may still be dying.
func (m *Machine) unmount(ctx context.Context) error {
	for _, at := range []string{m.tree() + "/var", m.tree(), m.disk()} {
		var last error
		err := poll(ctx, "the disk to be free", func() bool {
			last = m.world.run(ctx, "umount", at)
			return last == nil
		})
		if err != nil {
			return errors.Join(err, last)
		}
	}
	// A mount in some namespace that is still ending would hold the disk: the next mount would get the old file system.
	return poll(ctx, "the loop device to be free", func() bool {
		out, err := output(m.world.command(ctx, "losetup", "--noheadings", "--output=name", "--associated", m.image()))
		return err == nil && len(bytes.TrimSpace(out)) == 0
	})
}

// PowerCut takes the power away. What the node has not synced is lost; with flush the file system's log is written first,
// which is the nastier of the two: names without their data. The machine is off afterwards and can be booted.
func (m *Machine) PowerCut(ctx context.Context, flush bool) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	shutdown := "shutdown"
	if flush {
		shutdown = "shutdown -f"
	}
	if err := m.world.run(ctx, "xfs_io", "-x", "-c", shutdown, m.disk()); err != nil {
		return fmt.Errorf("cutting the power: %w", err)
	}
	if err := m.kill(ctx); err != nil {
		return fmt.Errorf("cutting the power: %w", err)
	}
	if err := m.unmount(ctx); err != nil {
		return fmt.Errorf("cutting the power: %w", err)
	}
	return m.mount(ctx)
}

// Kill kills all processes of the node. Nothing on the disk is lost.
func (m *Machine) Kill(ctx context.Context) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	return m.kill(ctx)
}

func (m *Machine) kill(ctx context.Context) error {
	m.mu.Lock()
	m.stopping = true // no reboot of the node's own from here on
	ended := m.ended
	m.mu.Unlock()
	m.freeze(ctx)
	defer m.thaw()
	return poll(ctx, "the node to end", func() bool {
		m.mu.Lock()
		leader, nspawn := m.leader, m.nspawn
		m.mu.Unlock()
		switch {
		case leader != 0 && alive(leader):
			// The first process ends after all others. nspawn alone would not be enough: the node would go on without it.
			_ = syscall.Kill(leader, syscall.SIGKILL)
		case nspawn != 0:
			_ = syscall.Kill(nspawn, syscall.SIGKILL)
		}
		select {
		case <-ended:
			return leader == 0 || !alive(leader)
		default:
			return false
		}
	})
}

// freeze stops all processes of the node at once, as the end of the power does. They are killed one after the other: those
// that live a moment longer would see the others gone, and write that down. Where the kernel cannot, they do.
func (m *Machine) freeze(ctx context.Context) {
	if os.WriteFile(m.payload("cgroup.freeze"), []byte("1"), 0) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wait.Timeout(time.Second))
	defer cancel()
	_ = poll(ctx, "the node to stand still", func() bool {
		events, err := os.ReadFile(m.payload("cgroup.events"))
		return err != nil || bytes.Contains(events, []byte("frozen 1"))
	})
}

func (m *Machine) thaw() { _ = os.WriteFile(m.payload("cgroup.freeze"), []byte("0"), 0) }

// payload is a file of the cgroup in which nspawn puts the node.
func (m *Machine) payload(name string) string {
	return filepath.Join(m.cgroup("unified"), "payload", name)
}

// alive tells whether a process still holds anything. A zombie does not.
func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := bytes.Cut(data, []byte(") "))
	return !bytes.HasPrefix(state, []byte("Z")) && !bytes.HasPrefix(state, []byte("X"))
}

// Packages is the tree of the node's packages, for tools that the machine itself does not have.
func (m *Machine) Packages() string { return m.packages }
