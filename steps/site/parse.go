package site

import (
	"cmp"
	"io/fs"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// Parse reads a document, YAML or JSON. name is what its errors and Sources call it; files is the folder that it lies
// in, where the files that it names are read, or nil when there is none. What is wrong with the form of the document is
// returned together as Errors; whether the values make sense is for Validate.
func Parse(data []byte, name string, files fs.FS) (*Config, error) {
	root, err := document(data, name)
	if err != nil {
		return nil, Errors{err}
	}
	r := &reader{config: New(), name: name, files: files}
	if ours := r.header(root); ours {
		r.mapping(root, "")
	}
	if len(r.errs) > 0 {
		return nil, r.errs.sorted()
	}
	return r.config, nil
}

// reader walks one document along the schema.
type reader struct {
	config *Config
	name   string
	files  fs.FS
	errs   Errors
}

func (r *reader) place(n *yaml.Node) position { return position{r.name, n.Line, n.Column} }

func (r *reader) report(n *yaml.Node, path string, f *Error) {
	switch {
	case len(r.errs) < maxErrors-1:
		r.errs = append(r.errs, r.place(n).at(path, f))
	case len(r.errs) == maxErrors-1:
		r.errs = append(r.errs, r.place(n).at("", fault(message.T("fix those above first"), message.T("has more mistakes from here on"))))
	}
}

// reportKey reports what is wrong with a key itself. One that may be a secret is not repeated, and then the sentence says that it is of a key.
func (r *reader) reportKey(key *yaml.Node, parent string, f *Error) {
	path := join(parent, key.Value)
	if path == parent {
		f.Msg = message.F("a key in this line %s", f.Msg)
	}
	r.report(key, path, f)
}

// header checks apiVersion and kind. It returns false for a document of another kind, where every key would be an error.
func (r *reader) header(root *yaml.Node) (ours bool) {
	version, kind := child(root, "apiVersion"), child(root, "kind")
	ours = kind != nil && kind.Value == Kind || version != nil && version.Value == APIVersion
	var fix message.Text
	if is := shapeOf(root); is.from != "" && (version == nil || version.Value != APIVersion) {
		fix = message.F("it looks like %s, which has to be imported", is.what)
	}
	for _, h := range []struct {
		node       *yaml.Node
		path, want string
	}{{version, "apiVersion", APIVersion}, {kind, "kind", Kind}} {
		switch {
		case h.node == nil:
			r.report(root, h.path, fault(cmp.Or(fix, message.F("add the line %s: %s", h.path, h.want)), message.T("is missing")))
		case plainNode(h.node, yaml.ScalarNode) != nil || h.node.Value != h.want:
			r.report(h.node, h.path, fault(cmp.Or(fix, message.F("write %s: %s", h.path, h.want)), message.T("is not one that this release reads")))
			ours = false
		}
		if fix.String() != "" && len(r.errs) > 0 {
			return false
		}
	}
	return ours
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// mapping reads the keys of one level; prefix is "" or ends with a dot.
func (r *reader) mapping(n *yaml.Node, prefix string) {
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content) && len(r.errs) < maxErrors; i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		parent := strings.TrimSuffix(prefix, ".")
		if f := plainKey(key); f != nil {
			r.report(key, parent, f)
			continue
		}
		if first := seen[key.Value]; first != nil {
			r.reportKey(key, parent, fault(message.T("keep one of them"), message.F("is there twice, first in line %d", first.Line)))
			continue
		}
		seen[key.Value] = key
		r.value(key, value, prefix)
	}
	r.exclusive(seen, prefix)
}

func (r *reader) value(key, value *yaml.Node, prefix string) {
	path := prefix + key.Value
	e := find(path)
	switch {
	case strings.ContainsAny(key.Value, ".[]"): // a path in the place of a key
		r.reportKey(key, strings.TrimSuffix(prefix, "."), unknownKey(prefix, key.Value))
	case e != nil && e.Type == typeGroups:
		r.groups(value, e, path)
		r.took(key, path, "file "+r.name)
	case e != nil && e.Type == typeFiles:
		r.manifestFiles(key, value, e, path)
	case e != nil && e.Type == typeList:
		r.list(key, value, e, path)
	case e != nil && e.Type == typeLabels:
		r.labels(key, value, path)
	case e != nil && e.Type == typeNMState && value.Kind != yaml.ScalarNode:
		r.nmstate(key, value, path)
	case e != nil:
		r.scalar(key, value, e, path)
	case isGroup(path):
		if value.Tag == "!!null" && value.Anchor == "" {
			return // everything below it is commented out
		}
		if f := plainNode(value, yaml.MappingNode); f != nil {
			r.report(value, path, f)
			return
		}
		r.mapping(value, path+".")
	default:
		f := unknownKey(prefix, key.Value)
		if e := find(prefix + "prefixLength"); e != nil && e.tidy != nil && strings.Contains(strings.ToLower(key.Value), "mask") {
			f.Fix = message.T("write prefixLength and a number in its place")
			if length := e.lengthOf(value.Value); length > 0 {
				f.Fix = message.F("write prefixLength: %d", length)
			}
		}
		r.reportKey(key, strings.TrimSuffix(prefix, "."), f)
	}
}

