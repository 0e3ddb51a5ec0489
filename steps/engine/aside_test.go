package engine

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/backend/report"
	"touchdown/steps/aside"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// asideMark says that records are on their way.
const asideMark = "returned/under-way"

var noonOfReturn = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

const siteSecret = "dTpwbDRudGVkc2VjcmV0" // as a pull secret has it

// stays are files of a node that outlive any job.
var stays = []string{"report-key.pem", "media/node.key", "factory/journal.jsonl", "factory.json", "images/store.json", "console-pin.json"}

// landsFor lands the node, with a secret among the answers and with what else a landing leaves in its state folder.
func (r *rig) landsFor(t *testing.T, ends ...session.Action) {
	t.Helper()
	r.w.mu.Lock() // an engine looks from the moment it is opened
	r.w.cable = true
	r.w.mu.Unlock()
	r.lands(t, map[string]string{
		"spec.clusterName": "shop", "spec.baseDomain": "example.com", "spec.console.pin": testHash(),
		"spec.pullSecret": `{"auths":{"quay.io":{"auth":"` + siteSecret + `"}}}`,
	})
	token := take(t, r)
	for _, a := range ends {
		must(t, r.Do(t.Context(), token, a))
		if a.Verb == session.Undo {
			until(t, r, "the undo", inState(view.IsUndone))
		}
	}
	must(t, r.Close())
	for _, name := range append(slices.Clone(stays), "engine.log", "disk-test.json", "live.json", "site.yaml.unreadable", report.TextFile, report.Sums) {
		file := filepath.Join(r.dir, name)
		must(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(name), 0o600)))
	}
}

// tree is what lies in a folder: contents by name.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(text)
		return err
	}))
	return all
}

// left are the names of what lies in a state folder, but for the records that were set aside.
func left(t *testing.T, dir string) []string {
	t.Helper()
	all := tree(t, dir)
	maps.DeleteFunc(all, func(name, _ string) bool {
		return strings.HasPrefix(name, layout.ReturnedFolder+"/2") || name == "lock"
	})
	return slices.Sorted(maps.Keys(all))
}

// TestSetAside: after the hand-over and after an undo the records move as a whole, and nothing of the job stays: no answer, no secret, no
// PIN. They can be read in their folder as where they were; the next job begins without them. The second return of a day has a folder too.
func TestSetAside(t *testing.T) {
	for name, end := range map[string]session.Action{"handed over": {Verb: session.HandOver}, "undone": {Verb: session.Undo}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, newWorld())
			r.landsFor(t, end)
			journal := tree(t, r.dir)[layout.JournalFile]
			lineOpened := 0
			opens := func() error { lineOpened++; return nil }
			folder, err := SetAside(r.dir, noonOfReturn, opens)
			must(t, err)
			if folder != filepath.Join(r.dir, "returned/2026-11-26") || lineOpened != 1 {
				t.Errorf("%s, the line was opened %d times", folder, lineOpened)
			}
			if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%v, %v", info, err)
			}
			if got := left(t, r.dir); !slices.Equal(got, slices.Sorted(slices.Values(stays))) {
				t.Errorf("left are %q", got)
			}
			first := tree(t, folder)
			for file, text := range first {
				if strings.Contains(text, siteSecret) {
					t.Errorf("%s has a secret", file)
				}
			}
			if first[layout.JournalFile] != journal || first["engine.log"] == "" || first[report.TextFile] == "" || first["disk-test.json"] == "" {
				t.Errorf("set aside are %q", slices.Sorted(maps.Keys(first)))
			}
			r.readable(t, folder, end)
			first = tree(t, folder)

			r.w.set("names", "factory")
			r.open(t)
			if s, err := r.Snapshot(t.Context()); err != nil || s.Life == view.LifeLanded || s.Cluster != "" || s.Locked || s.HandedOver || s.Idle != nil || len(s.Notices) > 0 {
				t.Errorf("the next job begins as %+v, %v", s, err)
			}
			r.landsFor(t, end)
			folder, err = SetAside(r.dir, noonOfReturn.Add(time.Hour), opens)
			must(t, err)
			if filepath.Base(folder) != "2026-11-26-2" || !maps.Equal(tree(t, filepath.Join(r.dir, "returned/2026-11-26")), first) {
				t.Errorf("the second return of the day is in %s, and the first is not what it was", folder)
			}
			if got := layout.Returns(r.dir); len(got) != 2 || got[1] != folder {
				t.Errorf("%q", got)
			}
		})
	}
}

// readable opens an engine on records that were set aside: it finds the job at its end, and nothing lost.
func (r *rig) readable(t *testing.T, folder string, end session.Action) {
	t.Helper()
	o := r.options()
	o.Dir = folder
	e, err := Open(o)
	must(t, err)
	s, err := e.Snapshot(t.Context())
	must(t, err)
	want := map[session.Verb]view.State{session.HandOver: view.IsDone, session.Undo: view.IsUndone}[end.Verb]
	if s.State != want || s.HandedOver != (end.Verb == session.HandOver) || s.Problem != nil || len(s.Notices) > 0 || s.Cluster != "shop.example.com" {
		t.Errorf("the records tell %s, %+v, %q", s.State, s.Problem, s.Notices)
	}
	must(t, e.Close())
}

