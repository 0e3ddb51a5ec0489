package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/race"
	"touchdown/test/wait"
)

// tried opens an engine and turns a panic into an error.
func tried(o Options) (e *Engine, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return Open(o)
}

// waitStarted waits until an engine has done what it does automatically when it starts.
func waitStarted(t *testing.T, e *Engine) *view.Snapshot {
	t.Helper()
	<-e.recovered
	e.mu.Lock()
	works := e.core.stopWork != nil
	e.mu.Unlock()
	return until(t, e, "the work to begin", func(s *view.Snapshot) bool { return !works || s.State != view.Working || s.Current != "" })
}

// noisy has the light step leave one record of each kind.
func noisy(r *rig) {
	r.w.run["light"] = func(ctx context.Context, _ *backend.Node, report steps.Report) error {
		report.Check(check.Check{ID: "lamp", Title: message.T("Lamp"), Status: "pass", Observed: message.T("there")})
		report.Say(message.T("it is dark"))
		_, err := report.Ask(ctx, steps.Question{
			ID: "sure", Text: message.T("Sure?"), Default: "no", Choices: []steps.Choice{{Value: "no", Label: message.T("No")}, {Value: "yes", Label: message.T("Yes")}},
		})
		return err
	}
}

// TestOneFlippedBitOfTheJournal: at whichever bit, the engine starts, tells it, begins no work and keeps a landed node locked.
func TestOneFlippedBitOfTheJournal(t *testing.T) {
	r := newRig(t, newWorld())
	noisy(r)
	token := take(t, r)
	r.start(t, r, token, true)
	until(t, r, "the end", inState(view.IsDone))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
	must(t, r.Close())
	path := filepath.Join(r.dir, "journal.jsonl")
	whole, err := os.ReadFile(path)
	must(t, err)
	kept := keep(t, r.dir)
	before := r.w.calls["light"]
	step := 151
	if !testing.Short() && !race.On {
		step = 11
	}
	for bit := 0; bit < len(whole)*8; bit += step {
		kept.restore(t)
		flipped := bytes.Clone(whole)
		flipped[bit/8] ^= 1 << (bit % 8)
		must(t, os.WriteFile(path, flipped, 0o600))
		r.w.set("light", "off")
		before++
		e, err := tried(r.options())
		if err != nil {
			t.Fatalf("bit %d (%q): %v", bit, whole[max(0, bit/8-20):min(len(whole), bit/8+20)], err)
		}
		s := waitStarted(t, e)
		must(t, e.Close())
		if s.State != view.IsDone || !s.Locked || len(s.Notices) == 0 || r.w.calls["light"] != before {
			t.Fatalf("bit %d (%q): state %s, locked %t, notices %q, light set %d times", bit, whole[max(0, bit/8-20):min(len(whole), bit/8+20)],
				s.State, s.Locked, s.Notices, r.w.calls["light"]-before)
		}
	}
}

// TestRecordWithoutItsPart: records that a program would not write, at the places where it looks into them.
func TestRecordWithoutItsPart(t *testing.T) {
	for _, record := range []string{
		`{"seq":1,"time":"2026-01-01T00:00:00Z","step":"names"}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"check","step":"names"}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"cleared","step":"names"}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"question","step":"names"}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"question","step":"names","question":{"id":"x","deadline":1e300}}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"check","step":"names","check":{"id":"a","status":"waived"}}`,
		`{"seq":18446744073709551615,"time":"2026-01-01T00:00:00Z","kind":"done"}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"progress","step":"names"}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"lost","job":{}}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"lost","job":{"state":"reviewed"}}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"changed","job":{"state":"x"}}`,
		`{"seq":1152921504606846975,"time":"2026-01-01T00:00:00Z","kind":"say","text":"x"}`,
		`{"seq":1,"time":"0000-01-01T00:00:00+01:00","kind":"started","text":"x"}`,
		`{"seq":1,"time":"9999-12-31T00:00:00Z","kind":"question","step":"names","question":{"id":"x","deadline":86400}}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"started","text":"x","lasts":{"names":1e308,"light":1e308}}`,
	} {
		r := newRig(t, newWorld())
		must(t, r.Close())
		must(t, os.RemoveAll(r.dir))
		must(t, os.MkdirAll(r.dir, 0o700))
		must(t, os.WriteFile(filepath.Join(r.dir, "journal.jsonl"), []byte(`{"journal":"touchdown/v1"}`+"\n"+record+"\n"), 0o600))
		e, err := tried(r.options())
		if err != nil {
			t.Errorf("%s: %v", record, err)
			continue
		}
		s := waitStarted(t, e)
		if len(s.Notices) == 0 || s.State == view.Working || s.Seq > 1<<40 {
			t.Errorf("%s: state %s, number %d, notices %q", record, s.State, s.Seq, s.Notices)
		}
		must(t, e.Close())
	}
}

// TestTimesAreReadInUTC: a time that can be read and not written would take the consoles the whole state.
func TestTimesAreReadInUTC(t *testing.T) {
	for _, text := range []string{"x", strings.Repeat("x", 2<<20)} {
		r := newRig(t, newWorld())
		must(t, r.Close())
		must(t, os.RemoveAll(r.dir))
		must(t, os.MkdirAll(r.dir, 0o700))
		journal := `{"journal":"touchdown/v1"}` + "\n" + `{"seq":1,"time":"2026-01-01T00:00:00+24:00","kind":"started","text":"` + text + `","fingerprint":"y"}` + "\n"
		must(t, os.WriteFile(filepath.Join(r.dir, "journal.jsonl"), []byte(journal), 0o600))
		r.open(t)
		s := waitStarted(t, r.Engine)
		if body, err := json.Marshal(s); err != nil || !strings.Contains(string(body), `"started":"2025-12-31T00:00:00Z"`) {
			t.Errorf("%v: started %v", err, s.Started)
		}
		must(t, r.Close())
	}
}

