package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/handout"
	"touchdown/steps/records"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/steps/wire"
	"touchdown/tui"
)

// planted is what a terminal must never get: a title, a clipboard, an erased screen, a second screen, the eight-bit CSI as a
// character and as a byte, a text that runs backwards, a line that is written over, and an end that a bell marks.
const planted = "a\x1b]0;title\x07b\x1b]52;c;cm0gLXJmIC8=\x1b\\c\x1b[2J\x1b[?1049h\u009b2J\x9b2Jd\u202ecba\u200bz\roverwritten\x7f\x00\b"

// hostile is an engine all of whose texts are planted.
type hostile struct {
	state view.State
	fails bool
}

// plant is plantText with the text that a terminal must never get.
func plant(v reflect.Value, depth int) { plantText(v, depth, planted) }

// plantText puts a text into every string below v that is not a name of a kind, and makes lists and maps of one.
func plantText(v reflect.Value, depth int, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			plantText(v.Elem(), depth-1, text)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		plantText(v.Index(0), depth-1, text)
	case reflect.Struct:
		switch v.Type() {
		case reflect.TypeFor[time.Time]():
			return
		case reflect.TypeFor[message.Text]():
			v.Set(reflect.ValueOf(message.Data(text)))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				plantText(v.Field(i), depth, text)
			}
		}
	}
}

func (h hostile) err() error {
	if h.fails {
		return errors.New(planted)
	}
	return nil
}

// eventKinds are all kinds, each told once with everything that an event may have, and once with nothing.
var eventKinds = []event.Kind{
	event.Started, event.Progressed, event.Checked, event.Cleared, event.Said, event.Asked, event.Answered, event.Skipped, event.Repairing, event.Done,
	event.Failed, event.Undoing, event.Undone, event.Cancelled, event.Rebooting, event.Missed, event.Changed, planted,
}

func (h hostile) Snapshot(context.Context) (*view.Snapshot, error) {
	s := &view.Snapshot{}
	plant(reflect.ValueOf(s).Elem(), 8)
	s.State, s.Seq = h.state, uint64(2*len(eventKinds))
	return s, h.err()
}

func (h hostile) Events(_ context.Context, _ string, _ uint64, each func([]event.Event) error) error {
	for i, kind := range append(eventKinds, eventKinds...) {
		var e event.Event
		if i < len(eventKinds) {
			plant(reflect.ValueOf(&e).Elem(), 8)
		}
		e.Kind, e.Seq = kind, uint64(i+1)
		if err := each([]event.Event{e}); err != nil {
			return err
		}
	}
	return h.err()
}

func (h hostile) Set(context.Context, string, string, string) error             { return h.err() }
func (h hostile) Load(context.Context, string, map[string]string, string) error { return h.err() }
func (h hostile) Do(context.Context, string, session.Action) error              { return h.err() }
func (h hostile) ReleaseControl(context.Context, string) error                  { return h.err() }
func (h hostile) Present(context.Context, string) error                         { return h.err() }
func (h hostile) Shown(context.Context, string) error                           { return h.err() }
func (h hostile) TakeControl(context.Context, string, bool) (string, error)     { return "token", h.err() }

func (h hostile) Give(context.Context, string, handout.Ask) (*handout.LogIn, error) {
	got := &handout.LogIn{}
	plant(reflect.ValueOf(got).Elem(), 8)
	return got, h.err()
}

func (h hostile) Log(context.Context, records.Ask) ([]string, error) {
	return []string{planted}, h.err()
}

func (h hostile) Export(_ context.Context, what session.Document) ([]byte, error) {
	if what == session.ReportJSON {
		data, err := json.Marshal(map[string]string{planted: planted})
		return data, errors.Join(err, h.err())
	}
	return []byte(planted), h.err()
}

// clean fails where a terminal would get more than text.
func clean(t *testing.T, what, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			t.Errorf("%s prints %U: %.80q", what, r, text[max(0, i-20):])
			return
		}
	}
}

