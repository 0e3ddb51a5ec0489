package site

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
	nodeyaml "sigs.k8s.io/yaml"
)

// stateTree is networkTree as the node reads it. Secrets are looked for in the text as it stands.
func stateTree(s string) *yaml.Node {
	root := networkTree(s)
	if root != nil {
		asRead(root)
	}
	return root
}

// asRead gives the plain values below n the type and the text that the node reads in them, those of the tags alone where some are given.
// The node reads by the rules of YAML 1.1 (backend/network, parseDocument): yes is true there, and 0x18 is 24. The judge must not take them
// for something else: it would refuse what works, and let pass what cuts the node off.
func asRead(n *yaml.Node, tags ...string) {
	if n.Kind == yaml.ScalarNode && n.Style == 0 {
		if tag, value := plainRead(n.Value); tag != "" && (len(tags) == 0 || slices.Contains(tags, tag)) {
			n.Tag, n.Value = tag, value
		}
		return
	}
	for i, below := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			asRead(below, tags...)
		}
	}
}

// plainRead is what the node's library reads in a plain value: the tag of its type, and for what is not a text how JSON writes it. The tag is ""
// for what can only be a text.
func plainRead(s string) (tag, value string) {
	if s == "" || !strings.ContainsRune("+-.0123456789~yYnNtTfFoO", rune(s[0])) { // that library's own hint (go.yaml.in/yaml/v2, resolve.go)
		return "", ""
	}
	var list []any // in one, --- is a text, too
	if nodeyaml.Unmarshal([]byte("["+s+"]"), &list) != nil || len(list) != 1 {
		return "", ""
	}
	switch list[0].(type) {
	case nil:
		return "!!null", "null"
	case bool:
		tag = "!!bool"
	case float64:
		tag = "!!float"
	default: // a date, too
		return "!!str", s
	}
	text, err := json.Marshal(list[0])
	if err != nil {
		return "", ""
	}
	value = string(text)
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		tag = "!!int"
	}
	return tag, value
}
