// Package screen builds and lands the example of CONTRIBUTING.md's "Add a screen": the product with two more files and three lines.
package screen

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "touchdown/steps" // so that a change of the product runs the test again
)

// lines are what is added to files that are there: each below the line that has below in it.
var lines = []struct{ file, below, line string }{
	{"steps/site/config.go", "type Spec struct {", "\tSyslogServer string `yaml:\"syslogServer,omitempty\" json:\"syslogServer,omitempty\"` // that the node sends its log to"},
	{"steps/site/schema.go", "\tpolicyEntries,", "\tsyslogEntries,"},
	{"steps/wizard.go", "&siteCredentials{Site: cfg}", "\t\t\t&Syslog{Site: cfg}, // asks for the server; NodeConfig brings it to the node"},
}

// TestTheExampleLands: what CONTRIBUTING.md tells is all that is needed. The product is built with it, from an overlay of the
// tree, and a test of the example runs in that.
func TestTheExampleLands(t *testing.T) {
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay, files := map[string]string{}, 0
	err = filepath.WalkDir("testdata/steps", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		if _, err := os.ReadFile(name); err != nil { // so that its change runs the test again, too
			return err
		}
		rel, err := filepath.Rel("testdata", name)
		overlay[filepath.Join(top, rel)] = filepath.Join(top, "test/screen", name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range lines {
		name := filepath.Join(top, l.file)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, found := strings.Cut(string(text), l.below)
		end, rest, more := strings.Cut(rest, "\n")
		if !found || !more || strings.Contains(rest, l.below) {
			t.Fatalf("%s: %q does not stand on one line alone", l.file, l.below)
		}
		overlay[name] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(overlay[name], []byte(head+l.below+end+"\n"+l.line+"\n"+rest), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	told, err := os.ReadFile(filepath.Join(top, "CONTRIBUTING.md"))
	if want := fmt.Sprintf("%d new files and %d lines", files, len(lines)); err != nil || !strings.Contains(string(told), want) {
		t.Errorf("CONTRIBUTING.md does not say %q (%v)", want, err)
	}
	overlay[filepath.Join(top, "test/screen/landing_test.go")] = filepath.Join(top, "test/screen/testdata/landing_test.go")
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", filepath.Join(dir, "overlay.json"), "-v", "-run", "^(TestLanding|TestNothingAsked)$", "./test/screen")
	cmd.Dir = top
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: ") != 2 {
		t.Fatalf("%v\n%s", err, out)
	}
}