// TestSetAsideRefuses: what can still be undone, what is at work, and what is not known.
func TestSetAsideRefuses(t *testing.T) {
	refused := func(r *rig, want string) {
		t.Helper()
		before := tree(t, r.dir)
		folder, err := SetAside(r.dir, noonOfReturn, func() error { t.Error("the line was opened"); return nil })
		if problem.From(err).Code != want || folder != "" {
			t.Errorf("want %s: %q, %v", want, folder, err)
		}
		if got := tree(t, r.dir); got[layout.JournalFile] != before[layout.JournalFile] || len(layout.Returns(r.dir)) > 0 {
			t.Errorf("%s: the records were changed", want)
		}
	}
	fresh := newRig(t, newWorld())
	refused(fresh, "ENG-BUSY")
	must(t, fresh.Close())
	refused(fresh, "FAC-NEW")

	landed := newRig(t, newWorld())
	landed.landsFor(t)
	refused(landed, "FAC-BUSY")

	failed := newRig(t, newWorld())
	failed.w.setFail("light", broken())
	failed.start(t, failed, take(t, failed), false)
	until(t, failed, "the failure", inState(view.HasFailed))
	must(t, failed.Do(t.Context(), take(t, failed), session.Action{Verb: session.Edit})) // given up on its way, and not undone
	must(t, failed.Close())
	refused(failed, "FAC-BUSY")

	damaged := newRig(t, newWorld())
	damaged.landsFor(t, session.Action{Verb: session.HandOver})
	journal := damaged.folder.path(layout.JournalFile)
	text, err := os.ReadFile(journal)
	must(t, err)
	must(t, os.WriteFile(journal, text[:len(text)*2/3], 0o600))
	refused(damaged, "FAC-RECS")
}

// TestSetAsideAfterACut: wherever the power is cut, the next call brings the return to its end, with the same records in the same folder. What was written since takes no record's place.
func TestSetAsideAfterACut(t *testing.T) {
	r := newRig(t, newWorld())
	r.landsFor(t, session.Action{Verb: session.HandOver})
	must(t, os.RemoveAll(filepath.Join(r.dir, "saved"))) // its folders are empty, and a tree has none
	s, err := openFolder(r.dir)                          // opened, as it was when the mark was written
	must(t, err)
	must(t, s.close())
	base := tree(t, r.dir)
	restore := func() string {
		dir := filepath.Join(t.TempDir(), "state")
		for name, text := range base {
			file := filepath.Join(dir, name)
			must(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)))
		}
		return dir
	}
	nothing := func() error { return nil }
	whole := restore()
	folder, err := SetAside(whole, noonOfReturn, nothing)
	must(t, err)
	want, keeps := tree(t, folder), left(t, whole)
	moved := slices.Sorted(maps.Keys(want))
	if len(moved) < 8 {
		t.Fatalf("only %q move", moved)
	}
	later := noonOfReturn.AddDate(0, 0, 3)
	underWay := func(dir string) bool { return aside.Begun(dir, later) != "" }
	for cut := range len(moved) + 1 {
		dir := restore()
		must(t, os.MkdirAll(filepath.Join(dir, "returned/2026-11-26"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, asideMark), []byte(`{"folder":"2026-11-26"}`), 0o600))
		for _, name := range moved[:cut] {
			must(t, os.Rename(filepath.Join(dir, name), filepath.Join(dir, "returned/2026-11-26", name)))
		}
		again := errors.New("no line")
		if _, err := SetAside(dir, later, func() error { return again }); !errors.Is(err, again) || !underWay(dir) { // and once more, before its last moment
			t.Errorf("cut %d: %v, under way %t", cut, err, underWay(dir))
		}
		opened := false
		folder, err := SetAside(dir, later, func() error { opened = true; return nil })
		must(t, err)
		if got := tree(t, folder); !opened || underWay(dir) || filepath.Base(folder) != "2026-11-26" || !maps.Equal(got, want) || !slices.Equal(left(t, dir), keeps) {
			t.Errorf("cut %d: opened %t, in %s not the same records, left %q", cut, opened, folder, left(t, dir))
		}
	}

	dir := restore()
	must(t, os.MkdirAll(filepath.Join(dir, "returned/2026-11-26"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, asideMark), []byte("damaged"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "returned/2026-11-26", layout.JournalFile), []byte("kept"), 0o600))
	folder, err = SetAside(dir, noonOfReturn, nothing)
	must(t, err)
	if got := tree(t, folder); filepath.Base(folder) != "2026-11-26-2" || !maps.Equal(got, want) {
		t.Errorf("a damaged mark: %s has %q", folder, slices.Sorted(maps.Keys(got)))
	}
	must(t, os.WriteFile(filepath.Join(dir, asideMark), []byte(`{"folder":"2026-11-26-2"}`), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, layout.JournalFile), []byte("later"), 0o600))
	folder, err = SetAside(dir, noonOfReturn, nothing)
	must(t, err)
	if got := tree(t, folder); got[layout.JournalFile] != want[layout.JournalFile] || got[layout.JournalFile+"-2"] != "later" {
		t.Errorf("a later journal took the place of the first: %q", slices.Sorted(maps.Keys(got)))
	}
}
