package site

import (
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// ImportChoice is what a person says about a foreign document.
type ImportChoice struct {
	// From is one of Imports; empty has the kind recognised.
	From string
	// Node is the name of the node that the site config is for, where the document describes several; CLUSTER/NAME where two
	// clusters have one of that name. #N is the node at that place in its list.
	Node string
}

// importer carries one foreign document over.
type importer struct {
	account

	name   string
	choice ImportChoice
	config *Config
	errs   Errors
	listed bool // whether the document has a list of nodes
}

// Import turns another program's document into a site config. The notes tell what was taken, and for everything else why it was left out.
func Import(data []byte, name string, choice ImportChoice) (*Config, []string, error) {
	docs, err := documents(data, name)
	if err != nil {
		return nil, nil, Errors{err}
	}
	im := &importer{name: name, choice: choice, config: New(), account: account{marked: map[*yaml.Node]bool{}}}
	kind, main, err := im.choose(docs)
	if err == nil {
		err = kind.header(im, main)
	}
	if err != nil {
		return nil, nil, Errors{err}
	}
	kind.read(im, main)
	if choice.Node != "" && !im.listed && len(im.errs) == 0 {
		im.fail(main, fault(message.T("leave --node out"), message.T("describes no nodes by name")))
	}
	if len(im.errs) > 0 {
		return nil, nil, im.errs.sorted()
	}
	im.leftOut()
	return im.config, im.notes, nil
}

// place is where a value of the document stands.
func (im *importer) place(s spot) position { return position{im.name, s.node.Line, s.node.Column} }

func (im *importer) fail(s spot, f *Error) { im.errs = append(im.errs, im.place(s).at(s.path, f)) }

// take copies a text.
func (im *importer) take(s spot, to string) {
	if s.blank() {
		return
	}
	if f := plainNode(s.node, yaml.ScalarNode); f != nil {
		im.fail(s, f)
		return
	}
	im.whole(s, to, s.node.Value)
}

// list copies a list of texts.
func (im *importer) list(s spot, to string) {
	if s.blank() {
		return
	}
	if f := plainNode(s.node, yaml.SequenceNode); f != nil {
		im.fail(s, f)
		return
	}
	var values []string
	for _, item := range s.items() {
		if f := plainNode(item.node, yaml.ScalarNode); f != nil {
			im.fail(item, f)
			return
		}
		if len(find(to).split(item.node.Value)) > 1 { // "ntp.example.com iburst" would be two servers here
			im.fail(item, fault(message.T("make each a separate item"), message.T("has an item that holds several values")))
			return
		}
		values = append(values, item.node.Value)
	}
	im.whole(s, to, strings.Join(values, "\n"))
}

// mirrors copies a list of mirrors. Its keys are those of a mirror set, or the ones of the installer.
func (im *importer) mirrors(s spot) {
	if s.blank() {
		return
	}
	if f := plainNode(s.node, yaml.SequenceNode); f != nil {
		im.fail(s, f)
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i, source := range s.items() {
		item := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, key := range [][2]string{{"source", "source"}, {"mirrors", "mirrors"}, {"mirrorSourcePolicy", "mirrorSourcePolicy"}, {"sourcePolicy", "mirrorSourcePolicy"}} {
			if value := source.get(key[0]); !value.blank() && child(item, key[1]) == nil {
				item.Content = append(item.Content, scalarNode(key[1], "!!str"), value.node)
				im.use(value)
				im.config.places[itemPath("spec.imageDigestMirrors", i)+"."+key[1]] = im.place(value)
			}
		}
		list.Content = append(list.Content, item)
	}
	im.tree(s, "spec.imageDigestMirrors", list)
}

// tree stores a value that is more than a text; parts of it were marked by the caller.
func (im *importer) tree(s spot, to string, value *yaml.Node) {
	text, err := encode(value)
	if err != nil {
		im.fail(s, fault(message.T("check that it is the right file"), message.T("cannot be taken over")))
		return
	}
	im.put(s, to, string(text))
}

// whole puts a text, and with it the whole value is dealt with.
func (im *importer) whole(s spot, to, value string) {
	im.use(s)
	im.put(s, to, value)
}

func (im *importer) put(s spot, to, value string) {
	if f := im.config.put(to, value); f != nil {
		im.fail(s, f)
		return
	}
	im.config.note(to, "file "+im.name)
	im.config.places[to] = im.place(s)
	im.note("%s is now %s", s.path, to)
}
