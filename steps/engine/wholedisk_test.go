package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/problem"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// refusing is a file that the engine has open on a file system that takes no more: what is left of its last page is full too.
type refusing struct {
	journalFile
	with *syscall.Errno // 0: it takes what comes
}

func (r refusing) Write(b []byte) (int, error) {
	if *r.with != 0 {
		return 0, &os.PathError{Op: "write", Path: "journal.jsonl", Err: *r.with}
	}
	return r.journalFile.Write(b)
}

// ill is what can become of the whole file system of the state folder: befall makes it so, and returns what makes it well again.
type ill struct {
	name, code string
	refuses    syscall.Errno
	befall     func(t *testing.T, f *faulty) (heal func())
}

var ills = []ill{
	{"full", "DSK-FULL", syscall.ENOSPC, func(t *testing.T, f *faulty) func() {
		path := filepath.Join(f.dir, "..", "filler")
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		must(t, err)
		for size := 4096; size > 0; {
			if n, err := file.Write(make([]byte, size)); n < size || err != nil {
				size /= 2
			}
		}
		must(t, file.Close())
		return func() { must(t, os.Remove(path)) }
	}},
	{"read-only", "DSK-READ", syscall.EROFS, func(t *testing.T, f *faulty) func() {
		over(t, f.dir, f.dir, unix.MS_RDONLY)
		return func() { must(t, unix.Unmount(f.dir, unix.MNT_DETACH)) }
	}},
}

// newSmallDisk is newFaulty on a small file system.
func newSmallDisk(t *testing.T, refuses *syscall.Errno) *faulty {
	t.Helper()
	wait.Root(t) // it mounts
	f := newFaulty(t, nil)
	must(t, f.Close())
	f.Engine = nil
	disk := t.TempDir()
	must(t, unix.Mount("none", disk, "tmpfs", 0, "size=512k"))
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	f.dir = filepath.Join(disk, "state")
	f.reopen(t)
	t.Cleanup(func() { _ = f.Close() })
	f.mu.Lock()
	defer f.mu.Unlock()
	f.core.recorder.journal.file = refusing{f.core.recorder.journal.file, refuses}
	return f
}

// befallAfter lets it happen once so many records were written from now on.
func (f *faulty) befallAfter(n int, befall func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = func(event.Event) {
		if n--; n == 0 {
			befall()
		}
	}
}

// TestWholeFileSystemAtEachRecord: after whichever record of a landing and of its undo the file system of the state folder becomes full, or
// read-only, for all files: the work stops and says why, or had nothing more to write. With the file system well again it comes to its end, and
// everything can be undone: no original was lost. No half-written file is left.
func TestWholeFileSystemAtEachRecord(t *testing.T) {
	for _, ill := range ills {
		for _, phase := range []view.State{view.IsDone, view.IsUndone} {
			t.Run(ill.name+" before "+string(phase), func(t *testing.T) {
				failures := 0
				for n := 1; ; n++ {
					reached, failed := ill.at(t, n, phase)
					if failed {
						failures++
					}
					if !reached {
						break
					}
				}
				t.Logf("the work failed at %d records", failures)
				if failures < 5 {
					t.Errorf("it failed at %d records only", failures)
				}
			})
		}
	}
}

// at tells whether there were n records in the phase, and whether the work failed at the last of them.
func (i ill) at(t *testing.T, n int, phase view.State) (reached, failed bool) {
	t.Helper()
	var refuses syscall.Errno
	f := newSmallDisk(t, &refuses)
	token := take(t, f)
	review := f.fill(t, token).Review
	verb := session.Action{Verb: session.Start, Fingerprint: review.Fingerprint}
	if phase == view.IsUndone {
		must(t, f.Do(t.Context(), token, verb))
		until(t, f, "the end", inState(view.IsDone))
		verb = session.Action{Verb: session.Undo}
	}
	heal := func() {}
	f.befallAfter(n, func() { reached, heal, refuses = true, i.befall(t, f), i.refuses })
	must(t, f.Do(t.Context(), token, verb))
	s := until(t, f, "the failure or the end", func(s *view.Snapshot) bool { return s.State == view.HasFailed || s.State == phase })
	f.mu.Lock()
	f.after = nil
	f.mu.Unlock()
	if failed = s.State == view.HasFailed; failed && s.Problem.Code != i.code {
		t.Errorf("after %d records: %+v", n, s.Problem)
	}
	if reached {
		if err := f.Set(t.Context(), token, "spec.clusterName", "other"); err == nil && failed {
			t.Errorf("after %d records an answer is taken that cannot be kept", n)
		} else if code := problem.From(err).Code; err != nil && !errors.Is(err, session.ErrState) && code == "ERR-UNKN" {
			t.Errorf("after %d records an answer is refused with %s: %v", n, code, err)
		}
	}
	f.mu.Lock()
	refuses = 0
	f.mu.Unlock()
	heal()
	if failed {
		must(t, f.Do(t.Context(), token, session.Action{Verb: session.Retry}))
		until(t, f, "the end", inState(phase))
	}
	if phase == view.IsDone {
		machineIs(t, f.rig, "shop.example.com", "on", "on")
		must(t, f.Do(t.Context(), token, session.Action{Verb: session.Undo}))
		until(t, f, "everything back", inState(view.IsUndone))
	}
	machineIs(t, f.rig, "factory", "off", "off")
	f.reopen(t)
	if s = until(t, f, "everything back, read again", inState(view.IsUndone)); len(s.Notices) > 0 || s.Cluster != "shop.example.com" {
		t.Errorf("after %d records: notices %q, cluster %q", n, s.Notices, s.Cluster)
	}
	must(t, f.Close())
	must(t, filepath.WalkDir(f.dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".") || strings.Contains(path, ".damaged") || strings.Contains(path, ".unreadable") {
			t.Errorf("after %d records %s is left", n, path)
		}
		return err
	}))
	return reached, failed
}
