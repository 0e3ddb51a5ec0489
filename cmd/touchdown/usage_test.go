package main

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestOneValueIsGivenOnce: no flag of any command takes the last of several values without a word.
func TestOneValueIsGivenOnce(t *testing.T) {
	root := newRoot(hooks{root: t.TempDir()})
	strict(root)
	seen := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if _, several := flag.Value.(pflag.SliceValue); several || flag.Name == "help" {
				return
			}
			seen++
			_ = flag.Value.Set("one") // whether it is a value at all is not asked here
			if _, ok := errors.AsType[twiceError](flag.Value.Set("another")); !ok {
				t.Errorf("%s takes two values of --%s", cmd.CommandPath(), flag.Name)
			}
		})
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(root)
	if seen < 50 {
		t.Errorf("%d flags seen", seen)
	}
}

// TestNothingIsGivenAsEmpty: an argument or a file of a flag that is empty, as that of a script whose variable is not set, is refused: it
// neither leaves something out nor names a file.
func TestNothingIsGivenAsEmpty(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		says string
		line []string
	}{
		{"NAME is empty", []string{"media", "keygen", ""}},
		{"NAME is empty", []string{"media", "keygen", " "}},
		{"KEY-ID is empty", []string{"media", "revoke", "", "--list", "list"}},
		{"VOLUME is empty", []string{"media", "show", ""}},
		{"TARGET is empty", []string{"media", "write", ""}},
		{"FILE is empty", []string{"site", "validate", ""}},
		{"FILE is empty", []string{"site", "import", "--node", "a", ""}},
		{"PATH is empty", []string{"site", "explain", ""}},
		{"NEW is empty", []string{"report", "diff", "old", ""}},
		{"FILE is empty", []string{"report", "export", ""}},
		{"FILE is empty", []string{"report", "countersign", "", "--key", "KEY", "--out", "OUT"}},
		{"STATEMENT is empty", []string{"ledger", "wiped", "ledger", ""}},
		{"IMAGE is empty", []string{"iso", "show", ""}},
		{"FOLDER is empty", []string{"update", ""}},
		{"NODE is empty", []string{"wipe", ""}},
		{"--revoked is empty", []string{"media", "show", "volume", "--revoked", ""}},
		{"--order is empty", []string{"check", "hardware", "--order="}},
		{"--file is empty", []string{"check", "network", "-f", ""}},
		{"--snapshot is empty", []string{"inventory", "--snapshot", ""}},
		{"--media-key is empty", []string{"factory", "--media-key", ""}},
		{"--since is empty", []string{"ledger", "verify", "ledger", "--since", ""}},
		{"--socket is empty", []string{"status", "--socket", ""}},
	} {
		var out, said bytes.Buffer
		root := newRoot(hooks{root: t.TempDir()})
		root.SetOut(&out)
		root.SetErr(&said)
		if code := execute(t.Context(), root, c.line); code != exitUsage || said.String() != "touchdown: "+c.says+"\n" || out.Len() > 0 {
			t.Errorf("%q: exit %d, %q, printed %q", c.line, code, said.String(), out.String())
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("files were left: %v, %v", left, err)
	}
}
