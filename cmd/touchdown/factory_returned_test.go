package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/ledger"
	"touchdown/backend/message"
	"touchdown/steps"
)

// cameFrom is a node that was at a site: a folder with what its engine left there.
type cameFrom struct {
	t       *testing.T
	root    string
	machine *host.Machine
	stages  func([]steps.Stage)
}

// The journals of landings that ended in different ways.
const (
	journalHead = `{"journal":"touchdown/v1"}` + "\n"
	atWork      = journalHead + `{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"started"}` + "\n" + `{"seq":2,"time":"2026-01-01T00:00:00Z","kind":"failed","problem":{"code":"BRKN","summary":"It broke.","fix":"Fix it."}}` + "\n"
	landedThere = journalHead + `{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"started"}` + "\n" + `{"seq":2,"time":"2026-01-01T00:10:00Z","kind":"done"}` + "\n"
	handedOver  = landedThere + `{"seq":3,"time":"2026-01-01T00:20:00Z","kind":"done","text":"handed over","by":"tty1"}` + "\n"
)

// noCluster leads to nobody.
const noCluster = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: none}}]
current-context: c
`

func newReturn(t *testing.T, journal string) *cameFrom {
	t.Helper()
	r := &cameFrom{t: t, root: t.TempDir()}
	r.machine = host.Open(host.Options{Root: r.root})
	r.write(layout.Journal, journal)
	r.write(layout.Outbox+"/target.json", `{"url":"https://monitor.example","token":"pl4nted"}`)
	r.write("/proc/sys/kernel/hostname", "sno-1\n")
	r.write("/sys/class/dmi/id/product_serial", "SN1\n")
	r.write("/kubeconfig", noCluster)
	return r
}

func (r *cameFrom) write(path, text string) {
	r.t.Helper()
	if err := r.machine.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// factory runs the command and returns its exit code and what it said. It ends where the wizard would open.
func (r *cameFrom) factory(line ...string) (int, string) {
	r.t.Helper()
	root := newRoot(hooks{root: r.root, stages: r.stages, console: func() error { return errors.New("here is the wizard") }})
	var said strings.Builder
	root.SetOut(&said)
	root.SetErr(&said)
	code := execute(r.t.Context(), root, append([]string{"factory", "--local", "--kubeconfig", filepath.Join(r.root, "kubeconfig"), "--state", r.state()}, line...))
	return code, said.String()
}

func (r *cameFrom) state() string { return r.machine.Path(layout.State) }

// cameBack holds a node to what a return leaves: the records in a folder, an open line, nothing of the site's monitor.
func (r *cameFrom) cameBack(said, folder string) {
	r.t.Helper()
	text, err := r.machine.ReadFile(layout.Returned + "/" + folder + "/" + layout.JournalFile)
	if err != nil || !strings.Contains(string(text), `"kind":"done"`) || !factory.OnLine(r.machine) {
		r.t.Errorf("%v, on the line %t: %s", err, factory.OnLine(r.machine), said)
	}
	if _, err := r.machine.ReadFile(layout.Journal); !errors.Is(err, fs.ErrNotExist) {
		r.t.Errorf("the journal is still there: %v", err)
	}
	if _, err := r.machine.ReadFile(layout.Outbox + "/target.json"); !errors.Is(err, fs.ErrNotExist) {
		r.t.Errorf("the token of the site's monitor stays: %v", err)
	}
}

var today = time.Now().UTC().Format(time.DateOnly)

// TestReturnedAfterTheHandOver: nothing is undone, the records are set aside, the line is open, the ledger says so. The same command once
// more goes on from there, and adds no line. A landing later, on the same day, the records lie beside the first ones.
func TestReturnedAfterTheHandOver(t *testing.T) {
	r := newReturn(t, handedOver)
	file := filepath.Join(r.root, "ledger.jsonl")
	if _, err := ledger.Prepare(file); err != nil {
		t.Fatal(err)
	}
	if err := ledger.Enter(file, ledger.Entry{Serial: "SN1", ClusterID: "one", Sealed: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}); err != nil {
		t.Fatal(err)
	}
	code, said := r.factory("--returned", "SNO-1", "--ledger", file)
	if code != exitFailed || !strings.Contains(said, "here is the wizard") || !strings.Contains(said, "nothing can be undone") || !strings.Contains(said, "/returned/"+today) {
		t.Fatalf("%d: %s", code, said)
	}
	r.cameBack(said, today)
	if code, said = r.factory("--returned", "SN1", "--ledger", file); code != exitFailed || !strings.Contains(said, "/returned/"+today) {
		t.Errorf("again: %d: %s", code, said)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), "\n") != 2 || strings.Count(string(text), `"returned":"`) != 1 {
		t.Errorf("%v\n%s", err, text)
	}

	if err := factory.Close(r.machine); err != nil {
		t.Fatal(err)
	}
	r.write(layout.Journal, strings.ReplaceAll(handedOver, "tty1", "ttyS0"))
	code, said = r.factory("--returned", "sno-1")
	if code != exitFailed || len(layout.Returns(r.state())) != 2 {
		t.Errorf("%d: %s", code, said)
	}
	r.cameBack(said, today+"-2")
	if text, err := r.machine.ReadFile(layout.Returned + "/" + today + "/" + layout.JournalFile); err != nil || !strings.Contains(string(text), "tty1") {
		t.Errorf("the first records: %v\n%s", err, text)
	}
}

