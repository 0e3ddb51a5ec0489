package site

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// Marshal returns the document as YAML, in the order of the schema, without what is not set. With redact a secret reads
// Redacted, which Parse refuses; without it the result is secret itself.
func (c *Config) Marshal(redact bool) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	put(root, "apiVersion", scalarNode(APIVersion, "!!str"))
	put(root, "kind", scalarNode(Kind, "!!str"))
	for _, path := range c.Paths() {
		n := find(path).node(c, path)
		if redact && n != nil && c.IsSecret(path) {
			n = scalarNode(Redacted, "!!str")
		}
		if n != nil {
			put(root, path, n)
		}
	}
	text, err := encode(root)
	if err != nil {
		return nil, fmt.Errorf("writing the site config as YAML: %w", err)
	}
	return text, nil
}

// node returns the value of a path as YAML, or nil when there is none.
func (e *entry) node(c *Config, path string) *yaml.Node {
	if e.Type == typeGroups {
		return e.groupsNode(c)
	}
	value, _ := c.Get(path)
	if value == "" || e.spared && value == e.Default {
		return nil
	}
	switch e.Type {
	case typeBool:
		return scalarNode(value, "!!bool")
	case typeNumber:
		return scalarNode(value, "!!int")
	case typeLabels:
		return labelsNode(value)
	case typeList:
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range e.split(value) {
			list.Content = append(list.Content, scalarNode(item, "!!str"))
		}
		return list
	}
	return scalarNode(value, "!!str")
}

// scalarNode chooses a style that reads back unchanged: only a quoted text keeps a tab at the start of a line, a space
// at its end and the line breaks that YAML knows besides LF, and << without quotes is YAML's merge key, not a text.
func scalarNode(value, tag string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
	switch {
	case value == "<<":
		n.Style = yaml.DoubleQuotedStyle
	case strings.ContainsAny(value, "\r\t\u0085\u2028\u2029") || strings.Contains(value, " \n"):
		n.Style = yaml.DoubleQuotedStyle
	case strings.Contains(value, "\n") && strings.HasPrefix(value, " "):
		n.Style = yaml.DoubleQuotedStyle
	case strings.Contains(value, "\n"):
		n.Style = yaml.LiteralStyle
	}
	return n
}

// put adds a value below the groups of its path.
func put(n *yaml.Node, path string, value *yaml.Node) {
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		n.Content = append(n.Content, scalarNode(name, "!!str"), value)
		return
	}
	group := child(n, name)
	if group == nil {
		group = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		n.Content = append(n.Content, scalarNode(name, "!!str"), group)
	}
	put(group, rest, value)
}
