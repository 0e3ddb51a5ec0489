package site

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestSchema(t *testing.T) {
	var b strings.Builder
	for _, item := range Schema() {
		text, err := Explain(item.Path)
		if err != nil || !strings.Contains(text, item.Meaning) || item.Meaning == "" || item.Type == "" {
			t.Errorf("%s is not explained: %v", item.Path, err)
		}
		if item.Example == "" {
			t.Errorf("%s has no example", item.Path)
		}
	}
	b.WriteString(Reference() + "\n" + string(Example()))
	golden(t, "testdata/schema.golden", b.String())
	if group, err := Explain("spec.apiCert"); err != nil || strings.Count(group, "type:") != 4 {
		t.Errorf("a group: %v\n%s", err, group)
	}
	if _, err := Explain("spec.policy.stabilityWindo"); err == nil || !strings.Contains(err.Error(), "did you mean spec.policy.stabilityWindow?") {
		t.Errorf("an unknown path: %v", err)
	}
}

// TestSchemaFitsStruct holds that table and struct name the same fields.
func TestSchemaFitsStruct(t *testing.T) {
	var fields []string
	var walk func(reflect.Type, string)
	walk = func(s reflect.Type, prefix string) {
		for i := range s.NumField() {
			f := s.Field(i)
			tag, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case tag == "-" || !f.IsExported() && !f.Anonymous:
			case f.Anonymous:
				walk(f.Type, prefix)
			case f.Type.Kind() == reflect.Struct:
				walk(f.Type, prefix+tag+".")
			case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
				fields = append(fields, prefix+tag)
				walk(f.Type.Elem(), prefix+tag+"[].")
			case f.Type.Kind() == reflect.Map && tag == "answers": // each is a path
				fields = append(fields, prefix+tag+".<question>")
			default:
				fields = append(fields, prefix+tag)
			}
		}
	}
	walk(reflect.TypeFor[Config](), "")
	var paths []string
	for i := range schema {
		if schema[i].into == "" {
			paths = append(paths, schema[i].Path)
		}
	}
	if !slices.Equal(fields, paths) {
		t.Errorf("\nstruct %q\ntable  %q", fields, paths)
	}
}

func TestExampleFilledIn(t *testing.T) {
	c, err := Parse(Example(), "new.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if errs, _ := c.Validate(today()); len(errs) != 2 {
		t.Errorf("got %v", errs)
	}
	filled := strings.NewReplacer(`clusterName: ""`, "clusterName: store0042", `baseDomain: ""`, "baseDomain: example.com", "# pullSecret:", "pullSecret:",
		"    # answers:", "    answers:", "      # <question>: keep", "      keep-network: keep").Replace(string(Example()))
	c, err = Parse([]byte(filled), "new.yaml", nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, filled)
	}
	if errs, warnings := c.Validate(today()); len(errs)+len(warnings) > 0 || c.Domain() != "store0042.example.com" || c.Spec.PullSecret == "" {
		t.Errorf("%v %v", errs, warnings)
	}
}
