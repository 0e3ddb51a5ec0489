package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestFailuresAreJSON runs every command that has -o json where there is neither an engine nor a cluster. Its standard output
// is JSON and ends with the error.
func TestFailuresAreJSON(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none")
	args := map[string][]string{
		"touchdown apply":          {"-f", "../../test/sites/store.yaml"},
		"touchdown site explain":   {"spec.nonsense"},
		"touchdown site validate":  {}, // without its FILE
		"touchdown images list":    {"nonsense"},
		"touchdown version":        {"nonsense"},
		"touchdown inventory":      {"nonsense"},
		"touchdown check hardware": {"nonsense"}, // these three need neither: what they cannot see is not a failure
		"touchdown check network":  {"nonsense"},
		"touchdown check images":   {"nonsense"},
	}
	engineCodes := map[string]bool{ // those that need an engine at work
		"touchdown apply": true, "touchdown undo": true, "touchdown status": true, "touchdown events": true, "touchdown report show": true,
	}
	seen := 0
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			visit(child)
		}
		if c.Flags().Lookup("output") == nil {
			return
		}
		seen++
		line := append(strings.Fields(c.CommandPath())[1:], "-o", "json", "--socket", missing)
		if c.Flags().Lookup("kubeconfig") != nil {
			line = append(line, "--kubeconfig", missing, "--state", dir)
		}
		line = append(line, args[c.CommandPath()]...)
		t.Run(c.CommandPath(), func(t *testing.T) {
			var out, complaints bytes.Buffer
			root := newRoot(hooks{root: dir})
			root.SetOut(&out)
			root.SetErr(&complaints)
			if code := execute(t.Context(), root, line); code == exitOK || complaints.Len() == 0 {
				t.Errorf("%q ended with %d, standard error is %q", line, code, complaints.String())
			}
			var last failure
			decoder := json.NewDecoder(&out)
			err := decoder.Decode(&last)
			for err == nil {
				err = decoder.Decode(&last)
			}
			if !errors.Is(err, io.EOF) || last.Error.Summary == "" {
				t.Errorf("standard output ends with %+v, %v", last, err)
			}
			if want := engineCodes[c.CommandPath()]; (last.Error.Code == "ENG-LACK") != want || want && last.Error.Fix == "" {
				t.Errorf("the error is %+v; needs an engine: %t", last.Error, want)
			}
		})
	}
	visit(newRoot(hooks{}))
	if seen < 9 {
		t.Errorf("only %d commands have -o json", seen)
	}
}
