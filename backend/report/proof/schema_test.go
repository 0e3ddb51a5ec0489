package proof_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"touchdown/assets"
	"touchdown/backend/report"
	"touchdown/test/jsonschema"
)

// TestSchema: what the code writes is what the published schema says, key by key, and the other way round.
func TestSchema(t *testing.T) {
	strict := jsonschema.Compile(t, assets.ReportSchema, true)
	landing, factory := document(), document()
	factory.Kind = report.Factory
	p := signed(t, landing, key(t))
	for name, raw := range map[string][]byte{"signed": p.JSON, "factory": jsonOf(t, factory), "empty": jsonOf(t, report.New(report.Job{}, report.Facts{}, made))} {
		if err := jsonschema.Judge(t, strict, raw); err != nil {
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
		if err := jsonschema.Judge(t, strict, raw); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	// A document in which nothing is left out names every key that there is.
	var all report.Document
	jsonschema.Fill(reflect.ValueOf(&all).Elem())
	all.Schema, all.Kind, all.Previous.Kind, all.Previous.SHA256 = report.Schema, report.Landing, report.Factory, strings.Repeat("0a", 32)
	all.Checks[0].Status, all.Checks[0].Waiver.Was, all.Steps[0].Outcome, all.DNS[0].Type = "pass", "fail", "done", "A"
	*all.Signer = *p.Report.Signer
	jsonschema.Whole(t, assets.ReportSchema, jsonOf(t, &all))
}

// TestSchemaRefuses: it is more than a list of names. What a later release adds is not a mistake.
func TestSchemaRefuses(t *testing.T) {
	s := jsonschema.Compile(t, assets.ReportSchema, false)
	for change, good := range map[string]bool{
		`"kind": "landing"|"kind": "launch"`: false, `"status": "pass"|"status": "good"`: false, `"apiWrites": 23|"apiWrites": "many"`: false,
		`"apiWrites": 23,|`: false, `"made": "2026|"made": "the year 2026`: false, `"apiWrites": 23|"apiWrites": 23, "later": [1]`: true,
	} {
		from, to, _ := strings.Cut(change, "|")
		raw := strings.Replace(string(jsonOf(t, document())), from, to, 1)
		if raw == string(jsonOf(t, document())) {
			t.Fatalf("%s changes nothing", change)
		}
		if err := jsonschema.Judge(t, s, []byte(raw)); (err == nil) != good {
			t.Errorf("%s: %v", change, err)
		}
	}
}
