package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// maxDocuments is how many documents one file may hold: a relocation has five with all its Secrets, a hub's export some dozens. Chosen.
const maxDocuments = 100

// documents returns the documents of a file, without the empty ones between two separators.
func documents(data []byte, name string) ([]*yaml.Node, *Error) {
	data, bad := sized(data, name)
	if bad != nil {
		return nil, bad
	}
	var docs []*yaml.Node
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc yaml.Node
		err := decode(dec, &doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, syntax(data, name, err)
		}
		root := doc.Content[0]
		if root.Tag == "!!null" && root.Anchor == "" {
			continue
		}
		if docs = append(docs, root); len(docs) > maxDocuments {
			return nil, position{name, root.Line, root.Column}.at("", fault(message.T("copy the one that you want into its own file"), message.F("starts document %d, more than the %d that are read", len(docs), maxDocuments)))
		}
	}
	if len(docs) == 0 {
		return nil, position{name, 1, 1}.at("", fault(message.T("check that it is the right file"), message.T("is empty")))
	}
	return docs, nil
}

// maxDepth is how deep a document may be nested: real ones have some ten levels. Chosen.
const maxDepth = 100

// shallow refuses a document that is nested deeper than maxDepth.
func shallow(root *yaml.Node) (*yaml.Node, *Error) {
	where := below(root, maxDepth)
	if where == nil {
		return nil, nil
	}
	return where, fault(message.T("check that it is the right file"), message.F("is nested more than %d levels deep", maxDepth))
}

// below returns the first value that is more than so many levels below another one.
func below(n *yaml.Node, levels int) *yaml.Node {
	if levels < 0 {
		return n
	}
	for _, value := range n.Content {
		if deep := below(value, levels-1); deep != nil {
			return deep
		}
	}
	return nil
}

// plainDocument judges a document that is taken. It wants keys and values without what hides the meaning of a document: anchors, tags, a key that is there twice.
func plainDocument(root *yaml.Node, name string) *Error {
	if f := plainNode(root, yaml.MappingNode); f != nil {
		f.Fix = message.T("check that it is the right file")
		return position{name, root.Line, root.Column}.at("", f)
	}
	where, f := shallow(root)
	if f == nil {
		where, f = plainTree(root)
	}
	if f != nil {
		return position{name, where.Line, where.Column}.at("", f)
	}
	return nil
}

// choose returns the document to import and its kind: the one that --from names, or the only one of a kind that is known. The others
// can hold its Secrets.
func (im *importer) choose(docs []*yaml.Node) (importKind, spot, *Error) {
	var found []int
	for i, doc := range docs {
		path := ""
		if len(docs) > 1 {
			path = "document " + strconv.Itoa(i+1)
		}
		im.trees = append(im.trees, tree{spot: spot{doc, path}})
		if from := shapeOf(doc).from; from != "" && (im.choice.From == "" || im.choice.From == from) {
			found = append(found, i)
		}
	}
	at := position{im.name, docs[0].Line, docs[0].Column}
	switch {
	case len(found) == 1 || len(docs) == 1:
		return im.chosen(append(found, 0)[0])
	case len(found) == 0:
		return importKind{}, spot{}, at.at("", fault(message.T("check that it is the right file, and the value of --from"), message.F("starts a file without a document to import; it holds %s", several(docs))))
	}
	again := docs[found[1]]
	fix := message.T("copy the one that you want into its own file, or choose its kind with --from")
	first := shapeOf(docs[found[0]]).from
	if !slices.ContainsFunc(found, func(i int) bool { return shapeOf(docs[i]).from != first }) {
		fix = message.T("copy the one that you want into its own file")
	}
	return importKind{}, spot{}, position{im.name, again.Line, again.Column}.at("", fault(fix, message.F("starts a second document that can be imported; the file holds %s", several(docs))))
}

