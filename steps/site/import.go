package site

import (
	"fmt"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// importer carries one foreign document over.
type importer struct {
	root   *yaml.Node
	name   string
	config *Config
	notes  []string
	errs   Errors
	taken  map[string]bool
}

// newImport opens the document that --from calls from.
func newImport(data []byte, name, from string) (*importer, error) {
	root, err := document(data, name)
	if err != nil && err.Msg.String() == secondDocument {
		err.Msg = message.F("%s; only one can be imported, and the file holds %s", err.Msg, several(data))
		err.Fix = message.T("copy the one that you want into its own file")
	}
	if err != nil {
		return nil, Errors{err}
	}
	im := &importer{root: root, name: name, config: New(), taken: map[string]bool{}}
	return im, im.expect(from)
}

func (im *importer) refuse(path string, msg message.Text) error {
	return Errors{position{im.name, im.root.Line, im.root.Column}.at(path, fault(message.T("check that it is the right file"), msg))}
}

// at returns the node at a path of the foreign document, or nil when there is nothing.
func (im *importer) at(path string) *yaml.Node {
	n := im.root
	for part := range strings.SplitSeq(path, ".") {
		n = child(n, part)
	}
	if n == nil || n.Tag == "!!null" || n.Kind == yaml.ScalarNode && n.Value == "" || n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		return nil
	}
	return n
}

// take copies the text at a path of the foreign document.
func (im *importer) take(from, to string) {
	if n := im.at(from); n != nil {
		im.text(n, from, to)
	}
}

func (im *importer) text(n *yaml.Node, from, to string) {
	if f := plainNode(n, yaml.ScalarNode); f != nil {
		im.fail(n, from, f)
		return
	}
	im.store(n, from, to, n.Value)
}

// list copies a list of texts.
func (im *importer) list(from, to string) {
	n := im.at(from)
	if n == nil {
		return
	}
	if f := plainNode(n, yaml.SequenceNode); f != nil {
		im.fail(n, from, f)
		return
	}
	var values []string
	for _, item := range n.Content {
		if f := plainNode(item, yaml.ScalarNode); f != nil {
			im.fail(item, from, f)
			return
		}
		values = append(values, item.Value)
	}
	im.store(n, from, to, strings.Join(values, "\n"))
}

// mirrors copies a list of mirrors. Its keys are those of a mirror set, or the ones of the installer.
func (im *importer) mirrors(from, to string) {
	n := im.at(from)
	if n == nil {
		return
	}
	if where, f := plainTree(n); f != nil {
		im.fail(where, from, f)
		return
	}
	if f := plainNode(n, yaml.SequenceNode); f != nil {
		im.fail(n, from, f)
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i, source := range n.Content {
		here := fmt.Sprintf("%s[%d]", from, i)
		item := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, key := range [][2]string{{"source", "source"}, {"mirrors", "mirrors"}, {"mirrorSourcePolicy", "mirrorSourcePolicy"}, {"sourcePolicy", "mirrorSourcePolicy"}} {
			if value := child(source, key[0]); value != nil {
				item.Content = append(item.Content, scalarNode(key[1], "!!str"), value)
				im.taken[here+"."+key[0]] = true
			}
		}
		im.leave(source, here)
		list.Content = append(list.Content, item)
	}
	im.node(n, from, to, list)
}

// node stores a value that is more than a text.
func (im *importer) node(n *yaml.Node, from, to string, value *yaml.Node) {
	text, err := encode(value)
	if err != nil {
		im.fail(n, from, fault(message.T("check that it is the right file"), message.T("cannot be taken over")))
		return
	}
	im.store(n, from, to, string(text))
}

func (im *importer) fail(n *yaml.Node, from string, f *Error) {
	im.errs = append(im.errs, position{im.name, n.Line, n.Column}.at(from, f))
}

func (im *importer) note(format string, args ...any) {
	im.notes = append(im.notes, fmt.Sprintf(format, args...))
}

func (im *importer) store(n *yaml.Node, from, to, value string) {
	im.taken[from] = true
	if f := im.config.store(to, value); f != nil {
		im.fail(n, from, f)
		return
	}
	im.config.note(to, "file "+im.name)
	im.config.places[to] = position{im.name, n.Line, n.Column}
	im.note("%s is now %s", from, to)
}

// leave notes the keys of a group that were not taken, except those that hold nothing to take.
func (im *importer) leave(group *yaml.Node, prefix string, except ...string) {
	if group == nil || group.Kind != yaml.MappingNode {
		return
	}
	var left, odd int
	skip := map[string]bool{}
	for _, key := range except {
		skip[key] = true
	}
	for i := 0; i+1 < len(group.Content) && left < maxErrors; i += 2 {
		key := group.Content[i].Value
		if skip[key] {
			continue
		}
		path := join(prefix, key)
		switch {
		case path == prefix:
			odd++
		case !im.taken[path]:
			left++
			im.note("%s is left out: this release has nothing for it", path)
		}
	}
	if odd > 0 {
		im.note("keys left out besides these: %d", odd)
	}
}

func (im *importer) done() (*Config, []string, error) {
	if len(im.errs) > 0 {
		return nil, nil, im.errs.sorted()
	}
	return im.config, im.notes, nil
}
