package order

import (
	"reflect"

	"gopkg.in/yaml.v3"
)

// fraction is the first number with a fraction where a type has a whole one: the YAML library cuts it off. Nil: there is none.
func fraction(n *yaml.Node, t reflect.Type) *yaml.Node {
	switch {
	case n.Kind == yaml.AliasNode:
		return nil // its anchor is looked at
	case n.Kind == yaml.DocumentNode:
		return fraction(n.Content[0], t)
	case n.Kind == yaml.ScalarNode && (t.Kind() == reflect.Int || t.Kind() == reflect.Int64) && n.ShortTag() == "!!float":
		return n
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			if found := fraction(item, t.Elem()); found != nil {
				return found
			}
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		for i := 0; i+1 < len(n.Content); i += 2 {
			f, known := t.FieldByNameFunc(func(name string) bool {
				f, _ := t.FieldByName(name)
				return f.Tag.Get("yaml") == n.Content[i].Value
			})
			if !known {
				continue // the decoder refuses it
			}
			if found := fraction(n.Content[i+1], f.Type); found != nil {
				return found
			}
		}
	}
	return nil
}
