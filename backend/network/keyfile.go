package network

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"touchdown/backend/host"
)

// Where NetworkManager keeps profiles: for good, and until the next boot.
const (
	keptDir   = "/etc/NetworkManager/system-connections"
	memoryDir = "/run/NetworkManager/system-connections"
)

// prefix marks the profiles that Touchdown wrote.
const prefix = "touchdown-"

// priority puts our profile before others of the same port (0 unless they say otherwise, below 0 for what NetworkManager
// and the initial RAM disk make up), and behind those that configure-ovs makes of it (100).
const priority = 10

// namespace makes the UUIDs of our profiles: the same profile has the same one at every writing, and none that another
// tool derives from the interface's name, as nmstate does.
var namespace = uuid.MustParse("5b8ed8a1-60e3-4a3e-9a55-0f2f8b6d1c10")

// ours turns a profile that nmstate wrote into one of Touchdown's. The one with the node's internal address is told not to
// look for that address on the network: every node from the factory has the same, and newer NetworkManagers would give
// it up where they see two on one LAN. The site's own address is looked for by the probes, before anything is applied.
func ours(f keyfile, internal netip.Addr) keyfile {
	certain := strings.Contains(f.Text, "="+internal.String()+"/")
	name := strings.TrimSuffix(f.Name, ".nmconnection")
	var out strings.Builder
	section := ""
	for line := range strings.Lines(f.Text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if strings.HasPrefix(key, "[") {
			section = key
		} else if section != "[connection]" {
			key = "" // a VLAN has an id too
		}
		switch key {
		case "id":
			fmt.Fprintf(&out, "id=%s%s\n", prefix, name)
		case "uuid":
			fmt.Fprintf(&out, "uuid=%s\n", ourUUID(name))
		case "master", "controller":
			// By UUID: a port must not follow another profile of that name.
			fmt.Fprintf(&out, "%s=%s\n", key, ourUUID(value))
		case "type":
			fmt.Fprintf(&out, "type=%s\n", strings.TrimPrefix(value, "802-3-"))
		case "[ipv4]":
			out.WriteString(line)
			if certain {
				out.WriteString("dad-timeout=0\n")
			}
		case "[connection]":
			fmt.Fprintf(&out, "%sautoconnect-priority=%d\n", line, priority)
		default:
			out.WriteString(line)
		}
	}
	return keyfile{prefix + name + ".nmconnection", out.String()}
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
// not told: nothing that runs changes. It is safe to repeat.
func (n *Network) Persist(p *Plan) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var files []host.File
	for _, f := range p.files {
		old, err := n.host.ReadFile(path.Join(keptDir, f.Name))
		if err != nil || string(old) != f.Text {
			files = append(files, host.File{Path: path.Join(keptDir, f.Name), Data: []byte(f.Text), Perm: 0o600})
		}
	}
	if len(files) > 0 {
		if err := n.host.WriteFiles(files...); err != nil {
			return fmt.Errorf("keeping the network settings: %w", err)
		}
	}
	rivals, err := n.rivals(p)
	if err != nil {
		return err
	}
	for _, r := range rivals {
		if err := n.host.Remove(r); err != nil {
			return fmt.Errorf("removing a profile of before: %w", err)
		}
	}
	return nil
}

// Persisted tells whether the next boot would build the network as p wants it.
func (n *Network) Persisted(p *Plan) bool {
	for _, f := range p.files {
		if old, err := n.host.ReadFile(path.Join(keptDir, f.Name)); err != nil || string(old) != f.Text {
			return false
		}
	}
	rivals, err := n.rivals(p)
	return err == nil && len(rivals) == 0
}

// rivals are the kept profiles for the interfaces of p that are not p's.
func (n *Network) rivals(p *Plan) ([]string, error) {
	taken, names := map[string]bool{}, []string{}
	macs := map[string]string{}
	for mac, name := range p.before.Macs {
		macs[name] = mac
	}
	for _, f := range p.files {
		v := values(f.Text)
		taken[v["connection.interface-name"]] = true
		if mac := macs[v["connection.interface-name"]]; mac != "" {
			taken[mac] = true
		}
		names = append(names, f.Name)
	}
	all, err := n.host.Glob(keptDir + "/*")
	if err != nil {
		return nil, fmt.Errorf("looking for profiles: %w", err)
	}
	var found []string
	for _, file := range all {
		if slices.Contains(names, path.Base(file)) {
			continue
		}
		text, err := n.host.ReadFile(file)
		if err != nil {
			continue // a directory, or gone
		}
		v := values(string(text))
		same := taken[v["connection.interface-name"]] || taken[strings.ToLower(v["ethernet.mac-address"])]
		// Of an earlier plan: it may have addresses on a VLAN or bond that this plan does not name. A port that was only
		// kept quiet goes on being that.
		quiet := v["connection.type"] == "ethernet" && v["ipv4.method"] == "disabled" && v["ipv6.method"] == "disabled"
		earlier := strings.HasPrefix(path.Base(file), prefix) && !quiet
		if earlier || same && !strings.HasPrefix(v["connection.type"], "ovs-") {
			found = append(found, file)
		}
	}
	return found, nil
}