// chosen judges the document to import. The others may hold what is not allowed in it.
func (im *importer) chosen(i int) (importKind, spot, *Error) {
	main := &im.trees[i]
	main.path, main.read = "", true
	if bad := plainDocument(main.node, im.name); bad != nil {
		return importKind{}, spot{}, bad
	}
	from := shapeOf(main.node).from
	if from == "" || im.choice.From != "" && im.choice.From != from {
		return importKind{}, spot{}, im.place(main.spot).at("", unexpected(main.node, im.choice.From))
	}
	return importKinds[kindNamed(from)], main.spot, nil
}

// maxListed is how many documents or nodes of one file a message lists.
const maxListed = 5

// several lists what a file with more than one document holds.
func several(docs []*yaml.Node) message.Text {
	var found []message.Text
	for _, doc := range docs {
		is := shapeOf(doc)
		text := is.what
		if is.from != "" {
			text = message.F("%s (--from %s)", text, is.from)
		}
		found = append(found, text)
	}
	return listed(found)
}

// listed is "one, two and three", with an end to it.
func listed[name string | message.Text](names []name) message.Text {
	var all []message.Text
	for _, n := range names[:min(len(names), maxListed)] {
		text, is := any(n).(message.Text)
		if !is {
			text = message.Data(fmt.Sprint(n))
		}
		all = append(all, text)
	}
	if len(names) > maxListed {
		all = append(all, message.F("%d more", len(names)-maxListed))
	}
	last := len(all) - 1
	if last < 1 {
		return message.Join(all, "")
	}
	return message.F("%s and %s", message.Join(all[:last], ", "), all[last])
}

// referenced finds the Secret that a reference of the main document names, in the same file.
func (im *importer) referenced(ref spot, namespace string) spot {
	name := ref.get("name").text()
	if at := ref.get("namespace").text(); at != "" {
		namespace = at
	}
	if name == "" {
		im.leave(ref, "it names no Secret")
		return spot{}
	}
	var found *tree
	for i := range im.trees {
		doc := &im.trees[i]
		if doc.get("kind").text() != "Secret" || doc.get("metadata.name").text() != name {
			continue
		}
		if at := doc.get("metadata.namespace").text(); at != "" && namespace != "" && at != namespace {
			continue
		}
		if found != nil {
			im.fail(doc.spot, fault(message.T("keep the one that is meant"), message.F("is the second Secret that %s may mean; the first is in line %s", ref.path, lineNumber(found.node))))
			return spot{}
		}
		found = doc
	}
	if found == nil {
		im.leave(ref, "the Secret that it names is not in the file; give its content yourself")
		return spot{}
	}
	found.read = true
	if bad := plainDocument(found.node, im.name); bad != nil {
		im.errs = append(im.errs, bad)
		return spot{}
	}
	im.use(ref.get("name"))
	im.use(ref.get("namespace"))
	im.note("%s is taken from %s", ref.path, found.path)
	for _, key := range []string{"apiVersion", "kind", "metadata.name", "metadata.namespace", "type"} {
		im.use(found.get(key))
	}
	return found.spot
}

// secret takes values of the Secret that a reference names. Each pair is a key of the Secret and where its value goes.
func (im *importer) secret(ref spot, namespace, wanted string, pairs ...[2]string) {
	if ref.blank() {
		return
	}
	doc := im.referenced(ref, namespace)
	if doc.node == nil {
		return
	}
	if got := doc.get("type"); got.node != nil && got.text() != wanted {
		im.fail(got, fault(message.F("write type: %s", wanted), message.F("is not %s, which %s needs", wanted, ref.path)))
		return
	}
	for _, pair := range pairs {
		im.secretValue(doc, ref, pair[0], pair[1])
	}
}

func (im *importer) secretValue(doc, ref spot, key, to string) {
	if plain := doc.get("stringData").key(key); !plain.blank() { // it overrides data
		im.take(plain, to)
		return
	}
	coded := doc.get("data").key(key)
	if coded.blank() {
		im.fail(doc, fault(message.F("add %s to data, in base64, or to stringData", key), message.F("has no %s, which %s needs", key, ref.path)))
		return
	}
	value, f := fromBase64(coded.node)
	if f != nil {
		im.fail(coded, f)
		return
	}
	im.whole(coded, to, value)
}
