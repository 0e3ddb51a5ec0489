package site

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// plainNode reports a node that is not of the wanted kind, or uses a feature of YAML that hides what the document says.
func plainNode(n *yaml.Node, kind yaml.Kind) *Error {
	switch {
	case n.Kind == yaml.AliasNode:
		return fault(message.T("write the value out"), message.T("uses an alias (*name), which is not allowed"))
	case n.Anchor != "":
		return fault(message.T("remove it"), message.T("has an anchor (&name), which is not allowed"))
	case n.Style&yaml.TaggedStyle != 0:
		return fault(message.T("remove it"), message.T("has a tag (!name), which is not allowed"))
	case n.Kind == kind:
		return nil
	case kind == yaml.SequenceNode:
		return fault(listFix(), message.F("is %s where a list is expected", article(n.Tag)))
	case kind == yaml.ScalarNode:
		return fault(message.T("write one value"), message.F("is %s where one value is expected", article(n.Tag)))
	}
	return fault(message.T("write keys and values below it, indented"), message.F("is %s where keys and values are expected", article(n.Tag)))
}

func listFix() message.Text {
	return message.T("write a list: [one, two], or each value on its own line after a dash")
}

func plainKey(n *yaml.Node) *Error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!merge" {
		return fault(message.T("write the keys out"), message.T("has a merge key (<<), which is not allowed"))
	}
	return plainNode(n, yaml.ScalarNode)
}

// article names a YAML type for people.
func article(tag string) message.Text {
	switch tag {
	case "!!map":
		return message.T("a group of keys")
	case "!!seq":
		return message.T("a list")
	case "!!int", "!!float":
		return message.T("a number")
	case "!!bool":
		return message.T("a truth value")
	case "!!null":
		return message.T("nothing")
	}
	return message.T("a text")
}

// unknownKey says what is wrong with a key that the schema does not have, and which one was meant.
func unknownKey(prefix, key string) *Error {
	f := fault(message.T("remove it"), message.T("is not a key of this document"))
	if strings.TrimSuffix(prefix, ".") == strings.TrimSuffix(answers, ".") {
		return fault(message.T("use the id that the question shows, for example keep-network"), message.T("is not the id of a question"))
	}
	var here []string
	for _, e := range schema {
		if rest, below := strings.CutPrefix(e.Path, general(prefix)); below {
			name, _, _ := strings.Cut(rest, ".")
			name = strings.TrimSuffix(name, "[]")
			here = append(here, name)
		}
	}
	if near := nearest(key, here); near != "" {
		f.Fix = message.F("did you mean %s?", near)
		return f
	}
	if home := homeOf(key); home != "" {
		return fault(message.F("move it below %s", home), message.T("does not belong here"))
	}
	return f
}

// homeOf returns the first group that a key or a group of that name belongs to, or "".
func homeOf(key string) string {
	for i := range schema {
		parts := strings.Split(schema[i].Path, ".")
		if at := slices.Index(parts, key); at > 0 {
			return strings.Join(parts[:at], ".")
		}
	}
	return ""
}

// isGroup reports whether the schema has paths below this one.
func isGroup(path string) bool {
	for i := range schema {
		if strings.HasPrefix(schema[i].Path, path+".") {
			return true
		}
	}
	return false
}

// join makes the path of a key that may be anything, a secret that slipped out of its place too: only what looks like
// a name is repeated: a key of the schema, or letters with one digit at most behind them, as in dns1.
func join(parent, key string) string {
	const longest = 32
	letters := strings.TrimRight(key, "0123456789")
	plain := letters != "" && len(key) <= longest && len(key)-len(letters) <= 1 && strings.Trim(strings.ToLower(letters), "abcdefghijklmnopqrstuvwxyz_-") == ""
	if !plain && homeOf(key) == "" {
		return parent
	}
	if parent == "" {
		return key
	}
	return fmt.Sprintf("%s.%s", parent, key)
}

// child returns the value of a key, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func lineNumber(n *yaml.Node) string { return strconv.Itoa(n.Line) }

func lastPart(path string) string { return path[strings.LastIndex(path, ".")+1:] }
