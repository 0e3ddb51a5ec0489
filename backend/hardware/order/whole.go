package order

import (
	"fmt"
	"reflect"
	"slices"

	"gopkg.in/yaml.v3"

	"touchdown/backend/message"
)

// whole refuses a number with a fraction where the type of the sheet wants a whole one. The YAML library cuts the fraction off: a disk of
// 3.84 would be one of 3, and memory of 0.5 no limit at all. where is the path of the node.
func whole(n *yaml.Node, of reflect.Type, where string) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return whole(n.Alias, of, where)
	case n.Kind == yaml.ScalarNode && isInt(of) && n.ShortTag() == "!!float":
		return message.Failed(message.F("line %d: %s is %s where a whole number is expected", n.Line, where, clip(printable(n.Value), maxText)))
	case n.Kind == yaml.SequenceNode && of.Kind() == reflect.Slice:
		for i, item := range n.Content {
			if err := whole(item, of.Elem(), fmt.Sprintf("%s[%d]", where, i)); err != nil {
				return err
			}
		}
	case n.Kind == yaml.SequenceNode: // of mappings to merge
		for _, item := range n.Content {
			if err := whole(item, of, where); err != nil {
				return err
			}
		}
	case n.Kind == yaml.MappingNode && of.Kind() == reflect.Struct:
		return wholeFields(n, of, where)
	}
	return nil
}

func wholeFields(n *yaml.Node, of reflect.Type, where string) error {
	fields := reflect.VisibleFields(of)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value, to, at := n.Content[i].Value, n.Content[i+1], of, where
		if key != "<<" {
			f := slices.IndexFunc(fields, func(f reflect.StructField) bool { return f.Tag.Get("yaml") == key })
			if f < 0 {
				continue
			}
			if to, at = fields[f].Type, key; where != "" {
				at = where + "." + key
			}
		}
		if err := whole(value, to, at); err != nil {
			return err
		}
	}
	return nil
}

func isInt(t reflect.Type) bool { return t.Kind() == reflect.Int || t.Kind() == reflect.Int64 }