// TestLongRecord: the previous release wrote records of any length and did not read them again.
func TestLongRecord(t *testing.T) {
	r := newRig(t, newWorld())
	r.start(t, r, take(t, r), false)
	until(t, r, "the end", inState(view.IsDone))
	must(t, r.Close())
	must(t, os.RemoveAll(r.dir))
	must(t, os.MkdirAll(r.dir, 0o700))
	const at = `"time":"2026-01-01T00:00:00Z"`
	journal := []string{
		`{"journal":"touchdown/v1"}`,
		`{"seq":1,` + at + `,"kind":"started","text":"x","fingerprint":"y"}`,
		`{"seq":2,` + at + `,"kind":"started","step":"light"}`,
		`{"seq":3,` + at + `,"kind":"check","step":"light","check":{"id":"whole","title":"Layers","status":"warn","evidence":["` + strings.Repeat("x", 2<<20) + `"]}}`,
		`{"seq":4,` + at + `,"kind":"done","step":"light","seconds":1}`,
		`{"seq":5,` + at + `,"kind":"done"}`,
		`{"seq":6,` + at + `,"kind":"done","text":"handed over"}`, "",
	}
	must(t, os.WriteFile(filepath.Join(r.dir, "journal.jsonl"), []byte(strings.Join(journal, "\n")), 0o600))
	r.w.set("light", "off")
	before := r.w.calls["light"]
	for range 2 {
		r.open(t)
		if s := waitStarted(t, r.Engine); s.State != view.IsDone || !s.Locked || r.w.calls["light"] != before {
			t.Errorf("state %s, locked %t, light set %d times", s.State, s.Locked, r.w.calls["light"]-before)
		}
		must(t, r.Close())
	}
	data, err := os.ReadFile(filepath.Join(r.dir, "journal.jsonl"))
	must(t, err)
	for line := range bytes.Lines(data) {
		if len(line) > 1<<20 {
			t.Errorf("a record of %d bytes is still there", len(line))
		}
	}
}

// TestSumsThatAreNone: whole records that are not about a file, as of a journal in the wrong place, and no record at all. The state
// folder stays where it is, and the loss is told.
func TestSumsThatAreNone(t *testing.T) {
	for _, record := range []string{
		"", "off", `{"journal":"touchdown/v2"}`, `{"seq":3,"kind":"started","step":"light"}`, `{"file":".","is":"00000000"}`, `{"file":"../x","is":"00000000"}`,
		`{"file":"/etc/hostname","is":"00000000"}`, `{"file":"key"}`,
	} {
		r := atWork(t)
		line := []byte(record)
		if strings.HasPrefix(record, "{") {
			line = seal(line)
		}
		must(t, os.WriteFile(filepath.Join(r.dir, "sums.jsonl"), line, 0o600))
		lit := r.w.calls["light"]
		e, err := tried(r.options())
		if err != nil {
			t.Errorf("%s: %v", record, err)
			continue
		}
		s := waitStarted(t, e)
		if s.State != view.HasFailed || len(s.Notices) == 0 || r.w.calls["light"] != lit || field(s, "spec.clusterName").Value != "shop" {
			t.Errorf("%s: state %s, notices %q", record, s.State, s.Notices)
		}
		must(t, e.Close())
	}
}

// TestPipeInPlaceOfAFolder: where it cannot be put aside, what would lie in it is not read, and the engine does not wait for it.
func TestPipeInPlaceOfAFolder(t *testing.T) {
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "secrets"), 0o600))
	over := make(chan error, 1)
	go func() {
		_, err := putAside(filepath.Join(dir, "secrets", "spec.pullSecret"), ".unreadable")
		over <- err
	}()
	select {
	case err := <-over:
		if !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("it says %v", err)
		}
	case <-time.After(wait.Timeout(time.Second)):
		t.Fatal("it waits for the pipe")
	}
}

// TestAnswersDamagedDuringAnUndo: the undo stops as any other work does after a loss.
func TestAnswersDamagedDuringAnUndo(t *testing.T) {
	begun := make(chan struct{})
	f := newFaulty(t, func(ctx context.Context, _ steps.Report) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	})
	token := take(t, f)
	f.start(t, f, token, false)
	until(t, f, "the end", inState(view.IsDone))
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	<-begun
	must(t, f.Close())
	change(t, f.rig, "site.yaml", func(b []byte) []byte { return bytes.Replace(b, []byte("shop"), []byte("evil"), 1) })
	e, err := tried(f.options())
	must(t, err)
	defer e.Close()
	if s := waitStarted(t, e); s.State != view.HasFailed || s.Problem == nil || s.Problem.Code != view.RecordsLost {
		t.Errorf("state %s, problem %+v", s.State, s.Problem)
	}
}

// kept is a copy of a state folder.
type kept struct {
	dir   string
	files map[string][]byte
}

func keep(t *testing.T, dir string) kept {
	t.Helper()
	k := kept{dir, map[string][]byte{}}
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		k.files[rel], err = os.ReadFile(path)
		return err
	}))
	return k
}

// restore puts the folder back.
func (k kept) restore(t *testing.T) {
	t.Helper()
	must(t, os.RemoveAll(k.dir))
	for rel, data := range k.files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(k.dir, rel)), 0o700))
		must(t, os.WriteFile(filepath.Join(k.dir, rel), data, 0o600))
	}
}
