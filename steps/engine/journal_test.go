package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// memory is a journal file that misbehaves.
type memory struct {
	bytes.Buffer
	writes, syncs, cuts error
}

func (m *memory) Write(b []byte) (int, error) {
	if m.writes != nil {
		n, _ := m.Buffer.Write(b[:len(b)/2])
		return n, m.writes
	}
	return m.Buffer.Write(b)
}

func (m *memory) Sync() error  { return m.syncs }
func (m *memory) Close() error { return nil }

func (m *memory) Truncate(size int64) error {
	if m.cuts == nil {
		m.Buffer.Truncate(int(size))
	}
	return m.cuts
}

// TestJournalThatCannotBeOpened: what lies in the place of a journal is put aside, and the engine starts and tells it.
func TestJournalThatCannotBeOpened(t *testing.T) {
	for what, spoil := range map[string]func(t *testing.T, path string){
		"a folder": func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) },
		"a device": func(t *testing.T, path string) { must(t, os.Symlink("/dev/null", path)) },
		"a pipe":   func(t *testing.T, path string) { must(t, syscall.Mkfifo(path, 0o600)) },
		"no place for the damaged one": func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(journalFormat+"\n{damage\n{more\n"), 0o600))
			must(t, os.Mkdir(path+".damaged", 0o700))
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, newWorld())
			r.start(t, r, take(t, r), false)
			until(t, r, "the end", inState(view.IsDone))
			must(t, r.Close())
			path := filepath.Join(r.dir, "journal.jsonl")
			must(t, os.Remove(path))
			spoil(t, path)
			r.open(t)
			s := until(t, r, "the end, which the checksums know", inState(view.IsDone))
			if len(s.Notices) != 1 || !strings.Contains(s.Notices[0].String(), "journal") {
				t.Errorf("notices %q", s.Notices)
			}
		})
	}
}

// TestFirstLineThatCannotBeWritten leaves an empty journal, which the next engine begins.
func TestFirstLineThatCannotBeWritten(t *testing.T) {
	file := &memory{writes: syscall.ENOSPC}
	err := (&journal{file: file}).start(filepath.Join(t.TempDir(), "journal.jsonl"))
	if problem.From(err).Code != "DSK-FULL" || file.Len() != 0 {
		t.Errorf("%v; the file holds %q", err, file.String())
	}
}

// TestFolderThatCannotBeSynced: a journal whose name a power cut could take is not used.
func TestFolderThatCannotBeSynced(t *testing.T) {
	if err := (&journal{file: &memory{}}).start("/proc/self/journal.jsonl"); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "/proc/self") {
		t.Errorf("a folder that cannot be synced: %v", err)
	}
	if err := host.SyncDir(filepath.Join(t.TempDir(), "gone")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is gone: %v", err)
	}
}

// TestRecordThatFails leaves the records before it, whole, whatever fails; when not even a cut is possible, both are told.
func TestRecordThatFails(t *testing.T) {
	for what, c := range map[string]struct {
		fault memory
		code  string
		both  bool
	}{
		"half written":     {memory{writes: syscall.EIO}, "JRNL-ERR", false},
		"not on the disk":  {memory{syncs: syscall.EIO}, "JRNL-ERR", false},
		"over a quota":     {memory{syncs: syscall.EDQUOT}, "DSK-FULL", false},
		"and not cut away": {memory{writes: syscall.EIO, cuts: syscall.EROFS}, "JRNL-ERR", true},
	} {
		t.Run(what, func(t *testing.T) {
			file := &memory{}
			j := &journal{file: file}
			must(t, j.start(filepath.Join(t.TempDir(), "journal.jsonl")))
			must(t, j.append(event.Event{Kind: event.Said, Text: message.T("first")}))
			before := file.String()
			file.writes, file.syncs, file.cuts = c.fault.writes, c.fault.syncs, c.fault.cuts
			err := j.append(event.Event{Kind: event.Said, Text: message.T("second")})
			if problem.From(err).Code != c.code || errors.Is(err, syscall.EROFS) != c.both {
				t.Errorf("got %v", err)
			}
			if !c.both && file.String() != before {
				t.Errorf("the journal is\n%s\nwant\n%s", file.String(), before)
			}
			if r := readJournal(file.Bytes()); r.bad > 0 || len(r.events) != 1 || r.good != int64(len(before)) {
				t.Errorf("read again: %+v", r)
			}
		})
	}
}

