package site

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"gopkg.in/yaml.v3"
)

// TestJSONIsReadAsJSON: every code of JSON means to the reader of YAML what it means in JSON, on the same lines.
func TestJSONIsReadAsJSON(t *testing.T) {
	for _, text := range []string{
		`{"a": "x\/y"}`, "\n\t{\n\t\"a\\/b\": [\"\\ud83d\\ude00\", \"\\uD83D\\uDE00\\/\"]\n}\n", `["\\/", "\\\/", "\\ud83d\\ude00", "\\\ud83d\ude00"]`,
		`{"half": "\ud83d", "turned": "\ude00\ud83d", "twice": "\ud83d\ud83d\ude00", "before": "\ud83dx\n", "last": "\udbff\udfff"}`,
		`["\u003c\u00e9\u20ac\"\b\f\n\r\t\\"]`, `{"a": {"b": [1, true, null, "ä\/"]}}`,
	} {
		var want, got any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		read := fromJSON([]byte(text))
		var tree any
		if err := yaml.Unmarshal(read, &tree); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		b, err := json.Marshal(tree)
		if err == nil {
			err = json.Unmarshal(b, &got)
		}
		if err != nil || !reflect.DeepEqual(got, want) || strings.Count(string(read), "\n") != strings.Count(text, "\n") {
			t.Errorf("%s is read as %s: %v, want %v (%v)", text, read, got, want, err)
		}
	}
	for _, text := range []string{"", "a: \\/", `{a: "x\/y"}`, `{"a": "x\/y"} # not JSON`, `{"a": "x\/y"`, `"\/"`, `{"a": "b"}`, "{'a': '\\/'}"} {
		if read := fromJSON([]byte(text)); string(read) != text {
			t.Errorf("%s is not JSON, and became %s", text, read)
		}
	}
}

// TestDocumentsInJSON: an import, a site config and the files of its objects may be what a program wrote as JSON.
func TestDocumentsInJSON(t *testing.T) {
	c, _, err := Import([]byte(`{"interfaces": [{"name": "eno1", "type": "ethernet", "state": "up", "description": "rack 7\/2 \ud83d\ude00", "ipv4": {"enabled": true, "dhcp": true}}]}`), "state.json", ImportChoice{})
	if err != nil || !strings.Contains(string(c.Spec.NetworkConfig), "rack 7/2") {
		t.Errorf("import: %v", err)
	}
	one := `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}, "data": {"k": "x\/y \ud83d\ude00"}}`
	files := fstest.MapFS{"a.json": {Data: []byte(one)}, "b.yaml": {Data: []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: c}\n")}}
	for _, named := range []string{`"a.json"`, `["a.json", "b.yaml"]`, `["b.yaml", "a.json"]`} {
		c, err := Parse([]byte(`{"apiVersion": "touchdown.dev\/v1alpha1", "kind": "SiteConfig", "spec": {"manifestsFile": `+named+`}}`), "site.json", files)
		if err != nil {
			t.Errorf("%s: %v", named, err)
			continue
		}
		objects, err := c.Spec.Objects()
		if err != nil {
			t.Errorf("%s: %v", named, err)
		}
		found := false
		for _, o := range objects {
			data, _ := o["data"].(map[string]any)
			found = found || data["k"] == "x/y \U0001F600"
		}
		if !found {
			t.Errorf("%s: %v", named, objects)
		}
	}
	if err := manifests(one); err != nil {
		t.Errorf("as a value: %v", err)
	}
}
