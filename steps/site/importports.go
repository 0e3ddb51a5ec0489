package site

import (
	"slices"
	"strings"

	"touchdown/backend/netconfig"
	"touchdown/backend/value"

	"gopkg.in/yaml.v3"
)

// byMAC has a desired state find its ports by the MAC addresses that the document gives for their names: to the installer these names are
// its own, and the node may call another port so. What it refers to without describing it, such as the ports of a bond, is described then.
func byMAC(im *importer, given spot, state *yaml.Node) {
	named := namesIn(state)
	macs := macsOf(im, given, named)
	if len(macs) == 0 {
		return
	}
	described := map[string]bool{}
	var rest []string
	for _, port := range items(state, "interfaces") {
		name, kind := textAt(port, "name"), textAt(port, "type")
		described[name] = true
		switch own := textAt(port, "mac-address"); {
		case kind != "" && kind != "ethernet", port.Kind != yaml.MappingNode:
		case textAt(port, "identifier") == "mac-address" && own != "": // it says itself which port it means
		case macs[name] == "":
			rest = append(rest, shown(name))
		default:
			if own != "" && value.MAC(own) != macs[name] { // nmstate has one place for both
				im.note("spec.networkConfig: the mac-address of %s is left out: %s says which port it is", shown(name), given.path)
			}
			identify(port, macs[name])
		}
	}
	for _, name := range named {
		if macs[name] != "" && !described[name] {
			described[name] = true
			describe(state, name, macs[name])
		}
	}
	if len(rest) > 0 {
		im.note("spec.networkConfig: %s has no MAC address in %s; see that the node calls it so", strings.Join(rest, ", "), given.path)
	}
}

// macsOf are the MAC addresses that a document gives for the names of ports in its network.
func macsOf(im *importer, given spot, named []string) map[string]string {
	macs := map[string]string{}
	for _, item := range given.items() {
		name, mac := item.get("name").text(), value.MAC(item.get("macAddress").text())
		switch {
		case len(named) == 0: // the usual reason says it
		case name == "" || mac == "":
			im.leave(item, "it gives no name with a MAC address")
		case macs[name] != "":
			im.leave(item, "it gives a name a second MAC address")
		case !slices.Contains(named, name):
			im.leave(item, "no network settings name that port")
		default:
			macs[name] = mac
			im.use(item.get("name"))
			im.use(item.get("macAddress"))
			im.note("%s is now in spec.networkConfig: %s is found by this MAC address, whatever the node calls the port", item.path, shown(name))
		}
	}
	return macs
}

func textAt(n *yaml.Node, key string) string { return spot{child(n, key), ""}.text() }

// describe adds a port to a desired state.
func describe(state *yaml.Node, name, mac string) {
	port := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, pair := range [][2]string{{"name", name}, {"type", "ethernet"}, {"state", "up"}} {
		port.Content = append(port.Content, scalarNode(pair[0], "!!str"), scalarNode(pair[1], "!!str"))
	}
	identify(port, mac)
	list := child(state, "interfaces")
	if list == nil {
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		state.Content = append(state.Content, scalarNode("interfaces", "!!str"), list)
	}
	if list.Kind == yaml.SequenceNode {
		list.Content = append(list.Content, port)
	}
}

// identify has a port found by its MAC address.
func identify(port *yaml.Node, mac string) {
	quoted := scalarNode(mac, "!!str")
	quoted.Style = yaml.DoubleQuotedStyle // YAML 1.1 can take one for a number
	for _, pair := range []struct {
		key   string
		value *yaml.Node
	}{{"identifier", scalarNode("mac-address", "!!str")}, {"mac-address", quoted}} {
		if have := child(port, pair.key); have != nil {
			*have = *pair.value
			continue
		}
		port.Content = append(port.Content, scalarNode(pair.key, "!!str"), pair.value)
	}
}

// namesIn are the names of interfaces in a desired state.
func namesIn(state *yaml.Node) (names []string) {
	text, err := encode(state)
	if err != nil {
		return nil
	}
	d, err := netconfig.Parse(text)
	if err != nil {
		return nil
	}
	d.Rename(func(name string) string {
		names = append(names, name)
		return name
	})
	return names
}
