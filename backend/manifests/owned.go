package manifests

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// owned is what Touchdown has applied of an object: its own fields as they are now, by what the API notes of them
// (sigs.k8s.io/structured-merge-diff/v6, fieldpath/serialize.go). To apply it again brings just these back. It is nil where Touchdown has applied
// nothing.
func owned(object map[string]any) map[string]any {
	entry := ownEntry(object)
	if entry == nil {
		return nil
	}
	fields, _ := entry["fieldsV1"].(map[string]any)
	tree, _ := pick(object, fields).(map[string]any)
	if tree == nil {
		tree = map[string]any{}
	}
	meta, _ := tree["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	for _, key := range []string{"name", "namespace"} {
		if value := text(object, key); value != "" {
			meta[key] = value
		}
	}
	tree["apiVersion"], tree["kind"], tree["metadata"] = entry["apiVersion"], object["kind"], meta
	return tree
}

// ownEntry is what the API notes of the fields that Touchdown applied; nil for nothing.
func ownEntry(object map[string]any) map[string]any {
	meta, _ := object["metadata"].(map[string]any)
	entries, _ := meta["managedFields"].([]any)
	for _, entry := range entries {
		if e, _ := entry.(map[string]any); e["manager"] == manager && e["operation"] == "Apply" && e["subresource"] == nil {
			return e
		}
	}
	return nil
}

// pick takes the fields out of a value. A field without others below it is all of the value.
func pick(value any, fields map[string]any) any {
	if len(fields) == 0 {
		return value
	}
	switch value := value.(type) {
	case map[string]any:
		some := map[string]any{}
		for key, below := range fields {
			name, is := strings.CutPrefix(key, "f:")
			held, there := value[name]
			if is && there {
				some[name] = pick(held, tree(below))
			}
		}
		return some
	case []any:
		some := []any{}
		for i, item := range value { // in the order in which they are
			for key, below := range fields {
				if isItem(key, i, item) {
					some = append(some, pick(item, tree(below)))
				}
			}
		}
		return some
	}
	return value
}

// isItem tells whether a key of the fields is for an item of a list: "k:" by some of its values, "v:" by what it is, "i:" by its place.
func isItem(key string, i int, item any) bool {
	kind, rest, _ := strings.Cut(key, ":")
	switch kind {
	case "i":
		return rest == strconv.Itoa(i)
	case "v":
		return reflect.DeepEqual(plainly(item), decoded(rest))
	case "k":
		has, want := tree(plainly(item)), tree(decoded(rest))
		return len(want) > 0 && !slices.ContainsFunc(keysOf(want), func(name string) bool { return !reflect.DeepEqual(has[name], want[name]) })
	}
	return false
}

func keysOf(tree map[string]any) (names []string) {
	for name := range tree {
		names = append(names, name)
	}
	return names
}

func tree(value any) map[string]any {
	t, _ := value.(map[string]any)
	return t
}

// decoded reads JSON; nil where it is none.
func decoded(text string) (value any) {
	if json.Unmarshal([]byte(text), &value) != nil {
		return nil
	}
	return value
}

// plainly is a value as decoded has it: its numbers are of one type.
func plainly(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return decoded(string(text))
}
