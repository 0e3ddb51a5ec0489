package site

import (
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// list reads a list of texts.
func (r *reader) list(key, value *yaml.Node, e *entry, path string) {
	if f := plainList(value); f != nil {
		r.report(value, path, f)
		return
	}
	var items []string
	for _, n := range value.Content {
		if f := e.item(n); f != nil {
			r.report(n, path, f)
			return
		}
		items = append(items, e.split(n.Value)...)
	}
	if len(items) == 0 {
		return
	}
	if f := r.config.put(path, strings.Join(items, e.separator())); f != nil {
		r.report(value, path, f)
		return
	}
	r.took(key, path, "file "+r.name)
}

func plainList(n *yaml.Node) *Error {
	if n.Tag == "!!null" && n.Anchor == "" {
		return fault(message.T("write a value or remove the line"), message.T("has no value"))
	}
	return plainNode(n, yaml.SequenceNode)
}

// item judges one item of a list. What is one item in the document must not become several where the list is shown on
// one line.
func (e *entry) item(n *yaml.Node) *Error {
	if f := plainNode(n, yaml.ScalarNode); f != nil {
		return f
	}
	if f := e.accepts(n, ""); f != nil {
		return f
	}
	if holdsPrivateKey(n.Value) {
		return e.holds(n.Value)
	}
	switch items := e.split(n.Value); len(items) {
	case 0:
		return fault(message.T("remove it"), message.T("has an item without a value"))
	case 1:
		return nil
	}
	return fault(message.T("make each a separate item"), message.T("has an item that holds several values"))
}

// groups reads a list of groups.
func (r *reader) groups(value *yaml.Node, e *entry, path string) {
	if f := plainList(value); f != nil {
		if f.Fix == listFix() {
			f.Fix = e.groupsFix()
		}
		r.report(value, path, f)
		return
	}
	if len(value.Content) > maxItems {
		r.report(value, path, fault(message.T("check that it is the right file"), message.F("has %d items, more than the %d that are allowed", len(value.Content), maxItems)))
		return
	}
	list, _ := e.at(r.config).(groups)
	list.clear()
	for i, n := range value.Content {
		item := itemPath(path, i)
		list.grow()
		if f := plainNode(n, yaml.MappingNode); f != nil {
			r.report(n, item, f)
			continue
		}
		r.config.places[item] = r.place(n)
		r.mapping(n, item+".")
	}
}

// nmstate reads a desired state that is written into the document as it stands, and keeps it as text.
func (r *reader) nmstate(key, value *yaml.Node, path string) {
	if f := plainNode(value, yaml.MappingNode); f != nil {
		r.report(value, path, f)
		return
	}
	if where, f := plainTree(value); f != nil {
		r.report(where, path, f)
		return
	}
	if len(value.Content) == 0 {
		return
	}
	text, err := encode(value)
	if err != nil {
		r.report(value, path, fault(message.T("write it as a text of many lines, after networkConfig: |"), message.T("cannot be kept unchanged")))
		return
	}
	if f := r.config.put(path, string(text)); f != nil {
		r.report(value, path, f)
		return
	}
	r.took(key, path, "file "+r.name)
}

// plainTree reports the first node below n that hides what the document says.
func plainTree(n *yaml.Node) (*yaml.Node, *Error) {
	if f := plainNode(n, n.Kind); f != nil {
		return n, f
	}
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if f := plainKey(child); f != nil {
				return child, f
			}
			if seen[child.Value] {
				return child, fault(message.T("keep one of them"), message.T("has a key twice in one group"))
			}
			seen[child.Value] = true
		}
		if where, f := plainTree(child); f != nil {
			return where, f
		}
	}
	return nil, nil
}
