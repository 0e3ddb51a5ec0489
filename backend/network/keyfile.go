package network

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/netconfig"
	"touchdown/backend/problem"
)

// Where NetworkManager keeps profiles: for good, and until the next boot.
const (
	keptDir   = rhcos.Profiles
	memoryDir = "/run/NetworkManager/system-connections"
)

// The files of the profiles that Touchdown wrote.
const (
	prefix = "touchdown-"
	suffix = ".nmconnection"
)

// priority puts our profile before others of the same port (0 unless they say otherwise, below 0 for what NetworkManager
// and the initial RAM disk make up), and behind those that configure-ovs makes of it (100).
const priority = 10

// namespace makes the UUIDs of our profiles: the same profile has the same one at every writing, and none that another
// tool derives from the interface's name, as nmstate does.
var namespace = uuid.MustParse("5b8ed8a1-60e3-4a3e-9a55-0f2f8b6d1c10")

// ours turns a profile that nmstate wrote into one of Touchdown's. Its file, id and UUID come from the interface and from nothing
// else that a document says. The one with the node's own address is told not to look for that address on the network:
// every node from the factory has the same, and newer NetworkManagers would give it up where they see two on one LAN. The site's
// own address is looked for by the probes, before anything is applied.
func ours(f keyfile, node host.Own) (keyfile, error) {
	groups, err := decode(f.Text)
	if err != nil {
		return keyfile{}, err
	}
	name := find(groups, "connection", "interface-name")
	if err := linkName(name); err != nil {
		return keyfile{}, fmt.Errorf("naming a profile: its interface %w", err)
	}
	for i := range groups {
		switch g := &groups[i]; g.name {
		case "connection":
			g.entries = connection(g.entries, name)
		case "ipv4":
			if slices.ContainsFunc(g.entries, func(e entry) bool { return addressed(node, e.value) }) {
				g.entries = append([]entry{{"dad-timeout", "0"}}, g.entries...)
			}
		}
	}
	text, err := encode(groups)
	return keyfile{prefix + name + suffix, text}, err
}

// connection makes the group [connection] of a profile for an interface ours. nmstate writes no id for an empty profile-name, and
// NetworkManager would make one up.
func connection(entries []entry, name string) []entry {
	out := []entry{{"autoconnect-priority", strconv.Itoa(priority)}}
	if !slices.ContainsFunc(entries, func(e entry) bool { return e.key == "id" }) {
		out = append(out, entry{"id", prefix + name})
	}
	for _, e := range entries {
		switch e.key {
		case "id":
			e.value = prefix + name
		case "uuid":
			e.value = ourUUID(name)
		case "master", "controller":
			// By UUID: a port must not follow another profile of that name.
			e.value = ourUUID(e.value)
		case "type":
			e.value = strings.TrimPrefix(e.value, "802-3-")
		}
		out = append(out, e)
	}
	return out
}

// linkName reports why a text is not the name of a network interface: what the kernel refuses (dev_valid_name), and what
// names no file.
func linkName(name string) error {
	if err := host.FileName(name); err != nil || len(name) > netconfig.MaxLinkName || strings.ContainsAny(name, ": ") {
		return fmt.Errorf("has a name that no interface can have: at most %d characters, no slash, colon or space", netconfig.MaxLinkName)
	}
	return nil
}

func ourUUID(name string) string { return uuid.NewSHA1(namespace, []byte(name)).String() }

// values reads a keyfile: "section.key" to value. NetworkManager still takes old names of some sections.
func values(text string) map[string]string {
	found, section := map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
			if section == "802-3-ethernet" {
				section = "ethernet"
			}
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			found[section+"."+strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return found
}

// Persist writes what the next boot builds the network from: profiles of the ports below br-ex, each file as a whole.
// Profiles that would compete for the same ports are removed after ours are there; ours win meanwhile. NetworkManager is
// not told: nothing that runs changes. It changes nothing where a file of a MachineConfig is in the way, and is safe to repeat.
func (n *Network) Persist(p *Plan) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if file, err := n.profiles().held(p); err != nil {
		return err
	} else if file != "" {
		return &problem.Problem{
			Code: "NET-HELD", Summary: message.F("The network settings cannot be kept: %s comes from a MachineConfig and configures an interface that they change.", file),
			Fix: message.T("Have the file removed from that MachineConfig; then start again."),
		}
	}
	kept := n.host.Folder(keptDir)
	if files := n.profiles().unwritten(p); len(files) > 0 {
		if err := kept.WriteFiles(files...); err != nil {
			return fmt.Errorf("keeping the network settings: %w", err)
		}
	}
	rivals, err := n.profiles().rivals(p)
	if err != nil {
		return err
	}
	for _, r := range rivals {
		if err := kept.Remove(r); err != nil {
			return fmt.Errorf("removing an earlier profile: %w", err)
		}
	}
	return nil
}

// Persisted tells whether the next boot would build the network as p wants it.
func (n *Network) Persisted(p *Plan) bool {
	rivals, err := n.profiles().rivals(p)
	return err == nil && len(rivals)+len(n.profiles().unwritten(p)) == 0
}

// competes tells whether a profile is for one of some ports: by the port's name or, where it names none, by its MAC address. The
// MAC address in the profile of a VLAN is that of the port below, which the VLAN shares with others.
func competes(v map[string]string, ports, macs map[string]bool) bool {
	name, kind := v["connection.interface-name"], v["connection.type"]
	if name != "" {
		return ports[name] && !strings.HasPrefix(kind, "ovs-")
	}
	mac := strings.ToLower(v["ethernet.mac-address"])
	return mac != "" && macs[mac] && (kind == "ethernet" || kind == "802-3-ethernet")
}
