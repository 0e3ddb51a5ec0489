package site

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// fromNMState takes over a desired state of nmstate. It stays in its own words: spec.network has no place for much of what it can say.
func fromNMState(im *importer, doc spot) { im.network(doc, spot{}) }

// fromNMStateConfig takes over an NMStateConfig of the assisted installer (agent-install.openshift.io/v1beta1).
func fromNMStateConfig(im *importer, doc spot) {
	im.network(doc.get("spec.config"), doc.get("spec.interfaces"))
}

// network takes the groups of a desired state that a site may set, and the name of the node, which has its own place in a site config.
// ports are the MAC addresses of the names in it, where the document has them.
func (im *importer) network(s, ports spot) {
	if s.blank() {
		return
	}
	if f := plainNode(s.node, yaml.MappingNode); f != nil {
		im.fail(s, f)
		return
	}
	state := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(s.node.Content); i += 2 {
		key, value := s.node.Content[i], s.node.Content[i+1]
		if !slices.Contains(nmstateKeys, key.Value) {
			continue
		}
		if group := (spot{value, s.below(key.Value)}); !group.blank() {
			asRead(value, "!!bool") // written out, yes means the same to every reader
			state.Content = append(state.Content, key, value)
			im.use(group)
		}
	}
	im.hostname(s.get("hostname.config"))
	if len(state.Content) > 0 {
		byMAC(im, ports, state)
		if s.path == "" {
			s.path = "the desired state"
		}
		im.tree(s, "spec.networkConfig", state)
	}
}

// networkText takes a desired state that stands in a document as text.
func (im *importer) networkText(s spot) {
	if s.blank() {
		return
	}
	if f := plainNode(s.node, yaml.ScalarNode); f != nil {
		im.fail(s, f)
		return
	}
	root, f := fragment([]byte(s.node.Value))
	if f == nil {
		f = plainNode(root, yaml.MappingNode)
	}
	if f == nil {
		_, f = shallow(root)
	}
	if f == nil {
		_, f = plainTree(root)
	}
	if f != nil {
		im.fail(s, f)
		return
	}
	inner := spot{root, s.path}
	if inner.blank() {
		im.leave(s, "it is empty")
		return
	}
	im.use(s)
	shift(root, s.node.Line, s.node.Column)
	im.trees = append(im.trees, tree{inner, true})
	im.network(inner, spot{})
}

// shift gives every value of a text the place where the text stands in its document.
func shift(n *yaml.Node, line, column int) {
	n.Line, n.Column = line, column
	for _, below := range n.Content {
		shift(below, line, column)
	}
}

// registryCert takes the one registry of a ClusterRelocation, whose port is a text there.
func (im *importer) registryCert(s spot) {
	if s.blank() {
		return
	}
	item := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, key := range []string{"registryHostname", "registryPort", "certificate"} {
		value := s.get(key)
		if value.blank() {
			continue
		}
		im.use(value)
		im.config.places["spec.registryCerts[0]."+key] = im.place(value)
		n := value.node
		if key == "registryPort" && parseableNumber(n.Value) == nil {
			n = scalarNode(n.Value, "!!int")
		}
		item.Content = append(item.Content, scalarNode(key, "!!str"), n)
	}
	im.tree(s, "spec.registryCerts", &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{item}})
}

// chrony takes the time servers of a chrony.conf, whose directives may be written in capitals (chrony.conf(5)); its other lines stay the factory's.
func (im *importer) chrony(s spot) {
	if s.blank() {
		return
	}
	if f := plainNode(s.node, yaml.ScalarNode); f != nil {
		im.fail(s, f)
		return
	}
	var servers []string
	for line := range strings.Lines(s.node.Value) {
		if f := strings.Fields(line); len(f) > 1 && slices.Contains([]string{"server", "pool", "peer"}, strings.ToLower(f[0])) {
			servers = append(servers, f[1])
		}
	}
	if len(servers) == 0 {
		im.leave(s, "it names no time servers, and its other lines stay the factory's")
		return
	}
	im.whole(s, "spec.additionalNTPSources", strings.Join(servers, "\n"))
	im.note("%s: only its time servers are taken over; its other lines stay the factory's", s.path)
}
