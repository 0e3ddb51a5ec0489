package site

import (
	"slices"
	"strconv"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/netconfig"

	"gopkg.in/yaml.v3"
)

// nmstateKeys are the groups of a desired state that a site may set; ovn and ovs-db belong to the cluster.
var nmstateKeys = []string{"interfaces", "routes", "route-rules", "dns-resolver"}

// NetworkConfig reports what is wrong with a desired state of nmstate, as far as can be told without nmstate and
// without the machine: by what netconfig refuses on the node as well, and by what a site config alone can tell. Its errors never hold a value of it, except names of interfaces.
func NetworkConfig(s string) error {
	root, f := fragment([]byte(s))
	if f != nil {
		return f
	}
	if f := plainNode(root, yaml.MappingNode); f != nil {
		f.Fix = message.T("write it like networkConfig in agent-config.yaml, which starts with interfaces:")
		return f
	}
	if where, f := plainTree(root); f != nil {
		f.Msg = message.F("%s, in its line %s", f.Msg, lineNumber(where))
		return f
	}
	asRead(root)
	if f := desiredState(root); f != nil {
		return f
	}
	d, err := netconfig.Parse([]byte(s))
	if err != nil {
		return fault(message.T("write it like networkConfig in agent-config.yaml, which starts with interfaces:"), message.Detail(err))
	}
	if faults := netconfig.Judge([]byte(s), d); len(faults) > 0 {
		first := faults[0]
		return fault(first.Fix, message.F("%s, in its line %s", first.Text, strconv.Itoa(first.Line)))
	}
	return nil
}

func desiredState(root *yaml.Node) *Error {
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := root.Content[i]
		switch {
		case slices.Contains(nmstateKeys, key.Value):
		case key.Value == "hostname":
			return fault(message.T("write it as spec.hostname"), message.F("sets the node's name, in its line %s", lineNumber(key)))
		case key.Value == "ovn" || key.Value == "ovs-db":
			return fault(message.T("remove it"), message.F("changes what belongs to the cluster itself (%s), in its line %s", key.Value, lineNumber(key)))
		default:
			return fault(message.F("use %s", strings.Join(nmstateKeys, ", ")), message.F("has a group that is not nmstate's, in its line %s", lineNumber(key)))
		}
	}
	for _, port := range items(root, "interfaces") {
		name := child(port, "name")
		if name == nil || name.Value == "" {
			return fault(message.T("write its name"), message.F("has an interface without a name, in its line %s", lineNumber(port)))
		}
		if netconfig.ClusterOwned(name.Value) {
			return fault(message.T("describe the physical port; the cluster makes its bridge again at every boot"), message.F("describes %s, which belongs to the cluster itself, in its line %s", shown(name.Value), lineNumber(name)))
		}
	}
	if f := resolver(root); f != nil {
		return f
	}
	return drops(root)
}

// resolver judges name servers and search domains as it does those of spec.network.
func resolver(root *yaml.Node) *Error {
	config := child(child(root, "dns-resolver"), "config")
	for _, list := range []struct {
		key   string
		most  int
		check func(string) error
		fix   message.Text
	}{
		{"server", maxDNSServers, DNSServers, message.T("write the address of a name server of the site, like 198.51.100.53")},
		{"search", maxSearch, dNSSearch, message.T("write a domain like example.com")},
	} {
		found := items(config, list.key)
		if len(found) > list.most {
			return fault(message.T("keep the most important ones"), message.F("has %d entries below dns-resolver, %s, more than the %d that are allowed", len(found), list.key, list.most))
		}
		for _, item := range found {
			if item.Value != "" && (len(separate(item.Value)) > 1 || list.check(item.Value) != nil) {
				return fault(list.fix, message.F("has below dns-resolver, %s, what cannot be one, in its line %s", list.key, lineNumber(item)))
			}
		}
	}
	return nil
}

// searchOf returns the search domains of a desired state.
func searchOf(s string) (domains []string) {
	for _, item := range items(child(child(stateTree(s), "dns-resolver"), "config"), "search") {
		domains = append(domains, item.Value)
	}
	return domains
}

// addressesOf returns the addresses that a desired state gives to interfaces. Those of an interface that is to be absent are not the node's.
func addressesOf(s string) (addresses []string) {
	for _, port := range items(stateTree(s), "interfaces") {
		for _, key := range []string{"ipv4", "ipv6"} {
			family := child(port, key)
			if unused(port, family) {
				continue
			}
			for _, address := range items(family, "address") {
				if ip := child(address, "ip"); ip != nil {
					addresses = append(addresses, ip.Value)
				}
			}
		}
	}
	return addresses
}

func asks(family *yaml.Node, key string) bool {
	value := child(family, key)
	return value != nil && value.Tag == "!!bool" && value.Value == "true"
}

// items returns the items of a list below a key.
func items(n *yaml.Node, key string) []*yaml.Node {
	list := child(n, key)
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	return list.Content
}
