package site

import (
	"slices"
	"strings"

	"touchdown/backend/netconfig"
	"touchdown/backend/value"

	"gopkg.in/yaml.v3"
)

// ports has a desired state find its ports by the MAC addresses that the document gives for their names: to the installer these names are
// its own, and the node may call another port so. What it refers to without describing it, such as the ports of a bond, is described then.
func (im *importer) ports(given spot, state *yaml.Node) {
	named := namesIn(state)
	if len(named) == 0 {
		return
	}
	known := map[string]string{} // MAC addresses by name
	for _, item := range given.items() {
		name, mac := item.get("name").text(), value.MAC(item.get("macAddress").text())
		switch {
		case name == "" || mac == "":
			im.leave(item, "it gives no name with a MAC address")
		case known[name] != "":
			im.leave(item, "it gives a name a second MAC address")
		case !slices.Contains(named, name):
			im.leave(item, "no network settings name that port")
		default:
			known[name] = mac
			im.use(item.get("name"))
			im.use(item.get("macAddress"))
			im.note("%s is now in spec.networkConfig: %s is found by this MAC address, whatever the node calls the port", item.path, shown(name))
		}
	}
	if len(known) == 0 {
		return
	}
	described := map[string]bool{}
	var byName []string
	for _, port := range items(state, "interfaces") {
		name := spot{node: port}.get("name").text()
		described[name] = true
		switch kind := (spot{node: port}).get("type").text(); {
		case kind != "" && kind != "ethernet" || port.Kind != yaml.MappingNode:
		case known[name] != "":
			if own := (spot{child(port, "mac-address"), ""}).text(); own != "" && value.MAC(own) != known[name] {
				im.note("spec.networkConfig: the mac-address of %s is left out: %s says which port it is", shown(name), given.path)
			}
			identify(port, known[name])
		case (spot{node: port}).get("identifier").text() != "mac-address":
			byName = append(byName, shown(name))
		}
	}
	for _, name := range named {
		if known[name] == "" || described[name] {
			continue
		}
		described[name] = true
		port := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, pair := range [][2]string{{"name", name}, {"type", "ethernet"}, {"state", "up"}} {
			port.Content = append(port.Content, scalarNode(pair[0], "!!str"), scalarNode(pair[1], "!!str"))
		}
		identify(port, known[name])
		list := child(state, "interfaces")
		if list == nil {
			list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
			state.Content = append(state.Content, scalarNode("interfaces", "!!str"), list)
		}
		list.Content = append(list.Content, port)
	}
	if len(byName) > 0 {
		im.note("spec.networkConfig: %s has no MAC address in %s; see that the node calls it so", strings.Join(byName, ", "), given.path)
	}
}

// identify has a port found by its MAC address. One that the port was to get instead is left out: nmstate has one place for both.
func identify(port *yaml.Node, mac string) {
	set := func(key, text string, style yaml.Style) {
		value := scalarNode(text, "!!str")
		value.Style = style
		if have := child(port, key); have != nil {
			*have = *value
			return
		}
		port.Content = append(port.Content, scalarNode(key, "!!str"), value)
	}
	if have := child(port, "identifier"); have != nil && have.Value == "mac-address" && child(port, "mac-address") != nil {
		return // it says itself which port it means
	}
	set("identifier", "mac-address", 0)
	set("mac-address", mac, yaml.DoubleQuotedStyle) // YAML 1.1 can take one for a number
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
