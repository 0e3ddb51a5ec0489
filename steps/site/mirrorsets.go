package site

import (
	"slices"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// mirrorSets are the objects of OpenShift that hold mirrors, by their kind (openshift/api config/v1 and operator/v1alpha1): the list in their
// spec, and the list of a site config that takes it. oc-mirror writes files of them, which is what a site with a registry has.
var mirrorSets = map[string]struct{ list, path string }{
	"ImageDigestMirrorSet":     {"imageDigestMirrors", "spec.imageDigestMirrors"},
	"ImageTagMirrorSet":        {"imageTagMirrors", "spec.imageTagMirrors"},
	"ImageContentSourcePolicy": {"repositoryDigestMirrors", "spec.imageDigestMirrors"},
}

// mirrorsOf returns the mirrors of all objects in a text as one list, whose items have the lines of the text; nil for a text of another kind.
// All of them have to belong to the path that they are given for.
func mirrorsOf(path, text string) (*yaml.Node, *Error) {
	docs, f := documents([]byte(text), "")
	if f != nil {
		return nil, nil //nolint:nilerr // whoever reads the text as a list tells what is wrong with it
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i, doc := range docs {
		kind := child(doc, "kind")
		if kind == nil {
			if i == 0 {
				return nil, nil
			}
			return nil, fault(message.T("keep the objects with mirrors in the file alone"), message.F("has an object without a kind, in its line %d", doc.Line))
		}
		set, known := mirrorSets[kind.Value]
		switch {
		case !known:
			return nil, fault(message.T("keep the objects with mirrors in the file alone"), message.F("has an object of the kind %s, in its line %d", shown(kind.Value), kind.Line))
		case set.path != path:
			return nil, fault(message.F("take it as %s", set.path), message.F("is an object of the kind %s", shown(kind.Value)))
		}
		items := items(child(doc, "spec"), set.list)
		if len(items) == 0 {
			return nil, fault(message.T("check that it is the right file"), message.F("has an object of the kind %s without mirrors, in its line %d", shown(kind.Value), kind.Line))
		}
		for _, item := range items {
			merge(list, item)
		}
	}
	list.Line, list.Column = docs[0].Line, docs[0].Column
	return list, nil
}

// merge adds an item to a list. One whose source is there already, with the same policy, gives its mirrors to that: oc-mirror writes an object
// for each kind of content, and a source can be in several. The cluster merges them, too (openshift/api config/v1
// types_image_digest_mirror_set.go: "the sets of defined mirrors will be merged together").
func merge(list, item *yaml.Node) {
	source, more := textAt(item, "source"), child(item, "mirrors")
	for _, there := range list.Content {
		mirrors := child(there, "mirrors")
		if source == "" || textAt(there, "source") != source || textAt(there, policy) != textAt(item, policy) || !sequences(mirrors, more) {
			continue
		}
		for _, m := range more.Content {
			if !slices.ContainsFunc(mirrors.Content, func(n *yaml.Node) bool { return n.Value == m.Value }) {
				mirrors.Content = append(mirrors.Content, m)
			}
		}
		return
	}
	list.Content = append(list.Content, item)
}

// policy is the key that says whether a source may be asked where no mirror answers.
const policy = "mirrorSourcePolicy"

func sequences(nodes ...*yaml.Node) bool {
	return !slices.ContainsFunc(nodes, func(n *yaml.Node) bool { return n == nil || n.Kind != yaml.SequenceNode })
}
