// Package netconfig judges spec.networkConfig, a desired state of nmstate, by what can be told without nmstate and without the node.
package netconfig

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
	nodeyaml "sigs.k8s.io/yaml"

	"touchdown/backend/message"
)

// Fault is one thing that is wrong with a document. It repeats no value of it, except names of interfaces and addresses.
type Fault struct {
	Line int          // of the document, counted from 1; 0: it cannot be told
	Text message.Text // what is wrong
	Fix  message.Text // how it would be right

	at place
}

// Says is what a person reads of a fault where nothing else tells the line.
func (f Fault) Says() message.Text {
	if f.Line == 0 {
		return message.F("%s; %s", f.Text, f.Fix)
	}
	return message.F("%s, in its line %s; %s", f.Text, strconv.Itoa(f.Line), f.Fix)
}

// Document is a desired state as the node reads it: by the rules of YAML 1.1.
type Document map[string]any

// atLine finds the line number in an error of the YAML library, whose other words can quote the document, a line number in it too.
var atLine = regexp.MustCompile(`^(?:error converting YAML to JSON: )?yaml: (?:unmarshal errors:\s+)?(line [0-9]{1,7}):`)

// Parse reads a document. Numbers and truth values in quotes are what nmstate reads in them. Its errors never hold a value.
func Parse(text []byte) (Document, error) {
	var d Document
	if err := nodeyaml.Unmarshal(text, &d); err != nil {
		if at := atLine.FindStringSubmatch(err.Error()); at != nil {
			return nil, fmt.Errorf("%s is not valid YAML", at[1])
		}
		return nil, errors.New("the document is not valid YAML")
	}
	if len(d) == 0 {
		return nil, errors.New("the document is empty")
	}
	documentShape.unquote(map[string]any(d))
	return d, nil
}

// Judge tells what is wrong with a document, in the order of its lines. text is what d was read from, or what d was before its interfaces
// got other names. Where the shape is wrong, nothing else is told: no other rule can be sure of what it reads.
func Judge(text []byte, d Document) []Fault {
	j := &judge{doc: d}
	documentShape.judge(j, nil, map[string]any(d))
	if len(j.faults) == 0 {
		j.state = read(d)
		j.names()
	}
	if len(j.faults) == 0 {
		j.links()
		j.addresses()
		j.routing()
	}
	if len(j.faults) == 0 {
		j.leadsOut()
		j.kept()
	}
	return j.placed(text)
}

// judge collects what is wrong with one document.
type judge struct {
	doc Document
	state
	faults []Fault
}

func (j *judge) fail(at place, fix, text message.Text) {
	j.faults = append(j.faults, Fault{Text: text, Fix: fix, at: at})
}

// placed are the faults with their lines.
func (j *judge) placed(text []byte) []Fault {
	var tree yaml.Node
	if len(j.faults) == 0 || yaml.Unmarshal(text, &tree) != nil || len(tree.Content) == 0 {
		return j.faults
	}
	for i := range j.faults {
		j.faults[i].Line = j.faults[i].at.line(tree.Content[0])
	}
	slices.SortStableFunc(j.faults, func(a, b Fault) int { return a.Line - b.Line })
	return j.faults
}

// place is a part of a document, by its keys and the numbers of items.
type place []any

func (p place) and(more ...any) place { return append(slices.Clone(p), more...) }

// String writes a place as interfaces[0].vlan.id.
func (p place) String() string {
	var b strings.Builder
	for _, step := range p {
		switch v := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", v)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(v)
		}
	}
	return b.String()
}

// line is that of a part, or of the nearest one around it that is there.
func (p place) line(n *yaml.Node) int {
	found := n.Line
	for _, step := range p {
		key, value := below(n, step)
		if value == nil {
			break
		}
		n, found = value, key.Line
	}
	return found
}

// below is what a step leads to, and what its line is told by.
func below(n *yaml.Node, step any) (key, value *yaml.Node) {
	switch at := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && at < len(n.Content) {
			return n.Content[at], n.Content[at]
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == at {
				return n.Content[i], n.Content[i+1]
			}
		}
	}
	return nil, nil
}
