package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
		all = slices.Insert(all, i, fmt.Sprintf("03:04:0%d INFO  line %d key=<secret> password=<secret>", i, i))
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
		got, err := e.Log(t.Context(), c.lines)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%d lines of %.20q: %q (%v), want %q", c.lines, c.text, got, err, c.want)
		}
	}
}
