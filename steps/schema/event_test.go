package schema_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/schema"
	"touchdown/test/jsonschema"
)

// TestEventSchema: an event has the keys that the published schema names, and no other; so has one that says nothing.
func TestEventSchema(t *testing.T) {
	var all event.Event
	jsonschema.Fill(reflect.ValueOf(&all).Elem())
	all.Check.Status, all.Check.Waiver.Was = "pass", "fail"
	whole, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	jsonschema.Whole(t, schema.Event, whole)
	bare, err := json.Marshal(event.Event{Progress: &progress.Progress{}, Question: &steps.Question{}, Problem: &event.Trouble{}, Job: &event.Job{}})
	if err != nil {
		t.Fatal(err)
	}
	strict := jsonschema.Compile(t, schema.Event, true)
	if err := jsonschema.Judge(t, strict, bare); err != nil {
		t.Error(err)
	}
	if err := jsonschema.Judge(t, strict, []byte(strings.Replace(string(bare), `"seq":0`, `"seq":"first"`, 1))); err == nil {
		t.Error("it judges nothing")
	}
}

// TestEventSchemaNamesTheKinds: it tells a reader each kind of event that the code has.
func TestEventSchemaNamesTheKinds(t *testing.T) {
	var published struct {
		Properties map[string]struct{ Examples []string }
	}
	if err := json.Unmarshal([]byte(schema.Event), &published); err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../event/event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Kind" {
			literal, _ := spec.Values[0].(*ast.BasicLit)
			kind, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, kind)
		}
		return true
	})
	readme, err := os.ReadFile("../../cmd/touchdown/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(readme), "## A hub that follows a node")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, kind := range kinds {
		if !regexp.MustCompile("(?m)^\\| [^|]*`" + kind + "`[^|]*\\|").MatchString(table) {
			t.Errorf("the README tells a hub nothing of the kind %s", kind)
		}
	}
	for key := range published.Properties {
		if !slices.Contains([]string{"seq", "time", "step", "kind", "messages"}, key) && !strings.Contains(table, "`"+key+"`") {
			t.Errorf("the README tells a hub nothing of the key %s", key)
		}
	}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			for _, key := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(cells[3], -1) {
				if !strings.Contains(schema.Event, `"`+key[1]+`"`) {
					t.Errorf("the README tells a hub of the key %s, which no event has", key[1])
				}
			}
		}
	}
	if !reflect.DeepEqual(kinds, published.Properties["kind"].Examples) {
		t.Errorf("the code has the kinds\n%q, the schema\n%q", kinds, published.Properties["kind"].Examples)
	}
}
