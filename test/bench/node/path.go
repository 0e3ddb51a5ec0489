package node

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// Path is a file of the running node as it can be opened from here; a socket of the node is reached by it too. It is good
// until the node is switched off, and a short one: sockets have paths of 107 bytes at most.
func (m *Machine) Path(name string) (string, error) {
	m.mu.Lock()
	leader := m.leader
	m.mu.Unlock()
	if leader == 0 {
		return "", fmt.Errorf("finding %s of the node: %w", name, errOff)
	}
	return filepath.Join("/proc", strconv.Itoa(leader), "root", name), nil
}
