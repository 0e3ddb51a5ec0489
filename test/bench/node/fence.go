package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The node must not change the machine that it runs on. Root in it is root of the machine, so three things hold it back:
// capabilities that no process of a world has, not even one that enters the node from outside; a devices cgroup that
// opens no block device; and nspawn's read-only /proc/sys.

type capabilities []string

// keptBack are the capabilities that a node has in life and this one has not: the clock, the kernel's modules, memory,
// log and rules.
var keptBack = capabilities{
	"sys_time", "sys_module", "sys_rawio", "sys_pacct", "wake_alarm", "block_suspend", "syslog", "mac_admin", "mac_override",
	"audit_control", "audit_read", "perfmon",
}

// bounded is a command line that runs another without them.
func (c capabilities) bounded(argv ...string) []string {
	return append([]string{"setpriv", "--bounding-set=-" + strings.Join(c, ",-"), "--"}, argv...)
}

// nspawn is the list in nspawn's words.
func (c capabilities) nspawn() string {
	return "CAP_" + strings.ToUpper(strings.Join(c, ",CAP_"))
}

// hierarchies are the cgroup trees in which a machine has its own group.
func hierarchies() []string { return []string{"unified", "systemd", "devices"} }

func (m *Machine) cgroup(hierarchy string) string {
	return filepath.Join("/sys/fs/cgroup", hierarchy, m.Name)
}

// makeCgroups makes the machine's groups: two nodes in one would be taken for one another by systemd.
func (m *Machine) makeCgroups() error {
	for _, hierarchy := range hierarchies() {
		if err := os.Mkdir(m.cgroup(hierarchy), 0o755); err != nil {
			return fmt.Errorf("%w: making a cgroup: %w", ErrUnable, err)
		}
	}
	// What is denied by kind cannot be allowed by number again: so all is denied, and character devices are allowed.
	err := os.WriteFile(filepath.Join(m.cgroup("devices"), "devices.deny"), []byte("a"), 0)
	if err == nil {
		err = m.allow("c *:* rwm")
	}
	if err != nil {
		return fmt.Errorf("%w: fencing off the machine's disks: %w", ErrUnable, err)
	}
	return nil
}

// allow opens devices to the machine, in the words of its cgroup.
func (m *Machine) allow(devices string) error {
	return os.WriteFile(filepath.Join(m.cgroup("devices"), "devices.allow"), []byte(devices), 0)
}

// removeCgroups removes what nspawn and the node left of their groups, the deepest first.
func (m *Machine) removeCgroups() { removeCgroups(m.Name) }

func removeCgroups(name string) {
	for _, hierarchy := range hierarchies() {
		var dirs []string
		_ = filepath.WalkDir(filepath.Join("/sys/fs/cgroup", hierarchy, name), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		for i := len(dirs) - 1; i >= 0; i-- {
			_ = os.Remove(dirs[i])
		}
	}
}
