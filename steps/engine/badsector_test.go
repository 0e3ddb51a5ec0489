package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/event"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// badSector makes every read of a file fail with an I/O error, and every attempt to rename it.
func badSector(t *testing.T, path string) { over(t, "/proc/self/mem", path, 0) }

// readOnlyFile makes every write to a file fail, and every attempt to replace it.
func readOnlyFile(t *testing.T, path string) { over(t, path, path, unix.MS_RDONLY) }

func over(t *testing.T, source, path string, flags uintptr) {
	t.Helper()
	wait.Root(t) // it mounts
	must(t, unix.Mount(source, path, "", unix.MS_BIND, ""))
	t.Cleanup(func() { _ = unix.Unmount(path, unix.MNT_DETACH) })
	if flags != 0 {
		must(t, unix.Mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT|flags, ""))
	}
}

// TestBadSectors: whichever file the disk does not give back, the engine starts, tells it, and knows the rest.
func TestBadSectors(t *testing.T) {
	for _, name := range []string{"key", "journal.jsonl", "sums.jsonl", "site.yaml", "sources.json"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, newWorld())
			r.start(t, r, take(t, r), false)
			until(t, r, "the end", inState(view.IsDone))
			must(t, r.Close())
			path := filepath.Join(r.dir, name)
			badSector(t, path)
			r.open(t)
			s := until(t, r, "the end", inState(view.IsDone))
			if len(s.Notices) == 0 {
				t.Error("nothing is told")
			}
			must(t, r.Close())
			must(t, unix.Unmount(path, 0))
			r.open(t)
			until(t, r, "the end, with a good disk", inState(view.IsDone))
		})
	}
}

// TestReadOnlyFiles: what is known stays known, and what cannot be written is refused.
func TestReadOnlyFiles(t *testing.T) {
	for _, c := range []struct {
		name, file, more string
		state            view.State
	}{
		{"the journal", "journal.jsonl", "", view.Collecting},
		{"a damaged journal", "journal.jsonl", "{damage\n", view.HasFailed},
		{"the checksums", "sums.jsonl", "", view.Collecting},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, newWorld())
			must(t, r.Set(t.Context(), take(t, r), "spec.clusterName", "shop"))
			must(t, r.Close())
			path := filepath.Join(r.dir, c.file)
			data, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, append(data, c.more...), 0o600))
			readOnlyFile(t, path)
			r.open(t)
			s := until(t, r, "the form", inState(c.state))
			if field(s, "spec.clusterName").Value != "shop" {
				t.Errorf("the answer is %q", field(s, "spec.clusterName").Value)
			}
			if told := strings.Contains(strings.Join(message.English(s.Notices), " "), "cannot be saved"); told != (c.file == "sums.jsonl") {
				t.Errorf("notices %q", s.Notices)
			}
			if c.file == "sums.jsonl" {
				err = r.folder.put("site.yaml", nil)
			} else {
				err = r.emit(event.Event{Kind: event.Cancelled})
			}
			if want := map[bool]string{true: "JRNL-ERR", false: "DSK-READ"}[c.file == "sums.jsonl"]; problem.From(err).Code != want {
				t.Errorf("written: %v", err)
			}
		})
	}
	if err := (shut{syscall.EROFS}).Sync(); !errors.Is(err, syscall.EROFS) {
		t.Errorf("a journal that cannot be opened is on the disk: %v", err)
	}
}

// TestDraftThatIsNone is kept beside an empty one; a secret of no field is put away too.
func TestDraftThatIsNone(t *testing.T) {
	r := newRig(t, newWorld())
	must(t, r.Close())
	must(t, os.WriteFile(filepath.Join(r.dir, "secrets", "spec.nothing"), []byte("sesame"), 0o600))
	must(t, os.WriteFile(filepath.Join(r.dir, "site.yaml"), []byte("spec: {clusterName: [shop"), 0o600))
	r.open(t)
	s := until(t, r, "an empty form", inState(view.Collecting))
	if len(s.Notices) != 1 || !strings.Contains(s.Notices[0].String(), "site.yaml.unreadable") || !strings.Contains(s.Notices[0].String(), "spec.nothing") {
		t.Errorf("notices %q", s.Notices)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "secrets", "spec.nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a secret of no field: %v", err)
	}
}

