package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/host/hosttest"
	"touchdown/steps/records"
)

// TestLog: the lines that are asked for, masked and readable; fewer where there are fewer, and one at least.
func TestLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	e := &Engine{o: &Options{LogFile: file}, mask: &Masker{}}
	e.mask.Hide([]string{"PLANTED\nof-several\nlines-here", "sesam"})
	var text strings.Builder
	for i := range 5 {
		fmt.Fprintf(&text, `{"time":"2026-01-02T03:04:0%dZ","level":"INFO","msg":"line %d","password":"sesam","key":"PLANTED\nof-several\nlines-here"}`+"\n", i, i)
	}
	text.WriteString("panic: of-several\n\n\n")
	all := []string{"panic: <secret>"}
	for i := range 5 {
		all = slices.Insert(all, i, fmt.Sprintf("03:04:0%d INFO  line %d, password <secret>, key <secret>", i, i))
	}
	for _, c := range []struct {
		text  string
		lines int
		want  []string
	}{
		{text.String(), 100, all},
		{text.String(), 6, all},
		{text.String(), 2, all[4:]},
		{text.String(), 0, all[5:]},
		{text.String(), -1, all[5:]},
		{"no end", 3, []string{"no end"}},
		{"", 3, []string{""}},
		{"\n\n", 3, []string{""}},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := e.Log(t.Context(), records.Ask{Lines: c.lines})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%d lines of %.20q: %q (%v), want %q", c.lines, c.text, got, err, c.want)
		}
	}
}

// TestLogOfWarnings: warnings and worse alone, and what is not a record; a line that no console shows is cut.
func TestLogOfWarnings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	e := &Engine{o: &Options{LogFile: file}, mask: &Masker{}}
	text := `{"time":"2026-01-02T03:04:00Z","level":"INFO","msg":"well"}
{"time":"2026-01-02T03:04:01Z","level":"WARN","msg":"slow"}
{"time":"2026-01-02T03:04:02Z","level":"ERROR","msg":"broken"}
panic: ` + strings.Repeat("x", 5000) + `
{"time":"2026-01-02T03:04:03Z","level":"DEBUG","msg":"fine"}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := e.Log(t.Context(), records.Ask{Lines: 3, Grave: true})
	if err != nil || len(got) != 3 || got[0] != "03:04:01 WARN  slow" || got[1] != "03:04:02 ERROR broken" || len(got[2]) > 2100 || !strings.HasPrefix(got[2], "panic: ") {
		t.Errorf("%.300q, %v", got, err)
	}
}

// TestJournalHasNoSecret: the node's journal is bounded, and what looks like a secret is taken out as in a bundle; so is what is one.
func TestJournalHasNoSecret(t *testing.T) {
	m := hosttest.New(t)
	m.On("journalctl", "2026-01-02T03:04:05 sno crio[1]: password=Pl4nted1\n2026-01-02T03:04:06 sno kubelet[2]: token of sesam\x1b[2J\n", nil)
	e := &Engine{o: &Options{Node: &backend.Node{Host: m.Machine}}, mask: &Masker{}}
	e.mask.Hide([]string{"sesam"})
	got, err := e.Log(t.Context(), records.Ask{Lines: 1 << 30, Node: true, Grave: true})
	all := strings.Join(got, "\n")
	if err != nil || len(got) != 2 || strings.Contains(all, "Pl4nted1") || strings.Contains(all, "sesam") || !strings.Contains(all, "kubelet[2]") || strings.Contains(all, "\x1b") {
		t.Errorf("%q, %v", got, err)
	}
	if asked := strings.Join(m.Calls(), "\n"); !strings.Contains(asked, "--lines=2000 --boot --priority=warning") {
		t.Errorf("asked for %q", asked)
	}
}
