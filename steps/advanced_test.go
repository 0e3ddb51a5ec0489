package steps

import (
	"slices"
	"strings"
	"testing"

	"touchdown/steps/site"
)

// asked are the fields of a site's list by path, whether they are shown now or not.
func asked(t *testing.T) map[string]Field {
	t.Helper()
	fields := map[string]Field{}
	for _, stage := range Site(site.New(), Wiring{}) {
		for _, step := range stage.Steps {
			for _, f := range FieldsOf(step) {
				if _, twice := fields[f.Path]; twice {
					t.Errorf("%s is asked twice", f.Path)
				}
				fields[f.Path] = f
			}
		}
	}
	return fields
}

// TestEverythingCanBeAsked: whatever the site config can say, a page asks for. Answers to questions are given where they are asked.
func TestEverythingCanBeAsked(t *testing.T) {
	fields := asked(t)
	for _, path := range site.New().Paths() {
		if _, ok := fields[path]; !ok {
			t.Errorf("no page asks for %s", path)
		}
	}
}

// TestAdvancedExamples: a person who types what stands below a field is not refused. The keys in examples are cut short.
func TestAdvancedExamples(t *testing.T) {
	examples := 0
	for _, f := range (&advanced{Site: site.New()}).Fields() {
		if f.Example == "" || strings.Contains(f.Example, "AAAA") {
			continue
		}
		examples++
		if err := f.Check(f.Example); err != nil {
			t.Errorf("%s refuses its own example %q: %v", f.Path, f.Example, err)
		}
	}
	if examples < 18 {
		t.Errorf("only %d fields have an example", examples)
	}
}

// TestAdvancedPlan: the review tells the rules that are not the usual ones, and not the PIN, which another page asks.
func TestAdvancedPlan(t *testing.T) {
	cfg := site.New()
	s := &advanced{Site: cfg}
	if plan, err := s.Plan(t.Context(), nil); err != nil || len(plan.Changes) > 0 {
		t.Errorf("of the usual rules it tells %+v (%v)", plan, err)
	}
	for path, value := range map[string]string{"spec.policy.allowReboot": "false", "spec.policy.watchdog": "1h"} {
		if err := cfg.Set(path, value); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := s.Plan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, c := range plan.Changes {
		told = append(told, c.What.String()+": "+c.Old.String()+" -> "+c.New.String())
	}
	want := []string{"Allow reboots: yes -> no", "Report as stuck after: 30m -> 1h"}
	if !slices.Equal(told, want) {
		t.Errorf("tells %q, want %q", told, want)
	}
}

// TestAdvancedIsClosed: only the stage of the advanced settings is closed; what makes no sense in it is hidden.
func TestAdvancedIsClosed(t *testing.T) {
	cfg := site.New()
	visible := func(path string) bool {
		fields := (&advanced{Site: cfg}).Fields()
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Path == path })
		return fields[i].Visible()
	}
	if visible("spec.hostname") || !visible("spec.network.dnsSearch") {
		t.Error("asks for a name that the policy does not allow, or not for the search domains")
	}
	cfg.Spec.Policy.AllowHostnameChange, cfg.Spec.NetworkConfig = true, "interfaces: []"
	if !visible("spec.hostname") || visible("spec.network.dnsSearch") {
		t.Error("does not ask for a name that the policy allows, or for search domains beside nmstate")
	}
	var closed []string
	for _, stage := range Site(site.New(), Wiring{}) {
		if stage.Advanced {
			closed = append(closed, stage.ID)
		}
	}
	if !slices.Equal(closed, []string{"advanced"}) {
		t.Errorf("closed are %q", closed)
	}
}