// talks says how each command is made to print what an engine answers. The others have no engine to ask; why, stands here.
func talks(dir string) (lines map[string][]string, silent map[string]string) {
	config := "../../test/sites/store.yaml"
	hostileFile := filepath.Join(dir, "site.yaml")
	lines = map[string][]string{
		"status": {"status"}, "status json": {"status", "-o", "json"}, "status metrics": {"status", "-o", "metrics"}, "events": {"events"}, "events json": {"events", "-o", "json"},
		"apply": {"apply", "-f", config}, "apply json": {"apply", "-f", config, "-o", "json"},
		"apply dry": {"apply", "-f", config, "--dry-run"}, "apply dry json": {"apply", "-f", config, "--dry-run", "-o", "json"},
		"undo": {"undo"}, "undo json": {"undo", "-o", "json"}, "answers": {"answers"},
		"report show": {"report", "show"}, "report show json": {"report", "show", "-o", "json"}, "report hosts": {"report", "hosts"},
		"report export": {"report", "export"}, "report export file": {"report", "export", "--format", "csv", hostileReport(dir)}, "report export html": {"report", "export", "--format", "html", hostileReport(dir)},
		"report export json": {"report", "export", "--format", "json", hostileReport(dir)}, "report diff": {"report", "diff", hostileReport(dir), hostileReport(dir) + ".2"},
		"report diff json": {"report", "diff", hostileReport(dir), hostileReport(dir) + ".2", "-o", "json"},
		"report verify":    {"report", "verify", hostileReport(dir)}, "report verify json": {"report", "verify", hostileReport(dir) + ".signed", "-o", "json"},
		"report verify signed": {"report", "verify", hostileReport(dir) + ".signed"}, "report page": {"report", "page"}, "report schema": {"report", "schema"}, "events schema": {"events", "schema"}, "site schema": {"site", "schema"},
		"uninstall": {"uninstall"}, "install": {"install", "--dry-run"},
		"site validate": {"site", "validate", hostileFile}, "site validate json": {"site", "validate", hostileFile, "-o", "json"},
		"site import": {"site", "import", hostileFile, "--from", "install-config"},
		"inventory":   {"inventory"}, "inventory json": {"inventory", "-o", "json"},
		"check hardware": {"check", "hardware"}, "check hardware json": {"check", "hardware", "-o", "json"}, "check hardware junit": {"check", "hardware", "-o", "junit"},
		"check network": {"check", "network"}, "check network json": {"check", "network", "-o", "json"}, "check images": {"check", "images"}, "check images json": {"check", "images", "-o", "json"},
		"check cluster": {"check", "cluster", "-f", hostileFile},
		"media show":    {"media", "show", hostileVolume(dir)}, "media show json": {"media", "show", hostileVolume(dir), "-o", "json"},
		"media write": {"media", "write", "-f", hostileFile, "--any-serial", "--key", planted, planted}, "media keygen": {"media", "keygen", filepath.Join(dir, planted)},
		"iso show": {"iso", "show", hostileISO(dir)}, "iso show json": {"iso", "show", hostileISO(dir), "-o", "json"}, "iso show secrets": {"iso", "show", hostileISO(dir), "--with-secrets"},
		"iso embed":          {"iso", "embed", hostileISO(dir), "--in-place", "--karg-append", planted},
		"media revoke":       {"media", "revoke", planted, "--list", filepath.Join(dir, "revoked")},
		"report countersign": {"report", "countersign", hostileReport(dir) + ".signed", "--key", filepath.Join(dir, planted+".key"), "--out", filepath.Join(dir, planted+".out")},
		"ledger verify":      {"ledger", "verify", filepath.Join(dir, planted)}, "ledger verify json": {"ledger", "verify", filepath.Join(dir, planted), "-o", "json"},
		"ledger wiped":         {"ledger", "wiped", filepath.Join(dir, planted), filepath.Join(dir, planted)},
		"certificates replace": {"certificates", "replace", "--api-cert", filepath.Join(dir, planted), "--api-key", filepath.Join(dir, planted)},
		"wipe":                 {"wipe", planted},
		"credentials":          {"credentials"}, "credentials file": {"credentials", "--out", filepath.Join(dir, "kubeconfig")},
		"site explain": {"site", "explain", planted}, "site explain json": {"site", "explain", planted, "-o", "json"},
	}
	silent = map[string]string{
		"": "opens the console", "console": "the same; its painter has its own test", "engine": "is one", "version": "is asked of nobody", "site new": "is asked of nobody",
		"media-reader": "answers the program that started it",
		"media-writer": "the same", "burn-in-worker": "the same, in JSON",
		"update":        "prints what a signed program says",
		"report bundle": "is an archive, which printArchive keeps from terminals, or base64",
		"factory":       "opens the console, or applies", "factory bake": "asks the cluster; prints by the same writer", "factory unbake": "asks the cluster; prints by the same writer",
		"completion bash": "cobra's", "completion zsh": "cobra's", "completion fish": "cobra's", "completion powershell": "cobra's", "help": "cobra's",
	}
	for _, name := range []string{"list", "prune", "seed", "verify", "status", "boot", "check", "rehearse"} {
		silent["images "+name] = "asks cluster and CRI-O; prints by the same writer"
	}
	return lines, silent
}

