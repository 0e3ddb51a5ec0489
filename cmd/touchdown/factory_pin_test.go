package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
)

// TestReadPIN: the bake's PIN comes from a file that others cannot read or from standard input, and no error repeats it.
func TestReadPIN(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
		says string
	}{
		"good":        {"739215\n", 0o600, "739215", ""},
		"others read": {"739215\n", 0o644, "", "others may read"},
		"short":       {"4711\n", 0o600, "", "too short"},
		"empty":       {"", 0o600, "", "too short"},
		"a hash":      {"$2a$12$" + strings.Repeat("a", 53), 0o600, "", "is the hash"},
	} {
		file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(file, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{file, "-"} {
			cmd := &cobra.Command{}
			cmd.SetIn(strings.NewReader(c.text))
			got, err := readPIN(cmd, from)
			want, says := c.want, c.says
			if from == "-" && name == "others read" { // nobody else reads a pipe
				want, says = "739215", ""
			}
			if string(got) != want || (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "4711")) {
				t.Errorf("%s from %s: %q, %v", name, from, string(got), err)
			}
		}
	}
	if _, err := readPIN(&cobra.Command{}, filepath.Join(dir, "gone")); err == nil {
		t.Error("a file that is not there is read")
	}
}

// TestPINAtTheBenchIsTypedTwice: a terminal shows none of it, so it is asked for again.
func TestPINAtTheBenchIsTypedTwice(t *testing.T) {
	for typed, says := range map[string]string{"739215\n739215\n": "", "739215\n739216\n": "the two PINs differ"} {
		hands, terminal, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hands.WriteString(typed); err != nil {
			t.Fatal(err)
		}
		var asked strings.Builder
		cmd := &cobra.Command{}
		cmd.SetIn(terminal)
		cmd.SetErr(&asked)
		got, err := readPIN(cmd, "-")
		if (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "73921")) || err == nil && got != "739215" {
			t.Errorf("%q: %q, %v", typed, string(got), err)
		}
		if !strings.Contains(asked.String(), "again") {
			t.Errorf("asked %q", asked.String())
		}
		_, _ = hands.Close(), terminal.Close()
	}
}
