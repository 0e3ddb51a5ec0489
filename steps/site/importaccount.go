package site

import (
	"fmt"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// account keeps what was taken of the documents of a file. An importer marks whatever it reads; what is not marked in the end is noted,
// so that nothing is left out without a word.
type account struct {
	trees  []tree
	marked map[*yaml.Node]bool
	notes  []string
}

// tree is a document of the file, or a text in one that is a document itself.
type tree struct {
	spot
	read bool // whether an importer reads it; its values are accounted for then, otherwise it is left out as a whole
}

func (a *account) note(format string, args ...any) {
	a.notes = append(a.notes, fmt.Sprintf(format, args...))
}

// use marks a value as dealt with, and all that is below it.
func (a *account) use(s spot) {
	if s.node != nil {
		a.marked[s.node] = true
	}
}

// leave marks a value as left out for a reason that is not the usual one.
func (a *account) leave(s spot, reason string) {
	if s.node != nil && !a.marked[s.node] {
		a.use(s)
		a.note("%s is left out: %s", s.path, reason)
	}
}

// maxLeftOut is how many notes tell what was left out; a document of random text would have thousands.
const maxLeftOut = 200

// leftOut notes whatever no importer marked, in the order of the file: a group as a whole where nothing of it was taken.
func (a *account) leftOut() {
	rest := leftOver{account: a, above: map[*yaml.Node]bool{}}
	for _, tree := range a.trees {
		if !tree.read {
			a.note("%s is left out: it is %s, which is not what is imported", tree.path, shapeOf(tree.node).what)
			continue
		}
		rest.trace(tree.node)
		rest.parts(tree.node, "", func() string { return tree.path })
	}
	if rest.count > maxLeftOut {
		a.note("%d more values are left out: the notes above name the first %d", rest.count-maxLeftOut, maxLeftOut)
	}
}

// leftOver walks what was not taken. Paths are long in a deep document, so each is made only for a note.
type leftOver struct {
	*account
	above map[*yaml.Node]bool // every value above one that was taken
	count int
}

func (l *leftOver) trace(n *yaml.Node) (taken bool) {
	for _, below := range valuesOf(n) {
		taken = l.trace(below) || taken
	}
	l.above[n] = taken
	return taken || l.marked[n]
}

// value notes one value, or its parts where some were taken or have reasons. Its key is that of importReasons.
func (l *leftOver) value(n *yaml.Node, key string, path func() string) {
	switch {
	case l.marked[n]:
	case l.above[n] || importReasons[key] == "" && partsHaveReasons(n):
		l.parts(n, key, path)
	default:
		l.count++
		if l.count <= maxLeftOut {
			s := spot{n, path()}
			l.note("%s is left out: %s", s.path, reason(s, key))
		}
	}
}

func (l *leftOver) parts(n *yaml.Node, key string, path func() string) {
	path = sync.OnceValue(path)
	if n.Kind != yaml.MappingNode {
		key = strings.TrimSuffix(key, "[]") + "[]"
		for i, item := range n.Content {
			l.value(item, key, func() string { return itemPath(path(), i) })
		}
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		l.value(n.Content[i+1], join("", key), func() string { return spot{path: path()}.below(key) })
	}
}

// partsHaveReasons reports whether more can be said about the parts of a group than about the whole.
func partsHaveReasons(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if importReasons[join("", n.Content[i].Value)] != "" {
			return true
		}
	}
	return false
}

// reason says why a value is left out.
func reason(s spot, key string) string {
	why, known := importReasons[key]
	switch {
	case hollow(s.node):
		return "it is empty"
	case known:
		return why
	case strings.HasSuffix(s.path, "not shown)"):
		return fmt.Sprintf("this release has nothing for it; see line %d", s.node.Line)
	}
	return "this release has nothing for it"
}
