package site

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// maxItems bounds the lists of groups: what the site of one node can have of registries. Chosen.
const maxItems = 100

// groups is a list of groups of keys, for example spec.registryCerts.
type groups interface {
	size() int
	grow()
	clear()
	cell(i int, key string) any // pointer to a value of item i
}

// groupsOf makes groups of a slice.
type groupsOf[T any, P interface {
	*T
	cell(key string) any
}] struct{ list *[]T }

func (g groupsOf[T, P]) size() int { return len(*g.list) }
func (g groupsOf[T, P]) clear()    { *g.list = nil }
func (g groupsOf[T, P]) grow() {
	var empty T
	*g.list = append(*g.list, empty)
}

func (g groupsOf[T, P]) cell(i int, key string) any {
	if i < 0 || i >= len(*g.list) {
		return nil
	}
	return P(&(*g.list)[i]).cell(key)
}

// index is the number of an item in a path, for example [0].
var index = regexp.MustCompile(`\[(0|[1-9][0-9]{0,3})\]\.`)

// general turns the path of one item's value into the one that the schema has: spec.registryCerts[0].certificate into
// spec.registryCerts[].certificate.
func general(path string) string { return index.ReplaceAllString(path, "[].") }

// place returns a pointer to the value of a path, or nil when the list has no such item.
func (e *entry) place(c *Config, path string) any {
	if !e.cell {
		return e.at(c)
	}
	owner, key := ownerOf(e.Path)
	m := index.FindStringSubmatch(path)
	if m == nil {
		return nil
	}
	i, _ := strconv.Atoi(m[1])
	list, _ := find(owner).at(c).(groups)
	return list.cell(i, key)
}

// itemPath returns the start of the paths of item i's values.
func itemPath(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// cells returns the entries of a list's items.
func cells(list string) []*entry {
	var found []*entry
	for i := range schema {
		if strings.HasPrefix(schema[i].Path, list+"[].") {
			found = append(found, &schema[i])
		}
	}
	return found
}

// groupsNode returns a list of groups as YAML, or nil for an empty one.
func (e *entry) groupsNode(c *Config) *yaml.Node {
	list, _ := e.at(c).(groups)
	if list.size() == 0 {
		return nil
	}
	seq := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i := range list.size() {
		item := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, cell := range cells(e.Path) {
			if cell.into != "" {
				continue
			}
			_, key := ownerOf(cell.Path)
			if n := cell.node(c, itemPath(e.Path, i)+"."+key); n != nil {
				put(item, key, n)
			}
		}
		seq.Content = append(seq.Content, item)
	}
	return seq
}

// groupsText is how Get shows a list of groups: as YAML, which Set reads again.
func (e *entry) groupsText(c *Config) string {
	n := e.groupsNode(c)
	if n == nil {
		return ""
	}
	text, err := encode(n)
	if err != nil { // nothing but texts, numbers and lists is in it
		panic(err)
	}
	return string(text)
}

// putGroups reads what groupsText wrote, or what a person wrote like it. Nothing changes when there is a mistake.
func (c *Config) putGroups(e *entry, value string) *Error {
	r := &reader{config: New()}
	if strings.TrimSpace(value) != "" {
		if len(value) > maxDocument {
			return fault(message.Text{}, message.T("is larger than 1 MiB, the limit of the document"))
		}
		if f := bareCertificate(e.Path, value); f != nil {
			return f
		}
		n, f := mirrorsOf(e.Path, value)
		if n == nil && f == nil {
			n, f = fragment([]byte(value))
		}
		if f != nil {
			return f
		}
		r.groups(n, e, e.Path)
	}
	if len(r.errs) > 0 {
		f := r.errs.sorted()[0]
		if inside := strings.TrimPrefix(f.Path, e.Path); inside != "" {
			return fault(f.Fix, message.F("has in its line %d a mistake: %s %s", f.Line, inside, f.Msg))
		}
		return fault(f.Fix, f.Msg)
	}
	c.copyGroups(e, r.config)
	return nil
}

// groupsFix says how a list of groups is written, by the keys that each item needs.
func (e *entry) groupsFix() message.Text {
	var keys []string
	for _, cell := range cells(e.Path) {
		if _, key := ownerOf(cell.Path); cell.Required {
			keys = append(keys, key)
		}
	}
	return message.F("write each item after a dash, with its keys %s", strings.Join(keys, ", "))
}

// bareCertificate tells of a certificate where the list belongs that names the registry of each: it is what people have of a registry.
func bareCertificate(path, value string) *Error {
	if path != "spec.registryCerts" || !strings.Contains(value, "-----BEGIN CERTIFICATE-----") || strings.Contains(value, "registryHostname") {
		return nil
	}
	return fault(message.T("take it as spec.additionalTrustBundle, or write it into a list, with registryHostname and certificate"),
		message.T("is a certificate alone, which does not say for which registry"))
}

// copyGroups takes the items of another Config.
func (c *Config) copyGroups(e *entry, from *Config) {
	list, _ := e.at(c).(groups)
	source, _ := e.at(from).(groups)
	list.clear()
	for i := range source.size() {
		list.grow()
		for _, cell := range cells(e.Path) {
			if cell.into != "" {
				continue
			}
			_, key := ownerOf(cell.Path)
			path := itemPath(e.Path, i) + "." + key
			cell.assign(cell.place(c, path), cell.format(cell.place(from, path)))
		}
	}
}

func encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	err := enc.Close()
	return b.Bytes(), err
}
