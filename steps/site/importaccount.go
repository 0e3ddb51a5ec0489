package site

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// account keeps what was taken of the documents of a file. An importer marks whatever it reads; what is not marked in the end is noted,
// so that nothing is left out without a word.
type account struct {
	trees  []spot // every document of the file, and every text in them that is a document itself
	marked map[*yaml.Node]bool
	notes  []string
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
	count := 0
	above := map[*yaml.Node]bool{}
	for _, tree := range a.trees {
		a.trace(tree.node, above)
		a.unmarked(tree, above, &count)
	}
	if count > maxLeftOut {
		a.note("%d more values are left out: the notes above name the first %d", count-maxLeftOut, maxLeftOut)
	}
}

func (a *account) unmarked(s spot, above map[*yaml.Node]bool, count *int) {
	switch {
	case a.marked[s.node]:
	case s.path != "" && !above[s.node] && !a.partsHaveReasons(s):
		*count++
		if *count <= maxLeftOut {
			a.note("%s is left out: %s", s.path, a.reason(s))
		}
	default:
		for _, value := range s.children() {
			a.unmarked(value, above, count)
		}
	}
}

// trace records every value above one that was taken.
func (a *account) trace(n *yaml.Node, above map[*yaml.Node]bool) (taken bool) {
	for _, below := range valuesOf(n) {
		taken = a.trace(below, above) || taken
	}
	above[n] = taken
	return taken || a.marked[n]
}

// partsHaveReasons reports whether more can be said about the parts of a group than about the whole.
func (a *account) partsHaveReasons(s spot) bool {
	if slices.Contains(a.trees, s) || importReasons[reasonKey(s)] != "" || s.node.Kind != yaml.MappingNode {
		return false
	}
	return slices.ContainsFunc(s.children(), func(value spot) bool { return importReasons[reasonKey(value)] != "" })
}

// reasonKey is the last key of a path; of an item the list's, with [].
func reasonKey(s spot) string {
	key := lastPart(s.path)
	if at := strings.IndexByte(key, '['); at >= 0 {
		key = key[:at] + "[]"
	}
	return key
}

// reason says why a value is left out.
func (a *account) reason(s spot) string {
	why, known := importReasons[reasonKey(s)]
	switch {
	case slices.Contains(a.trees, s) && s.path != "":
		return "it is " + shapeOf(s.node).what + ", which is not what is imported"
	case hollow(s.node):
		return "it is empty"
	case known:
		return why
	case strings.HasSuffix(s.path, "not shown)"):
		return fmt.Sprintf("this release has nothing for it; see line %d", s.node.Line)
	}
	return "this release has nothing for it"
}
