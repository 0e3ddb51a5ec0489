package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"touchdown/steps/site"
)

// id names the schema. It changes when a document that was right no longer is.
const id = "https://touchdown.dev/site/v1alpha1"

// node is a JSON schema, or a part of one.
type node map[string]any

// Site is the JSON schema of the site config (draft 2020-12), made from the items that `touchdown site explain` prints. It judges the form of a document;
// what its values mean together, and the files that it names, `touchdown site validate` judges.
func Site() ([]byte, error) {
	root := object("Site config of Touchdown: what a node becomes at its site.")
	root["$schema"], root["$id"], root["title"] = "https://json-schema.org/draft/2020-12/schema", id, "Touchdown site config"
	for _, item := range site.Schema() {
		if err := add(root, item); err != nil {
			return nil, err
		}
	}
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the JSON schema of the site config: %w", err)
	}
	return append(text, '\n'), nil
}

// object is a group of keys. It refuses keys that it does not name, as the site config does.
func object(description string) node {
	return node{"type": "object", "description": description, "properties": node{}, "additionalProperties": false}
}

// add puts an item into the group that its path names, and makes the groups on the way.
func add(root node, item site.Item) error {
	value, err := valueOf(item)
	if err != nil {
		return fmt.Errorf("%s: %w", item.Path, err)
	}
	group, parts := root, strings.Split(item.Path, ".")
	for i, part := range parts[:len(parts)-1] {
		group = below(group, part, strings.Join(parts[:i+1], "."))
	}
	name := parts[len(parts)-1]
	if strings.HasPrefix(name, "<") { // any key: <question>
		group["additionalProperties"] = value
		return nil
	}
	properties(group)[name] = value
	if of, isFile := strings.CutSuffix(name, "File"); isFile && strings.HasPrefix(item.Type, "file name") {
		eitherOf(group, of, name)
		return nil
	}
	if item.Required {
		require(group, name)
		for i := len(parts) - 1; i > 0 && !strings.Contains(item.Path, "[]"); i-- { // a group that has to hold something has to be there
			parent := root
			for _, part := range parts[:i-1] {
				parent = below(parent, part, "")
			}
			require(parent, parts[i-1])
		}
	}
	return nil
}

// below is the group of a name, or the group of which a list of that name consists.
func below(group node, name, path string) node {
	list := strings.HasSuffix(name, "[]")
	name = strings.TrimSuffix(name, "[]")
	next, there := properties(group)[name].(node)
	if !there {
		next = object("See `touchdown site explain " + path + "`.")
		next["type"] = []string{"object", "null"} // null: everything in it is commented out
		properties(group)[name] = next
	}
	if list {
		next, _ = next["items"].(node)
	}
	return next
}

func properties(group node) node {
	p, _ := group["properties"].(node)
	return p
}

func require(group node, name string) {
	names, _ := group["required"].([]string)
	if !slices.Contains(names, name) {
		group["required"] = append(names, name)
	}
	if group["type"] != nil {
		group["type"] = "object"
	}
}

// eitherOf lets a value stand in the document or in a file beside it, never both. A required one has to be in one of them.
func eitherOf(group node, name, file string) {
	all, _ := group["allOf"].([]node)
	rule := node{"not": node{"required": []string{name, file}}}
	if names, _ := group["required"].([]string); slices.Contains(names, name) {
		group["required"] = slices.DeleteFunc(names, func(n string) bool { return n == name })
		rule = node{"oneOf": []node{{"required": []string{name}}, {"required": []string{file}}}}
	}
	group["allOf"] = append(all, rule)
}

// valueOf is the schema of one value.
func valueOf(item site.Item) (node, error) {
	v, err := form(item)
	if err != nil {
		return nil, err
	}
	v["description"] = sentence(item)
	if item.Secret {
		v["writeOnly"] = true
	}
	if item.Default != "" {
		v["default"] = plain(item.Default, v["type"] == "string")
	}
	if example := plain(item.Example, v["type"] == "string"); item.Example != "|" && example != nil {
		v["examples"] = []any{example}
	}
	return v, nil
}

// form is what a value may look like.
func form(item site.Item) (node, error) {
	switch item.Type {
	case "true or false":
		return node{"type": "boolean"}, nil
	case "number":
		return node{"type": "integer", "minimum": 0}, nil
	case "list of texts":
		return node{"type": "array", "items": node{"type": "string", "minLength": 1}}, nil
	case "list of groups":
		return node{"type": "array", "items": object("See `touchdown site explain " + item.Path + "`.")}, nil
	case "names and values":
		return node{"type": []string{"object", "null"}, "additionalProperties": node{"type": "string"}}, nil
	case "nmstate YAML":
		return node{"type": []string{"string", "object"}}, nil
	case "file names":
		return node{"type": []string{"string", "array"}, "items": node{"type": "string", "minLength": 1}}, nil
	case "duration":
		return node{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ms|h|m|s))*$`}, nil
	case "text", "RFC 3339 time", "PEM", "Kubernetes YAML", "dockerconfigjson", "file name", "PIN":
		return textForm(item), nil
	}
	return nil, fmt.Errorf("the JSON schema does not know the type %q", item.Type)
}

func textForm(item site.Item) node {
	switch {
	case item.Path == "apiVersion" || item.Path == "kind":
		return node{"const": item.Example}
	case len(item.Choices) > 0:
		return node{"type": "string", "enum": append(slices.Clone(item.Choices), "")} // an empty text is as good as no line
	case item.Required:
		return node{"type": "string", "minLength": 1}
	}
	return node{"type": "string"}
}

// sentence is what an editor shows beside a key.
func sentence(item site.Item) string {
	text := strings.ToUpper(item.Meaning[:1]) + item.Meaning[1:]
	if item.Unit != "" {
		text += " (" + item.Unit + ")"
	}
	return text + "."
}

// plain reads a value as a site config has it: true, 5000 or a text. A text may look like a number.
func plain(text string, isText bool) any {
	var v any
	if yaml.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	if _, ok := v.(string); isText && !ok {
		return text
	}
	return v
}
