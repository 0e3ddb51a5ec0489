package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// The pages are made by a test, because the library that writes them is not to be part of the program.
var manFolder = flag.String("man", "", "write the man pages into this folder (make release)")

// noDate stands where cobra writes a date. The pages have none: the same commit makes the same bytes.
var noDate = time.Unix(0, 0).UTC()

// manPage is the page of a command, and its name. The default of --socket is that of the product, whatever the environment says.
func manPage(t *testing.T, cmd *cobra.Command) (name string, page []byte) {
	t.Helper()
	var out bytes.Buffer
	if err := doc.GenMan(cmd, &doc.GenManHeader{Section: "1", Date: &noDate, Source: "Touchdown", Manual: "Touchdown"}, &out); err != nil {
		t.Fatal(err)
	}
	dated := []byte(`"` + noDate.Format("Jan 2006") + `"`)
	if bytes.Count(out.Bytes(), dated) != 1 {
		t.Fatalf("%s has no date to take out", cmd.CommandPath())
	}
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1", bytes.Replace(out.Bytes(), dated, []byte(`""`), 1)
}

// manPages are the pages of a command and of all below it that people may use.
func manPages(t *testing.T, cmd *cobra.Command, pages map[string][]byte) {
	t.Helper()
	cmd.DisableAutoGenTag = true
	name, page := manPage(t, cmd)
	pages[name] = page
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() && !child.IsAdditionalHelpTopicCommand() {
			manPages(t, child, pages)
		}
	}
}

// TestManPages: each command has a page with its flags, twice the same, without a date and without anything of this machine.
func TestManPages(t *testing.T) {
	t.Setenv("TOUCHDOWN_SOCKET", "")
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var both [2]map[string][]byte
	for i := range both {
		both[i] = map[string][]byte{}
		root := newRoot(hooks{})
		root.InitDefaultHelpCmd()
		root.InitDefaultCompletionCmd("completion")
		manPages(t, root, both[i])
	}
	for name, page := range both[0] {
		if !bytes.Equal(page, both[1][name]) {
			t.Errorf("%s differs from one run to the next", name)
		}
		if bytes.Contains(page, []byte("1970")) || bytes.Contains(page, []byte(folder)) {
			t.Errorf("%s has a date, or a folder of this machine:\n%s", name, page)
		}
	}
	for name, want := range map[string]string{
		"touchdown.1": "touchdown-report(1)", "touchdown-report-verify.1": `--ledger`, "touchdown-media-write.1": `--table`, "touchdown-iso-embed.1": `--network-keyfile`,
		"touchdown-site-schema.1": "JSON schema", "touchdown-completion-bash.1": "bash", "touchdown-factory.1": `--unattended`,
	} {
		if !bytes.Contains(both[0][name], []byte(want)) {
			t.Errorf("%s does not say %s:\n%s", name, want, both[0][name])
		}
	}
	if both[0]["touchdown-media-reader.1"] != nil {
		t.Error("a hidden command has a page")
	}
	if *manFolder == "" {
		return
	}
	for name, page := range both[0] {
		if err := os.WriteFile(filepath.Join(*manFolder, name), page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCompletion: each shell gets a script, and values are offered where they are known.
func TestCompletion(t *testing.T) {
	for shell, want := range map[string]string{"bash": "complete", "zsh": "#compdef touchdown", "fish": "complete -c touchdown"} {
		if code, out, complaint := ran(t, "completion", shell); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: %d %s\n%.200s", shell, code, complaint, out)
		}
	}
	for line, want := range map[string]string{
		"report export --format ": "junit", "site explain spec.base": "spec.baseDomain", "status -o ": "json", "report ver": "verify",
		"site ": "schema", "check ": "hardware",
	} {
		args := append([]string{"__complete"}, strings.Fields(line)...)
		if strings.HasSuffix(line, " ") {
			args = append(args, "")
		}
		var out bytes.Buffer
		root := newRoot(hooks{})
		root.SetOut(&out)
		root.SetErr(&out)
		if code := execute(t.Context(), root, args); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%q: %d\n%s", line, code, out.String())
		}
	}
}