// TestNothingSteersATerminal runs every command against an engine, and with documents, all of whose texts would steer a
// terminal: whatever the command prints, as text and as JSON, is only text.
func TestNothingSteersATerminal(t *testing.T) {
	dir := t.TempDir()
	lines, silent := talks(dir)
	if err := os.WriteFile(filepath.Join(dir, "site.yaml"), []byte("apiVersion: \"a\\e[2J\\x9b\"\n\"k\\e[2J\": \"\\u202ec\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plate := filepath.Join(dir, "sys/class/dmi/id/product_name") // root's inventory
	if err := errors.Join(os.MkdirAll(filepath.Dir(plate), 0o755), os.WriteFile(plate, []byte(planted), 0o600)); err != nil {
		t.Fatal(err)
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		name := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "touchdown"), " ")
		if _, ok := silent[name]; c.Runnable() && !c.HasSubCommands() && lines[name] == nil && !ok {
			t.Errorf("nobody has looked at what %q prints", name)
		}
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(newRoot(hooks{}))
	for _, h := range []hostile{{state: view.Collecting}, {state: view.IsDone}, {state: view.IsUndone}, {state: planted}, {fails: true}} {
		socket := filepath.Join(t.TempDir(), "s")
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- wire.Serve(ctx, h, socket) }()
		listens(t, socket)
		for name, line := range lines {
			var out, complaints bytes.Buffer
			root := newRoot(hooks{root: dir})
			root.SetOut(&out)
			root.SetErr(&complaints)
			execute(t.Context(), root, append(slices.Clone(line), "--socket", socket))
			if out.Len()+complaints.Len() == 0 {
				t.Errorf("%s printed nothing", name)
			}
			clean(t, name, out.String())
			clean(t, name+" on standard error", complaints.String())
			for decoder := json.NewDecoder(&out); strings.HasSuffix(name, "json"); {
				var v any
				if err := decoder.Decode(&v); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Errorf("%s is not JSON: %v", name, err)
					break
				}
			}
		}
		stop()
		<-served
	}
}

// TestEscapedMeansTheSame: what JSON says is not changed by how it is printed.
func TestEscapedMeansTheSame(t *testing.T) {
	want := map[string]string{"a": strings.ToValidUTF8(planted, "\ufffd") + "\U000e0001 \u00fc \u4e16 \U0001f600 \u2028"}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	escaped := tui.Escaped(data, io.Discard)
	clean(t, "JSON", string(escaped))
	var got map[string]string
	if err := json.Unmarshal(escaped, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q became %q, %v", want, got, err)
	}
}

// TestOneWayOut: the writers that a command prints to are made in out.go alone.
func TestOneWayOut(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	ways := []string{"OutOrStdout", "ErrOrStderr", "OutOrStderr", "Stdout", "Stderr", "Println", "Printf", "Print", "PrintErrln", "PrintErrf", "PrintErr"}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "out.go" || file == "console.go" { // the console paints itself
			continue
		}
		tree, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(ways, s.Sel.Name) {
				t.Errorf("%s uses %s; what is printed goes through out.go", file, s.Sel.Name)
			}
			return true
		})
	}
}
