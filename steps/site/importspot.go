package site

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// spot is a value of a foreign document with its path there; its node is nil where there is none.
type spot struct {
	node *yaml.Node
	path string
}

// get returns the value at a path below s.
func (s spot) get(path string) spot {
	for key := range strings.SplitSeq(path, ".") {
		s = s.key(key)
	}
	return s
}

// key returns the value of one key, which may have dots in it.
func (s spot) key(key string) spot { return spot{child(s.node, key), s.below(key)} }

// dottedKeys are the keys of Secrets that are not secrets themselves.
var dottedKeys = []string{"tls.crt", "tls.key", "ca.crt", ".dockerconfigjson"}

// below makes the path of a key. A key that may be a secret in the wrong place is not repeated.
func (s spot) below(key string) string {
	if slices.Contains(dottedKeys, key) {
		return s.path + "." + key
	}
	path := join(s.path, key)
	if path == s.path {
		return strings.TrimPrefix(s.path+".(a key that is not shown)", ".")
	}
	return path
}

// items returns the items of a list.
func (s spot) items() []spot {
	if s.node == nil || s.node.Kind != yaml.SequenceNode {
		return nil
	}
	items := make([]spot, len(s.node.Content))
	for i, n := range s.node.Content {
		items[i] = spot{n, itemPath(s.path, i)}
	}
	return items
}

// text returns a text; "" where there is none.
func (s spot) text() string {
	if s.blank() || s.node.Kind != yaml.ScalarNode {
		return ""
	}
	return s.node.Value
}

// blank reports whether there is nothing to take.
func (s spot) blank() bool {
	switch n := s.node; {
	case n == nil || n.Tag == "!!null":
		return true
	case n.Kind == yaml.ScalarNode:
		return n.Value == ""
	default:
		return len(n.Content) == 0
	}
}

// hollow reports whether a value and all that is below it are blank.
func hollow(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return spot{node: n}.blank()
	}
	return !slices.ContainsFunc(valuesOf(n), func(below *yaml.Node) bool { return !hollow(below) })
}

// valuesOf returns the values of a group, or the items of a list, without the paths, which get long in a deep document.
func valuesOf(n *yaml.Node) []*yaml.Node {
	if n.Kind != yaml.MappingNode {
		return n.Content
	}
	var values []*yaml.Node
	for i := 1; i < len(n.Content); i += 2 {
		values = append(values, n.Content[i])
	}
	return values
}