// TestJournalTooLargeToRead: a journal that cannot be read to its end is kept beside the new one, unchanged. The new one has the records before
// that place, and those that follow.
func TestJournalTooLargeToRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	before := seal([]byte(`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"say","step":"light"}`))
	must(t, os.WriteFile(path, append([]byte(journalFormat+"\n"), before...), 0o600))
	must(t, os.Truncate(path, maxKept+1))
	j, events, damage, err := openJournal(path)
	must(t, err)
	must(t, j.append(event.Event{Seq: 2, Kind: event.Said, Time: time.Unix(0, 0)}))
	must(t, j.file.Close())
	if info, err := os.Stat(damage); err != nil || info.Size() != maxKept+1 || damage != path+".damaged" {
		t.Errorf("kept as %q: %v", damage, err)
	}
	if len(events) != 1 || !j.read.gone {
		t.Errorf("%d records before the place, told %t", len(events), j.read.gone)
	}
	j, events, damage, err = openJournal(path)
	must(t, err)
	must(t, j.file.Close())
	if len(events) != 2 || j.read.bad > 0 || damage != "" {
		t.Errorf("the next engine finds %d records, %d bad ones, and keeps %q", len(events), j.read.bad, damage)
	}
}

// TestJournalThatCannotBeCopied: where the disk has no room for a copy of the records that were read, they stay in the damaged journal, and the
// new one begins without them.
func TestJournalThatCannotBeCopied(t *testing.T) {
	wait.Root(t) // it mounts
	dir := t.TempDir()
	must(t, unix.Mount("none", dir, "tmpfs", 0, "size=64k"))
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	path := filepath.Join(dir, "journal.jsonl")
	text := strings.Repeat("x", 40<<10)
	before := seal(fmt.Appendf(nil, `{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"say","step":"light","text":%q}`, text))
	must(t, os.WriteFile(path, append([]byte(journalFormat+"\n"), before...), 0o600))
	must(t, os.Truncate(path, maxKept+1))
	j, events, damage, err := openJournal(path)
	must(t, err)
	must(t, j.append(event.Event{Seq: 2, Kind: event.Said, Time: time.Unix(0, 0)}))
	must(t, j.file.Close())
	if info, err := os.Stat(damage); err != nil || info.Size() != maxKept+1 || len(events) != 1 {
		t.Errorf("%d records, kept as %q: %v", len(events), damage, err)
	}
	if b, err := os.ReadFile(path); err != nil || strings.Count(string(b), "\n") != 2 {
		t.Errorf("the new journal is %q: %v", b, err)
	}
}

// TestJournalTooLargeForAnother: records that fill a journal by half and more are not copied into the next one, which would soon be too large in its
// turn, at each start again.
func TestJournalTooLargeForAnother(t *testing.T) {
	wait.Slow(t)
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	text := strings.Repeat("x", 1<<19)
	file, err := os.Create(path)
	must(t, err)
	_, err = file.WriteString(journalFormat + "\n")
	for seq := 1; err == nil && seq <= maxKept>>19; seq++ {
		_, err = file.Write(seal(fmt.Appendf(nil, `{"seq":%d,"time":"2026-01-01T00:00:00Z","kind":"say","step":"light","text":"%s"}`, seq, text)))
	}
	must(t, errors.Join(err, file.Close()))
	j, _, damage, err := openJournal(path)
	must(t, errors.Join(err, j.file.Close()))
	if info, err := os.Stat(path); err != nil || damage == "" || info.Size() > 1<<10 {
		t.Errorf("kept as %q, and the next one: %v, %v", damage, info, err)
	}
}

// TestJournalWithoutItsFirstLine gets it with its first record.
func TestJournalWithoutItsFirstLine(t *testing.T) {
	file := &memory{cuts: syscall.EIO}
	j := &journal{file: file}
	if err := j.start("journal.jsonl"); !errors.Is(err, syscall.EIO) {
		t.Errorf("began although it cannot be cut: %v", err)
	}
	file.cuts = nil
	must(t, j.append(event.Event{Kind: event.Said}))
	if !strings.HasPrefix(file.String(), journalFormat+"\n{") {
		t.Errorf("the journal is %q", file.String())
	}
}

// TestFailureOutsideOfAStep ends the job where it is.
func TestFailureOutsideOfAStep(t *testing.T) {
	j := &job{state: view.Working, current: "light"}
	j.applyJob(event.Event{Kind: event.Failed, Problem: event.TroubleOf(&problem.Problem{Code: "X"})})
	if j.state != view.HasFailed || j.current != "" || j.problem.Code != "X" {
		t.Errorf("%s at %q: %v", j.state, j.current, j.problem)
	}
}
