package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/ledger"
	"touchdown/backend/problem"
	"touchdown/steps/engine"
	"touchdown/steps/view"
	"touchdown/steps/wire"
)

// toWipe is a node that was at a site, with a secret of each kind.
func toWipe(t *testing.T, journal string) *cameFrom {
	t.Helper()
	r := newReturn(t, journal)
	for _, path := range []string{
		layout.State + "/secrets/spec.pullSecret", layout.State + "/saved/a/b", layout.Media + "/node.key", layout.Media + "/baked.key", layout.ReportKey,
		layout.Returned + "/2026-01-01/site.yaml", layout.FactoryState + "/secrets/a", layout.ConsolePIN, layout.ClusterBackup + "/etc/a",
	} {
		r.write(path, "pl4nted")
	}
	t.Setenv("TOUCHDOWN_STATE", r.state())
	return r
}

// wipe runs the command, which prints no secret.
func (r *cameFrom) wipe(line ...string) (int, string) {
	r.t.Helper()
	root := newRoot(hooks{root: r.root})
	var said strings.Builder
	root.SetOut(&said)
	root.SetErr(&said)
	code := execute(r.t.Context(), root, append([]string{"wipe", "--socket", filepath.Join(r.root, "s")}, line...))
	if strings.Contains(said.String(), "pl4nted") {
		r.t.Errorf("a secret is printed: %s", said.String())
	}
	return code, said.String()
}

