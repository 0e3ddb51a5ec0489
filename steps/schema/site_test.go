package schema_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"touchdown/steps/schema"
	"touchdown/steps/site"
	"touchdown/test/jsonschema"
	"touchdown/test/matrix"
)

func text(t *testing.T) string {
	t.Helper()
	out, err := schema.Site()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// asJSON is what an editor hands to the schema.
func asJSON(t *testing.T, document []byte) []byte {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(document, &v); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// put sets a value of a document at the path of an item.
func put(t *testing.T, document map[string]any, path, value string) {
	t.Helper()
	parts := strings.Split(path, ".")
	for _, part := range parts[:len(parts)-1] {
		name, list := strings.CutSuffix(part, "[]")
		next, _ := document[name].(map[string]any)
		if items, ok := document[name].([]any); list && ok {
			next, _ = items[0].(map[string]any)
		}
		if next == nil {
			next = map[string]any{}
			document[name] = next
		}
		if list {
			document[name] = []any{next}
		}
		document = next
	}
	var v any
	if err := yaml.Unmarshal([]byte(value), &v); err != nil {
		t.Fatal(err)
	}
	document[parts[len(parts)-1]] = v
}

// TestWhole: each item of the site config, with its own example, is a key of the schema, and the schema has no other. What can be
// written into the document is in the first one, what can lie beside it in the second.
func TestWhole(t *testing.T) {
	inside, beside := map[string]any{}, map[string]any{}
	for _, item := range site.Schema() {
		example := item.Example
		if example == "|" {
			example = "text"
		}
		if item.Type == "text" || item.Type == "PIN" || item.Type == "RFC 3339 time" {
			example = `"` + example + `"`
		}
		if item.Type == "list of groups" {
			continue // its keys follow
		}
		if !strings.HasPrefix(item.Type, "file name") {
			put(t, inside, item.Path, example)
		}
		if strings.HasPrefix(item.Type, "file name") || item.Required && item.Type != "PEM" {
			put(t, beside, item.Path, example)
		}
	}
	documents := make([][]byte, 2)
	for i, document := range []map[string]any{inside, beside} {
		var err error
		if documents[i], err = json.Marshal(document); err != nil {
			t.Fatal(err)
		}
	}
	jsonschema.Whole(t, text(t), documents...)
}

// TestSchemaAgrees: what Touchdown reads the schema takes, and the mistakes that an editor can see it refuses, as Touchdown does.
func TestSchemaAgrees(t *testing.T) {
	s := jsonschema.Compile(t, text(t), false)
	good := map[string][]byte{}
	for _, file := range []string{"store.yaml", "network.yaml"} {
		document, err := os.ReadFile(filepath.Join("../../test/sites", file))
		if err != nil {
			t.Fatal(err)
		}
		good[file] = document
	}
	for _, m := range matrix.Third() {
		good["a site of the matrix: "+m.String()] = []byte(m.Config())
	}
	for name, document := range good {
		c, err := site.Parse(document, name, os.DirFS("../../test/sites"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := jsonschema.Judge(t, s, asJSON(t, document)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		again, err := c.Marshal(false) // with all the defaults
		if err != nil {
			t.Fatal(err)
		}
		if err := jsonschema.Judge(t, s, asJSON(t, again)); err != nil {
			t.Errorf("%s, written again: %v", name, err)
		}
	}
	head := "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec:\n  clusterName: a\n  baseDomain: example.com\n"
	for name, wrong := range map[string]bool{
		head + "  proxy:\n": false, head + "  network: {ipv4: {method: \"\"}}\n": false, head + "  networkConfig: {interfaces: []}\n": false,
		head + "  imageTagMirrors: [{source: a.example.com/b, mirrors: [c.example.com/d]}]\n": false,
		head + "  registryCerts: [{registryHostname: a.example.com, certificate: x}]\n":       false,
		head + "  hostnam: b\n": true, head + "  policy: {allowReboot: \"yes\"}\n": true, head + "  network: {mtu: big}\n": true,
		head + "  network: {dnsServers: 198.51.100.1}\n": true, head + "  policy: {watchdog: 30}\n": true,
		head + "  network: {ipv4: {method: guess}}\n": true, head + "  pullSecret: '{}'\n  pullSecretFile: a\n": true,
		strings.Replace(head, "v1alpha1", "v2", 1): true, strings.Replace(head, "  clusterName: a\n", "", 1): true,
		head + "  wiring: [{nic: eno1, switch: sw-7, vlan: 20}]\n": false, head + "  wiring: [{switch: sw-7}]\n": true, head + "  wiring: [{nic: eno1, vlan: tagged}]\n": true,
		head + "  nodeLabels: {zone: berlin, example.com/rack: '7', empty: ''}\n": false, head + "  nodeLabels: {rack: 7}\n": true, head + "  nodeLabels: [zone]\n": true,
		head + "  registryCerts: [{registryHostname: a.example.com}]\n": true, head + "  proxy: [a]\n": true,
	} {
		if err := jsonschema.Judge(t, s, asJSON(t, []byte(name))); (err != nil) != wrong {
			t.Errorf("%s\n%v", name, err)
		}
	}
}

// TestExamples: what an editor offers is what the schema takes, and it explains each key.
func TestExamples(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal([]byte(text(t)), &root); err != nil {
		t.Fatal(err)
	}
	explained(t, "", root)
}

func explained(t *testing.T, place string, v map[string]any) {
	t.Helper()
	if description, _ := v["description"].(string); description == "" {
		t.Errorf("%s has no description", place)
	}
	one := maps.Clone(v)
	delete(one, "$id")
	alone, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	s := jsonschema.Compile(t, string(alone), false)
	examples, _ := v["examples"].([]any)
	if d, ok := v["default"]; ok {
		examples = append(examples, d)
	}
	for _, example := range examples {
		if err := s.Validate(example); err != nil {
			t.Errorf("%s: %v", place, err)
		}
	}
	keys, _ := v["properties"].(map[string]any)
	for key, below := range keys {
		below, _ := below.(map[string]any)
		explained(t, place+"."+key, below)
	}
	if items, ok := v["items"].(map[string]any); ok && items["properties"] != nil {
		explained(t, place+"[]", items)
	}
}
