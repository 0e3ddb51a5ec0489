package network

import (
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// Files in which an owner tells configure-ovs which interface carries br-ex, before anything else that it would go by, and which a second
// bridge (openshift/machine-config-operator templates/common/_base/files/configure-ovs-network.yaml, get_default_bridge_interface).
const (
	defaultBridge = "/etc/ovnk/default_bridge"
	extraBridge   = "/etc/ovnk/extra_bridge"
)

// chosen refuses a device that the next boot would not build br-ex on, because the node's owner has chosen one; below are the interfaces
// under it.
func (f *faults) chosen(n *Network, path, device string, below ...string) {
	if named := firstLine(n.host, defaultBridge); named != "" && named != device {
		f.add(path, message.F("a boot makes br-ex of %s, which /etc/ovnk/default_bridge names, and not of %s; keep to it, or remove that file", named, device))
	}
	if named := firstLine(n.host, extraBridge); named != "" && slices.Contains(append(below, device), named) {
		f.add(path, message.F("%s belongs to a second bridge, as /etc/ovnk/extra_bridge says; choose another port, or remove that file", named))
	}
}

// firstLine is the interface that one of these files names.
func firstLine(m *host.Machine, file string) string {
	text, err := m.ReadFile(file)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(name)
}