// secrets are the files of the state folder with a secret in them.
func (r *cameFrom) secrets() (found int) {
	r.t.Helper()
	err := filepath.WalkDir(r.state(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "pl4nted") {
			found++
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

// TestWipe: a node whose landing was handed over keeps nothing, and the person is told what is not erased.
func TestWipe(t *testing.T) {
	r := toWipe(t, handedOver)
	all := r.secrets()
	if code, said := r.wipe("sno-2"); code != exitUsage || !strings.Contains(said, "WPE-ELSE") || r.secrets() != all {
		t.Errorf("another node's name: %d, %d of %d left: %s", code, r.secrets(), all, said)
	}
	if code, said := r.wipe("--dry-run", "SNO-1"); code != exitOK || !strings.Contains(said, "would wipe  "+r.state()+"/media: files 2, bytes 14\n") || r.secrets() != all {
		t.Errorf("dry run: %d, %d of %d left: %s", code, r.secrets(), all, said)
	}
	outside := filepath.Join(r.root, "srv", "originals")
	for link, target := range map[string]string{"/media/elsewhere": outside, "/moved": "../../../srv/originals", "/inside": "media"} {
		if err := os.Symlink(target, r.state()+link); err != nil {
			t.Fatal(err)
		}
	}
	_, said := r.wipe("--dry-run", "SNO-1")
	for _, link := range []string{"/media/elsewhere", "/moved"} {
		if want := "would stay  " + outside + ", to which the symbolic link " + r.state() + link + " leads: only the link is removed\n"; !strings.Contains(said, want) {
			t.Errorf("a link is not told: %s, want %s", said, want)
		}
	}
	if strings.Count(said, "would stay") != 2 {
		t.Errorf("what goes would stay: %s", said)
	}
	code, said := r.wipe("sno-1")
	if left, err := os.ReadDir(r.state()); code != exitOK || err != nil || len(left) != 0 || !strings.Contains(said, "etcd") || !strings.Contains(said, "erase its whole disk") {
		t.Errorf("%d, %v left, %v: %s", code, left, err, said)
	}
	if code, said := r.wipe("SN1"); code != exitOK { // by its serial number, with nothing to do
		t.Errorf("again: %d: %s", code, said)
	}
}

// changed is a journal with a step that changed something.
func changed(journal string) string {
	lines := strings.SplitAfterN(strings.NewReplacer(`"seq":2`, `"seq":4`, `"seq":1`, `"seq":2`).Replace(journal), "\n", 3)
	return lines[0] + lines[1] + `{"seq":3,"time":"2026-01-01T00:00:00Z","kind":"started","step":"a"}` + "\n" + lines[2]
}

// TestWipeRefusesWhatCouldBeUndone, until it is given up: a landing that failed, and one whose hand-over nobody accepted, behind a step that
// changed something.
func TestWipeRefusesWhatCouldBeUndone(t *testing.T) {
	for _, journal := range []string{changed(atWork), changed(landedThere)} {
		r := toWipe(t, journal)
		all := r.secrets()
		if code, said := r.wipe("sno-1"); code != exitFailed || !strings.Contains(said, "FAC-BUSY") || r.secrets() != all {
			t.Errorf("%d, %d of %d left: %s", code, r.secrets(), all, said)
		}
		if code, said := r.wipe("--give-up", "sno-1"); code != exitOK || r.secrets() != 0 {
			t.Errorf("given up: %d, %d left: %s", code, r.secrets(), said)
		}
	}
}

// TestWipeRefusesWhileWorkIsUnderWay, also where it is given up, and where a unit's engine does not answer.
func TestWipeRefusesWhileWorkIsUnderWay(t *testing.T) {
	for _, state := range []view.State{view.Working, view.InQuestion, view.UndoingAll} {
		r := toWipe(t, handedOver)
		all := r.secrets()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- wire.Serve(ctx, hostile{state: state}, filepath.Join(r.root, "s")) }()
		listens(t, filepath.Join(r.root, "s"))
		for _, line := range [][]string{{"sno-1"}, {"--give-up", "sno-1"}} {
			if code, said := r.wipe(line...); code != exitFailed || !strings.Contains(said, "WPE-BUSY") || r.secrets() != all {
				t.Errorf("%s: %d, %d of %d left: %s", state, code, r.secrets(), all, said)
			}
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
	r := toWipe(t, handedOver)
	all := r.secrets()
	r.write("/etc/systemd/system/"+engineUnit, "")
	if code, said := r.wipe("sno-1"); code != exitFailed || !strings.Contains(said, "WPE-DUMB") || r.secrets() != all {
		t.Errorf("%d, %d of %d left: %s", code, r.secrets(), all, said)
	}
}

// TestAnEngineFinishesAWipe that a power cut has interrupted, before it reads what is left of the records.
func TestAnEngineFinishesAWipe(t *testing.T) {
	r := toWipe(t, atWork)
	r.write(layout.State+"/wipe-under-way", "")
	f := &engineFlags{state: r.state()}
	out, _, err := f.prepare(t.Context(), hooks{root: r.root}, filepath.Join(r.state(), "engine.log"), &engine.Masker{})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if left, err := os.ReadDir(r.state()); err != nil || r.secrets() != 0 || len(left) != 1 || left[0].Name() != "engine.log" {
		t.Errorf("%v, %d secrets, left %v", err, r.secrets(), left)
	}
}

// TestAnEngineThatIsStoppedInAWipe ends at once and leaves the rest to the next one: each file is synced, and systemd waits for 20 seconds.
func TestAnEngineThatIsStoppedInAWipe(t *testing.T) {
	r := toWipe(t, atWork)
	r.write(layout.State+"/wipe-under-way", "")
	all := r.secrets()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	f := &engineFlags{state: r.state()}
	if err := f.serve(ctx, filepath.Join(r.root, "s"), hooks{root: r.root}); err != nil || r.secrets() != all || !engine.WipeBegun(r.state()) {
		t.Errorf("%v, %d secrets of %d, a wipe under way: %t", err, r.secrets(), all, engine.WipeBegun(r.state()))
	}
}

// signs gives the node a key for its reports, and a ledger that has it.
func (r *cameFrom) signs(file string) {
	r.t.Helper()
	key, err := envelope.NewSigningKey()
	if err != nil {
		r.t.Fatal(err)
	}
	private, _, err := key.Files()
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(layout.ReportKey, string(private))
	if _, err := ledger.Prepare(file); err != nil {
		r.t.Fatal(err)
	}
	if err := ledger.Enter(file, ledger.Entry{Serial: "SN1", ClusterID: "c", ReportKey: key.Public().String()}); err != nil {
		r.t.Fatal(err)
	}
}

// TestAWipeIsStated: the file has its name when all is wiped, also where a power cut came in between, and the ledger takes it. A wipe that is
// refused states nothing, and neither does a node without a key.
func TestAWipeIsStated(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	book, said := in+"ledger.jsonl", in+"said.json"
	r := toWipe(t, handedOver)
	if code, out := r.wipe("sno-1", "--statement", said); code != exitFailed || !strings.Contains(out, "WPE-SGN") || r.secrets() == 0 {
		t.Errorf("without a key: %d: %s", code, out)
	}
	r.signs(book)
	if err := os.Symlink(r.state(), in+"link"); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		book: "is there already", in + "none/said": "no such",
		filepath.Join(r.state(), "said"): "in the folder that is wiped", filepath.Join(in+"link", "said"): "in the folder that is wiped",
	} {
		if code, out := r.wipe("sno-1", "--statement", file); code != exitUsage || !strings.Contains(out, want) || r.secrets() == 0 {
			t.Errorf("%s: %d: %s", file, code, out)
		}
	}
	if code, out := r.wipe("sno-1", "--statement", said); code != exitOK || r.secrets() != 0 {
		t.Fatalf("%d: %s", code, out)
	}
	for _, want := range []string{"has a line more: SN1 was wiped on ", "has it already"} {
		if code, out, complaints := ran(t, "ledger", "wiped", book, said); code != exitOK || !strings.Contains(out, want) {
			t.Errorf("%d: %s%s", code, out, complaints)
		}
	}

	r, book, said = toWipe(t, handedOver), in+"ledger2.jsonl", in+"said2.json"
	r.signs(book)
	state, err := (&wiping{connection: &connection{target: target{engine: engineFlags{state: r.state()}}}, statement: said}).state(host.Open(host.Options{Root: r.root}))
	if err != nil || state == nil {
		t.Fatal(err)
	}
	if code, out, complaints := ran(t, "ledger", "wiped", book, state.early()); code != exitFailed || !strings.Contains(complaints, "FAC-WPRT") {
		t.Errorf("a wipe that has not finished is stated: %d: %s%s", code, out, complaints)
	}
	r.write(layout.State+"/wipe-under-way", "")
	if err := engine.WipeAll(t.Context(), r.state(), true); err != nil { // what the engine does behind a power cut
		t.Fatal(err)
	}
	if _, err := os.Stat(said); err == nil {
		t.Error("it is stated, and the command has not come to its end")
	}
	if code, out := r.wipe("sno-1", "--statement", said); code != exitOK {
		t.Errorf("again behind a power cut: %d: %s", code, out)
	}
	if code, out, complaints := ran(t, "ledger", "wiped", book, said); code != exitOK {
		t.Errorf("%d: %s%s", code, out, complaints)
	}

	r = toWipe(t, changed(landedThere))
	r.signs(in + "ledger3.jsonl")
	if code, out := r.wipe("sno-1", "--statement", in+"said3.json"); code == exitOK {
		t.Errorf("work was given up: %s", out)
	}
	if left, _ := filepath.Glob(in + "said3*"); len(left) > 0 {
		t.Errorf("a refused wipe left %q", left)
	}
}

// TestTheOnlyStatementStays: what an earlier run signed outlives a run that fails behind it, and so does what this run signed once all is
// wiped, also where the node has another key by then.
func TestTheOnlyStatementStays(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	said := in + "said.json"
	r := toWipe(t, handedOver)
	r.signs(in + "ledger.jsonl")
	machine := host.Open(host.Options{Root: r.root})
	state, err := (&wiping{connection: &connection{target: target{engine: engineFlags{state: r.state()}}}, statement: said}).state(machine)
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.WipeAll(t.Context(), r.state(), true); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(said, 0o700); err != nil || state.isTrue() == nil {
		t.Fatal("it has a folder's name", err)
	}
	for _, another := range []bool{false, true} {
		if another {
			r.signs(in + "ledger2.jsonl")
		}
		state.drop(machine)
		if _, err := os.Stat(state.early()); err != nil {
			t.Fatalf("all is wiped (another key: %t), and the statement is gone: %v", another, err)
		}
	}
	for _, path := range []string{said, machine.Path(layout.ReportKey)} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	r.write(layout.State+"/"+layout.JournalFile, changed(landedThere))
	if code, out := r.wipe("sno-1", "--statement", said); code != exitFailed || !strings.Contains(out, "FAC-BUSY") {
		t.Errorf("%d: %s", code, out)
	}
	if code, out := r.wipe("sno-1", "--statement", in+"other"); code != exitFailed || !strings.Contains(out, "WPE-PART") || strings.Contains(out, "Nothing was wiped") {
		t.Errorf("%d: %s", code, out)
	}
	if code, out := r.wipe("--give-up", "sno-1", "--statement", said); code != exitOK {
		t.Errorf("%d: %s", code, out)
	}
	if code, out, complaints := ran(t, "ledger", "wiped", in+"ledger.jsonl", said); code != exitOK {
		t.Errorf("%d: %s%s", code, out, complaints)
	}
}

// late is a node that was wiped, and whose statement could not be completed.
func late(t *testing.T, in string) (r *cameFrom, said string) {
	t.Helper()
	said = in + "said.json"
	r = toWipe(t, handedOver)
	r.signs(in + "ledger.jsonl")
	state, err := (&wiping{connection: &connection{target: target{engine: engineFlags{state: r.state()}}}, statement: said}).state(host.Open(host.Options{Root: r.root}))
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.WipeAll(t.Context(), r.state(), true); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(said, 0o700); err != nil || problem.From(state.isTrue()).Code != "WPE-LATE" {
		t.Fatal("it has a folder's name", err)
	}
	if err := os.Remove(said); err != nil {
		t.Fatal(err)
	}
	return r, said
}

// TestANewKeySignsOverNoStatement: what was signed before is completed, as its wipe has finished, and the new wipe is asked for again. That of
// another machine stays as it was.
func TestANewKeySignsOverNoStatement(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	r, said := late(t, in)
	r.signs(in + "ledger2.jsonl")
	r.write(layout.State+"/"+layout.JournalFile, handedOver)
	r.write(layout.State+"/secrets/a", "pl4nted")
	if code, out := r.wipe("sno-1", "--statement", said); code != exitFailed || !strings.Contains(out, "WPE-TWCE") || r.secrets() == 0 {
		t.Errorf("%d: %s", code, out)
	}
	if code, out, complaints := ran(t, "ledger", "wiped", in+"ledger.jsonl", said); code != exitOK {
		t.Errorf("the first statement: %d: %s%s", code, out, complaints)
	}
	if code, out := r.wipe("sno-1", "--statement", said); code != exitUsage || !strings.Contains(out, "is there already") || r.secrets() == 0 {
		t.Errorf("it is the earlier wipe's: %d: %s", code, out)
	}
	if code, out := r.wipe("sno-1", "--statement", in+"said2.json"); code != exitOK || r.secrets() != 0 {
		t.Errorf("%d: %s", code, out)
	}
	if code, out, complaints := ran(t, "ledger", "wiped", in+"ledger2.jsonl", in+"said2.json"); code != exitOK {
		t.Errorf("the second statement: %d: %s%s", code, out, complaints)
	}

	_, said = late(t, in+"3")
	there, err := os.ReadFile(said + ".part")
	if err != nil {
		t.Fatal(err)
	}
	other := toWipe(t, handedOver)
	other.write("/sys/class/dmi/id/product_serial", "SN2")
	other.signs(in + "ledger4.jsonl")
	if code, out := other.wipe("SN2", "--statement", said); code != exitUsage || !strings.Contains(out, "not of this wipe") || other.secrets() == 0 {
		t.Errorf("another machine: %d: %s", code, out)
	}
	if now, err := os.ReadFile(said + ".part"); err != nil || string(now) != string(there) {
		t.Errorf("another machine signed over it (%v)", err)
	}
}

// TestAStatementThatIsThere: a wipe that is run again goes on where its own statement is there already, and says so.
func TestAStatementThatIsThere(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	r, said := late(t, in)
	kept, err := os.ReadFile(said + ".part")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []bool{false, true} {
		if part { // it could not be removed
			if err := os.WriteFile(said+".part", kept, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code, out := r.wipe("sno-1", "--statement", said)
		if left, _ := filepath.Glob(said + "*"); code != exitOK || strings.Contains(out, "states this wipe already") != part || len(left) != 1 {
			t.Errorf("with its early form (%t): %d, %q: %s", part, code, left, out)
		}
	}
	r.signs(in + "ledger2.jsonl")
	if code, out := r.wipe("sno-1", "--statement", said); code != exitUsage || !strings.Contains(out, "is there already") {
		t.Errorf("the node has a key since: %d: %s", code, out)
	}
	if code, out, complaints := ran(t, "ledger", "wiped", in+"ledger.jsonl", said); code != exitOK {
		t.Errorf("%d: %s%s", code, out, complaints)
	}
}
