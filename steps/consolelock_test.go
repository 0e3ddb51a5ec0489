package steps

import (
	"slices"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/steps/idle"
	"touchdown/steps/site"
)

const bakedPIN = "739215"

// TestConsoleLockIsChecked: the hardware page of a site warns where no console would lock.
func TestConsoleLockIsChecked(t *testing.T) {
	m, cfg := hosttest.New(t), site.New()
	n := &backend.Node{Host: m.Machine}
	wants := func(status check.Status, observed string) {
		t.Helper()
		c := lockCheck(cfg, n)
		if c.Status != status || !strings.Contains(c.Observed.String(), observed) || (c.Fix.String() == "") != (status == check.Pass) {
			t.Errorf("%s %q, %q; want %s %q", c.Status, c.Observed, c.Fix, status, observed)
		}
	}
	wants(check.Warn, "no PIN is set")
	field := pinField(t, cfg)
	if fix := lockCheck(cfg, n).Fix.String(); !strings.Contains(fix, `"`+field.Label.String()+`"`) || !strings.Contains(fix, field.Path) {
		t.Errorf("the fix does not name the field: %s", fix)
	}
	if err := m.WriteFile(layout.ConsolePIN, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(check.Warn, "cannot be read")
	if err := (&bakePIN{bakedPIN}).Run(t.Context(), n, newKept()); err != nil {
		t.Fatal(err)
	}
	wants(check.Pass, "the bake")
	if err := cfg.Set("spec.console.pin", "462913"); err != nil {
		t.Fatal(err)
	}
	if err := cfg.Set("spec.console.lockAfter", "5m"); err != nil {
		t.Fatal(err)
	}
	wants(check.Pass, "after 5m")
	for pin, want := range map[string]int{"462913": 1, "": 0} {
		if err := cfg.Set("spec.console.pin", pin); err != nil {
			t.Fatal(err)
		}
		if plan, err := (&siteCredentials{Site: cfg}).Plan(t.Context(), n); err != nil || len(plan.Changes) != want {
			t.Errorf("the review has %d changes, want %d: %v", len(plan.Changes), want, err)
		}
	}
	if (&Hardware{}).Reads() != nil || !slices.Contains((&Hardware{Site: cfg}).Reads(), pinPath) {
		t.Error("the hardware check is not made again when the PIN changes")
	}
}

// pinField is the field of the PIN, on the page that the fix of the check names.
func pinField(t *testing.T, cfg *site.Config) Field {
	t.Helper()
	for _, stage := range Site(cfg, Wiring{NodeNet: &NodeNetwork{}}) {
		for _, step := range stage.Steps {
			for _, f := range FieldsOf(step) {
				if f.Path == "spec.console.pin" && f.Kind == Secret && strings.Contains(lockCheck(cfg, &backend.Node{Host: hosttest.New(t).Machine}).Fix.String(), `"`+stage.Title.String()+`"`) {
					return f
				}
			}
		}
	}
	t.Fatal("no page has a field for the PIN, or the fix names another one")
	return Field{}
}

// TestPINAgain: it is asked for while there is a PIN that was typed, and not where a document brought it or its file was lost.
func TestPINAgain(t *testing.T) {
	cfg := site.New()
	asked := func() bool { return (&siteCredentials{Site: cfg}).pinAgain().Visible() }
	set := func(value, source string) {
		t.Helper()
		if err := cfg.SetFrom(pinPath, value, source); err != nil {
			t.Fatal(err)
		}
	}
	if asked() {
		t.Error("asked for without a PIN")
	}
	if set("$2a$10$"+strings.Repeat("a", 53), "file site.yaml"); asked() { // computing the hash of a PIN takes seconds under the race detector
		t.Error("the PIN of a document is asked for again")
	}
	if set(string(cfg.Spec.Console.PIN), site.Typed); !asked() {
		t.Error("a PIN that was typed is not asked for again")
	}
	if cfg.Repeat(pinPath, true); !asked() || !cfg.Repeated(pinPath) {
		t.Error("the field goes away when it is filled in")
	}
	if set(string(cfg.Spec.Console.PIN), site.Typed); cfg.Repeated(pinPath) {
		t.Error("the next PIN counts as repeated")
	}
	if cfg.Spec.Console.PIN = ""; asked() {
		t.Error("what was lost is asked for again")
	}
}

// TestBakePIN: the bake keeps a hash in a 0600 file, changes nothing that is right, and takes it back.
func TestBakePIN(t *testing.T) {
	m, kept := hosttest.New(t), newKept()
	n := &backend.Node{Host: m.Machine}
	planned := func(s *bakePIN, want int) {
		t.Helper()
		if plan, err := s.Plan(t.Context(), n); err != nil || len(plan.Changes) != want {
			t.Errorf("%d changes, want %d: %v", len(plan.Changes), want, err)
		}
	}
	none, first, second := &bakePIN{}, &bakePIN{bakedPIN}, &bakePIN{"462913"}
	run := func(s *bakePIN, says int) {
		t.Helper()
		before := len(kept.said)
		if err := s.Run(t.Context(), n, kept); err != nil || len(kept.said)-before != says {
			t.Errorf("said %q: %v", kept.said[before:], err)
		}
	}
	planned(none, 0)
	run(none, 0)
	planned(first, 1)
	run(first, 1)
	planned(first, 0)
	run(first, 0)
	run(none, 0)
	file, err := m.ReadFile(layout.ConsolePIN)
	if err != nil || strings.Contains(string(file), bakedPIN) {
		t.Errorf("the file is %s: %v", file, err)
	}
	run(second, 1)
	if is, bad := idle.Baked(m.Machine); bad || !is.Matches("462913") {
		t.Error("the second PIN does not count")
	}
	if err := second.Undo(t.Context(), n, kept); err != nil {
		t.Fatal(err)
	}
	if is, _ := idle.Baked(m.Machine); !is.Matches(bakedPIN) {
		t.Error("the first PIN did not come back")
	}
	if err := first.Undo(t.Context(), n, newKept()); err != nil || m.Exists(layout.ConsolePIN) {
		t.Errorf("the PIN stays: %v", err)
	}
}