// TestReturnedIsUndoneFirst: where the hand-over was not accepted, and where the landing failed, the journal in the folder ends with the undo.
func TestReturnedIsUndoneFirst(t *testing.T) {
	for name, journal := range map[string]string{"landed": landedThere, "failed": atWork + `{"seq":3,"time":"2026-01-01T00:00:00Z","kind":"done","step":"domain"}` + "\n"} {
		r := newReturn(t, journal)
		code, said := r.factory("--returned", "SN1")
		if code != exitFailed || !strings.Contains(said, "here is the wizard") || strings.Contains(said, "nothing can be undone") {
			t.Fatalf("%s: %d: %s", name, code, said)
		}
		r.cameBack(said, today)
		if text, _ := r.machine.ReadFile(layout.Returned + "/" + today + "/" + layout.JournalFile); !strings.Contains(string(text), `"kind":"undone"`) {
			t.Errorf("%s: it was not undone:\n%s", name, text)
		}
	}
}

// stuck is a step that was done and whose undo fails as often as it is told to.
type stuck struct{ fails *int }

func (stuck) ID() string                                             { return "stuck" }
func (stuck) Title() message.Text                                    { return message.T("Get stuck") }
func (stuck) Run(context.Context, *backend.Node, steps.Report) error { return nil }
func (s stuck) Undo(context.Context, *backend.Node, steps.Report) error {
	if *s.fails > 0 {
		*s.fails--
		return errors.New("no API")
	}
	return nil
}

// TestReturnedThatCannotBeUndone stays at its site, in words that say what to do; the same command tries again.
func TestReturnedThatCannotBeUndone(t *testing.T) {
	r := newReturn(t, strings.Replace(landedThere, `{"seq":2,`, `{"seq":2,"time":"2026-01-01T00:00:00Z","kind":"started","step":"stuck"}`+"\n"+`{"seq":3,"time":"2026-01-01T00:00:00Z","kind":"done","step":"stuck"}`+"\n"+`{"seq":4,`, 1))
	fails := 1
	r.stages = func(stages []steps.Stage) { stages[0].Steps = []steps.Step{stuck{&fails}} }
	code, said := r.factory("--returned", "sno-1")
	if code != exitFailed || !strings.Contains(said, "FAC-UNDN") || !strings.Contains(said, "install the node again") || factory.OnLine(r.machine) || len(layout.Returns(r.state())) > 0 {
		t.Errorf("%d: %s", code, said)
	}
	if code, said = r.factory("--returned", "sno-1"); code != exitFailed || fails != 0 {
		t.Errorf("again: %d: %s", code, said)
	}
	r.cameBack(said, today)
}

// TestReturnedRefuses: another node's name, and a node that was at no site. Neither changes anything. Without the flag, the problem names it.
func TestReturnedRefuses(t *testing.T) {
	for _, c := range []struct {
		name, journal string
		line          []string
		code          int
		says          string
	}{
		{"another name", handedOver, []string{"--returned", "sno-2"}, exitUsage, `sno-2 is not this node: its name is "sno-1" and its serial number "SN1"`},
		{"no name", handedOver, []string{"--returned", ""}, exitUsage, "--returned is empty"},
		{"with --reopen", handedOver, []string{"--returned", "sno-1", "--reopen"}, exitUsage, "reopen"},
		{"a dry run", handedOver, []string{"--returned", "sno-1", "--dry-run"}, exitUsage, "dry-run"},
		{"never at a site", journalHead, []string{"--returned", "sno-1"}, exitFailed, "This node has not been at a site"},
		{"without the flag", handedOver, nil, exitFailed, "touchdown factory --returned NODE"},
	} {
		r := newReturn(t, c.journal)
		code, said := r.factory(c.line...)
		if code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d: %s", c.name, code, said)
		}
		text, err := r.machine.ReadFile(layout.Journal)
		if err != nil || string(text) != c.journal || factory.OnLine(r.machine) || len(layout.Returns(r.state())) > 0 {
			t.Errorf("%s: the node was changed: %v", c.name, err)
		}
	}
	r := newReturn(t, journalHead)
	if _, err := factory.OpenLine(r.machine, time.Now()); err != nil {
		t.Fatal(err)
	}
	if code, said := r.factory("--returned", "sno-1"); code != exitFailed || !strings.Contains(said, "has not been at a site") {
		t.Errorf("on the line, and never at a site: %d: %s", code, said)
	}
}

// TestReturnedAfterAPowerCut: the next engine of the node, whoever starts it, and the same command bring a return to its end.
func TestReturnedAfterAPowerCut(t *testing.T) {
	for name, line := range map[string][]string{"command": {"--returned", "sno-1"}, "engine": nil} {
		r := newReturn(t, handedOver)
		r.write(layout.Returned+"/under-way", `{"folder":"2026-11-26"}`)
		r.write(layout.State+"/site.yaml", "moved not yet\n")
		r.write(layout.Returned+"/2026-11-26/sums.jsonl", "moved\n")
		if line == nil {
			_, closeEngine, err := (&engineFlags{state: r.state(), kubeconfig: filepath.Join(r.root, "kubeconfig")}).open(t.Context(), hooks{root: r.root})
			if err != nil {
				t.Fatal(err)
			}
			if err := closeEngine(); err != nil {
				t.Fatal(err)
			}
		}
		code, said := r.factory(line...)
		if code != exitFailed || !strings.Contains(said, "here is the wizard") {
			t.Errorf("%s: %d: %s", name, code, said)
		}
		r.cameBack(said, "2026-11-26")
		for file, want := range map[string]string{"site.yaml": "moved not yet\n", "sums.jsonl": "moved\n"} {
			if text, err := r.machine.ReadFile(layout.Returned + "/2026-11-26/" + file); err != nil || string(text) != want {
				t.Errorf("%s: %s: %q, %v", name, file, text, err)
			}
		}
		if r.machine.Exists(layout.Returned + "/under-way") {
			t.Errorf("%s: it is still under way", name)
		}
	}
}