// TestARecordWrittenInPart: where it could not be cut off, the next one is written once it can.
func TestARecordWrittenInPart(t *testing.T) {
	file := &memory{}
	j := &journal{file: file}
	must(t, j.start(filepath.Join(t.TempDir(), "journal.jsonl")))
	file.writes, file.cuts = syscall.EIO, syscall.EIO
	if err := j.append(event.Event{Seq: 1, Kind: event.Said}); err == nil {
		t.Fatal("it was written")
	}
	file.writes = nil
	if err := j.append(event.Event{Seq: 2, Kind: event.Said}); problem.From(err).Code != "JRNL-ERR" {
		t.Errorf("behind half a record it says %v", err)
	}
	file.cuts = nil
	must(t, j.append(event.Event{Seq: 3, Kind: event.Said}))
	if r := readJournal(file.Bytes()); r.bad > 0 || len(r.events) != 1 || r.events[0].Seq != 3 {
		t.Errorf("read again: %+v", r)
	}
}

// TestAppendsFollowTheLastWholeRecord: what was cut off leaves no hole.
func TestAppendsFollowTheLastWholeRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	must(t, os.WriteFile(path, []byte(journalV1+"\n{\"seq\":1,\"kind\":\"said\"}\n{\"seq\":2,\"ki"), 0o600))
	j, events, damage, err := openJournal(path)
	if err != nil || len(events) != 1 || damage != "" {
		t.Fatalf("%v, damage %q, %v", events, damage, err)
	}
	must(t, j.append(event.Event{Seq: 3, Kind: event.Said}))
	must(t, j.file.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	if r := readJournal(data); r.bad > 0 || len(r.events) != 2 || r.events[1].Seq != 3 || r.good != int64(len(data)) {
		t.Errorf("read again: %+v", r)
	}
}

// TestMegabytesOfOutput: what a command, an API or a registry writes without end must not make a record that is read as
// damage, which would drop all that follows it. The ends of a long text stay, and secrets in it are masked.
func TestMegabytesOfOutput(t *testing.T) {
	f := newFaulty(t, nil)
	token := take(t, f)
	const secret = "dXNlcjpodW50ZXIyaHVudGVy"
	must(t, f.Set(t.Context(), token, "spec.pullSecret", `{"auths":{"r.example.com":{"auth":"`+secret+`"}}}`))
	flood := "begins " + secret + strings.Repeat("\x01", 2<<20) + secret + " ends"
	lines := []string{flood, flood}
	for range 100_000 {
		lines = append(lines, "more")
	}
	f.w.run["light"] = func(_ context.Context, _ *backend.Node, report steps.Report) error {
		report.Say(message.Data(flood))
		report.Check(check.Check{ID: "flood", Title: message.T("Flood"), Status: check.Warn, Observed: message.Data(flood), Expected: message.Data(flood), Fix: message.Data(flood), Evidence: message.Lines(lines)})
		return &host.RunError{Argv: []string{"flood", flood}, Output: lines, Err: io.ErrUnexpectedEOF}
	}
	f.start(t, f, token, false)
	until(t, f, "the failure", inState(view.HasFailed))
	f.reopen(t)
	s := until(t, f, "the failure, read again", inState(view.HasFailed))
	p, step := s.Problem, s.Stages[1].Steps[0]
	if detail := p.Detail.String(); !strings.HasPrefix(detail, "running flood begins <secret>") || !strings.HasSuffix(detail, ": more") {
		t.Errorf("the detail is %.60q ... %q", detail, detail[max(0, len(detail)-60):])
	}
	if last := p.Output[len(p.Output)-1]; !strings.HasPrefix(p.Output[0], "begins <secret>") || !strings.HasSuffix(p.Output[0], "<secret> ends") || !strings.HasSuffix(last, "more lines") {
		t.Errorf("%d lines of output, the last %q", len(p.Output), last)
	}
	if len(step.Checks) != 1 || len(step.Checks[0].Evidence) < 3 || len(step.Said) != 1 {
		t.Errorf("%d checks, %d sentences", len(step.Checks), len(step.Said))
	}
	data, err := os.ReadFile(filepath.Join(f.dir, "journal.jsonl"))
	must(t, err)
	for line := range bytes.Lines(data) {
		if len(line) > maxJournalLine*3/4 {
			t.Errorf("a record of %d bytes", len(line))
		}
	}
	if bytes.Contains(data, []byte(secret)) {
		t.Error("the journal holds the secret")
	}
}
