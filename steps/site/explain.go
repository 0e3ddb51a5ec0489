package site

import (
	"fmt"
	"strings"
)

// Schema returns the description of every path, in the order of the document.
func Schema() []Item {
	items := make([]Item, len(schema))
	for i := range schema {
		items[i] = schema[i].Item
	}
	return items
}

// Explain returns the description of one path, or of everything below it, as text.
func Explain(path string) (string, error) {
	var b strings.Builder
	for i := range schema {
		e := &schema[i]
		if e.Path == path || strings.HasPrefix(e.Path, path+".") || strings.HasPrefix(e.Path, path+"[].") || e.matches(general(path)) {
			e.describe(&b)
		}
	}
	if b.Len() == 0 {
		return "", unknownPath(path)
	}
	return b.String(), nil
}

// Reference returns the description of the whole document as text.
func Reference() string {
	var b strings.Builder
	for i := range schema {
		schema[i].describe(&b)
	}
	return b.String()
}

func (i Item) describe(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n    %s\n", i.Path, i.Meaning)
	fmt.Fprintf(b, "    type: %s", i.Type)
	if i.Unit != "" {
		fmt.Fprintf(b, " (%s)", i.Unit)
	}
	if i.Secret {
		b.WriteString(", secret")
	}
	if i.Required {
		b.WriteString(", required")
	}
	if len(i.Choices) > 0 {
		fmt.Fprintf(b, "\n    choices: %s", strings.Join(i.Choices, ", "))
	}
	if i.Default != "" {
		fmt.Fprintf(b, "\n    default: %s", i.Default)
	}
	if i.Example != "|" {
		fmt.Fprintf(b, "\n    example: %s", i.Example)
	}
	b.WriteString("\n")
}

// Example returns a commented document to fill in. Parse accepts it unchanged; Validate then names what is still missing.
func Example() []byte {
	var b strings.Builder
	b.WriteString("# What a node becomes at its site. Remove the # in front of what you need.\n")
	var open []string
	for i := range schema {
		e := &schema[i]
		if strings.Contains(e.Path, "[].") {
			continue // the list's own example shows its keys
		}
		parts := strings.Split(e.Path, ".")
		name, parents := parts[len(parts)-1], parts[:len(parts)-1]
		for depth, parent := range parents {
			if depth < len(open) && open[depth] == parent {
				continue
			}
			fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("  ", depth), parent)
		}
		open = parents
		e.sample(&b, strings.Repeat("  ", len(parents)), name)
	}
	return []byte(b.String())
}

func (e *entry) sample(b *strings.Builder, indent, name string) {
	fmt.Fprintf(b, "%s# %s\n", indent, e.Meaning)
	switch {
	case e.fixed != "":
		fmt.Fprintf(b, "%s%s: %s\n", indent, name, e.fixed)
	case e.Required:
		fmt.Fprintf(b, "%s%s: \"\" # for example %s\n", indent, name, e.Example)
	case e.Default != "":
		fmt.Fprintf(b, "%s%s: %s\n", indent, name, e.Default)
	case e.Type == typeNMState:
		fmt.Fprintf(b, "%s# %s:\n%s#   interfaces: ...\n", indent, name, indent)
	case e.Type == typeManifests:
		fmt.Fprintf(b, "%s# %s: |\n%s#   apiVersion: ...\n", indent, name, indent)
	case e.Example == "|":
		fmt.Fprintf(b, "%s# %s: |\n%s#   -----BEGIN ...\n", indent, name, indent)
	default:
		fmt.Fprintf(b, "%s# %s: %s\n", indent, name, e.Example)
	}
}