// scalar reads one value, or the file that it names.
func (r *reader) scalar(key, value *yaml.Node, e *entry, path string) {
	if e.fixed != "" {
		return // header has judged it
	}
	if f := plainNode(value, yaml.ScalarNode); f != nil {
		if value.Kind == yaml.MappingNode && e.Type == typeJSON {
			f.Fix = message.T("put the JSON text in single quotes")
		}
		r.report(value, path, f)
		return
	}
	if f := e.accepts(value, lastPart(path)); f != nil {
		if e.tidy != nil && value.Tag == "!!str" {
			f = e.noNumber(value.Value, f)
		}
		r.report(value, path, f)
		return
	}
	text, target, source := value.Value, path, "file "+r.name
	if e.into != "" {
		if text == "" {
			return
		}
		content, f := readReferenced(r.files, text, find(e.into).limit)
		if f != nil {
			r.report(value, path, f)
			return
		}
		text, target, source = content, sibling(path, e.into), "file "+text
	}
	if f := r.config.put(target, text); f != nil {
		r.report(value, path, f)
		return
	}
	if text != "" {
		r.took(key, target, source)
	} else {
		r.config.places[target] = r.place(key) // where what is missing belongs
	}
}

// sibling returns the path of the value that a file is for, in the same item of a list as the file's own path.
func sibling(path, into string) string { return path[:strings.LastIndex(path, ".")+1] + lastPart(into) }

// took records where a value came from. Of the items of a list only the place is kept, for errors.
func (r *reader) took(key *yaml.Node, path, source string) {
	if !find(path).cell {
		r.config.note(path, source)
	}
	r.config.places[path] = r.place(key)
}

// exclusive reports a value that is given both inline and as a file.
func (r *reader) exclusive(seen map[string]*yaml.Node, prefix string) {
	below := general(prefix)
	for i := range schema {
		e := &schema[i]
		if e.into == "" || !strings.HasPrefix(e.Path, below) {
			continue
		}
		name := strings.TrimPrefix(e.into, below)
		file, inline := seen[strings.TrimPrefix(e.Path, below)], seen[name]
		if file != nil && inline != nil {
			r.report(file, prefix+lastPart(e.Path), fault(message.T("keep one of the two"), message.F("is given as well as %s in line %d", name, inline.Line)))
		}
	}
}

// accepts reports a value of the wrong type: YAML reads 42 as a number and true as a truth value.
func (e *entry) accepts(n *yaml.Node, key string) *Error {
	if n.Tag == "!!null" {
		return fault(message.T("write a value or remove the line"), message.T("has no value"))
	}
	switch {
	case e.Type == typeBool:
		if n.Tag != "!!bool" {
			return fault(message.T("write true or false, without quotes"), message.T("is neither true nor false"))
		}
	case e.Type == typeNumber:
		if n.Tag != "!!int" {
			return fault(message.T("write a number, without quotes"), message.F("is %s where a whole number is expected", article(n.Tag)))
		}
	case e.Type == typeDuration:
		if n.Tag == "!!int" || n.Tag == "!!float" {
			return fault(message.T("write a number and its unit, for example 2m or 90s"), message.T("is a number without a unit"))
		}
	case e.Type == typeList && n.Tag != "!!str":
		return fault(message.T("put it in quotes"), message.F("has an item that is %s where text is expected", article(n.Tag)))
	case n.Tag != "!!str" && n.Tag != "!!timestamp":
		return fault(message.F("put it in quotes, for example %s: \"...\"", key), message.F("is %s where text is expected", article(n.Tag)))
	}
	return nil
}
