package proof_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"touchdown/assets"
	"touchdown/backend/message"
	"touchdown/backend/report"
)

// compiled is the published schema, strict where strict is asked for: then it refuses keys that it does not name.
func compiled(t *testing.T, strict bool) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(assets.ReportSchema))
	if err != nil {
		t.Fatal(err)
	}
	if strict {
		closed(doc)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// closed refuses further keys in every object of a schema.
func closed(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, below := range v {
			closed(below)
		}
	case []any:
		for _, below := range v {
			closed(below)
		}
	}
}

func judged(t *testing.T, s *jsonschema.Schema, raw []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// TestSchema: what the code writes is what the published schema says, key by key, and the other way round.
func TestSchema(t *testing.T) {
	strict := compiled(t, true)
	landing, factory := document(), document()
	factory.Kind = report.Factory
	p := signed(t, landing, key(t))
	for name, raw := range map[string][]byte{"signed": p.JSON, "factory": jsonOf(t, factory), "empty": jsonOf(t, report.New(report.Job{}, report.Facts{}, made))} {
		if err := judged(t, strict, raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	old, err := filepath.Glob("../testdata/*.json.golden")
	if err != nil || len(old) == 0 {
		t.Fatal(old, err)
	}
	for _, file := range old {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := judged(t, strict, raw); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	// A document in which nothing is left out names every key that there is.
	var all report.Document
	fill(reflect.ValueOf(&all).Elem())
	all.Schema, all.Kind, all.Previous.Kind, all.Previous.SHA256 = report.Schema, report.Landing, report.Factory, strings.Repeat("0a", 32)
	all.Checks[0].Status, all.Steps[0].Outcome, all.DNS[0].Type = "pass", "done", "A"
	*all.Signer = *p.Report.Signer
	if err := judged(t, strict, jsonOf(t, &all)); err != nil {
		t.Errorf("a key that the schema does not name: %v", err)
	}
	var named, has int
	var schema any
	if err := json.Unmarshal([]byte(assets.ReportSchema), &schema); err != nil {
		t.Fatal(err)
	}
	countProperties(schema, &named)
	var back any
	if err := json.Unmarshal(jsonOf(t, &all), &back); err != nil {
		t.Fatal(err)
	}
	countKeys(back, &has)
	if named != has {
		t.Errorf("the schema names %d keys, a report has %d", named, has)
	}
}

// TestSchemaRefuses: it is more than a list of names. What a later release adds is no mistake.
func TestSchemaRefuses(t *testing.T) {
	s := compiled(t, false)
	for change, good := range map[string]bool{
		`"kind": "landing"|"kind": "launch"`: false, `"status": "pass"|"status": "good"`: false, `"apiWrites": 23|"apiWrites": "many"`: false,
		`"apiWrites": 23,|`: false, `"made": "2026|"made": "the year 2026`: false, `"apiWrites": 23|"apiWrites": 23, "later": [1]`: true,
	} {
		from, to, _ := strings.Cut(change, "|")
		raw := strings.Replace(string(jsonOf(t, document())), from, to, 1)
		if raw == string(jsonOf(t, document())) {
			t.Fatalf("%s changes nothing", change)
		}
		if err := judged(t, s, []byte(raw)); (err == nil) != good {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// fill gives every field a value, every list one item.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		switch v.Type() {
		case reflect.TypeFor[time.Time]():
			v.Set(reflect.ValueOf(made))
		case reflect.TypeFor[message.Text]():
			v.Set(reflect.ValueOf(message.Data("text")))
		default:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		}
	}
}

func countProperties(v any, n *int) {
	switch v := v.(type) {
	case map[string]any:
		if p, ok := v["properties"].(map[string]any); ok {
			*n += len(p)
		}
		for _, below := range v {
			countProperties(below, n)
		}
	case []any:
		for _, below := range v {
			countProperties(below, n)
		}
	}
}

func countKeys(v any, n *int) {
	switch v := v.(type) {
	case map[string]any:
		*n += len(v)
		for _, below := range v {
			countKeys(below, n)
		}
	case []any:
		for _, below := range v {
			countKeys(below, n)
		}
	}
}
