package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"touchdown/backend/problem"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

func newStateFolder(t *testing.T) *stateFolder {
	t.Helper()
	s, err := openFolder(filepath.Join(t.TempDir(), "state"))
	must(t, err)
	t.Cleanup(func() { _ = s.close() })
	return s
}

// full is a folder with a file in it: nothing replaces or removes that by its name.
func full(t *testing.T, path string) {
	t.Helper()
	must(t, os.MkdirAll(path, 0o700))
	must(t, os.WriteFile(filepath.Join(path, "file"), nil, 0o600))
}

// fails wants an error that tells what was being done.
func fails(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want an error that says %q", err, says)
	}
}

// TestStateFolderWithOtherThingsInIt: what lies in the place of a part is put aside and told, and the part is made.
func TestStateFolderWithOtherThingsInIt(t *testing.T) {
	for _, part := range []string{"secrets", "saved", "lock", "key", "sums.jsonl"} {
		t.Run(part, func(t *testing.T) {
			r := newRig(t, newWorld())
			must(t, r.Set(t.Context(), take(t, r), "spec.clusterName", "shop"))
			must(t, r.Close())
			path := filepath.Join(r.dir, part)
			must(t, os.RemoveAll(path))
			must(t, syscall.Mkfifo(path, 0o600))
			r.open(t)
			s := until(t, r, "the form", inState(view.Collecting))
			if part != "lock" && len(s.Notices) != 1 || field(s, "spec.clusterName").Value != "shop" {
				t.Errorf("notices %q, name %q", s.Notices, field(s, "spec.clusterName").Value)
			}
			if _, err := os.Lstat(path + ".unreadable"); err != nil {
				t.Error(err)
			}
			must(t, r.Set(t.Context(), take(t, r), "spec.pullSecret", registryPull))
			r.reopen(t)
			if s := until(t, r, "the form", inState(view.Collecting)); len(s.Notices) > 0 {
				t.Errorf("told again: %q", s.Notices)
			}
		})
	}
	_, err := openFolder("/proc/self/nothing")
	fails(t, err, "creating the state folder")
}

// TestDraftThatCannotBeSaved: what was accepted before stays, and the person is told.
func TestDraftThatCannotBeSaved(t *testing.T) {
	const pull = `{"auths":{"r.example.com":{"auth":"dXNlcjpodW50ZXIyaHVudGVy"}}}`
	for says, spoil := range map[string]func(s *stateFolder, cfg *site.Config){
		"encoding the draft": func(_ *stateFolder, cfg *site.Config) { cfg.Spec.ClusterName = "\xff" },
		"saving the draft:": func(s *stateFolder, _ *site.Config) {
			must(t, os.Remove(s.path("site.yaml")))
			full(t, s.path("site.yaml"))
		},
		"saving the draft's sources": func(s *stateFolder, _ *site.Config) {
			must(t, os.Remove(s.path("sources.json")))
			full(t, s.path("sources.json"))
		},
		"listing the kept secrets":           func(s *stateFolder, _ *site.Config) { must(t, os.Remove(s.path("secrets"))) },
		"keeping the secret spec.pullSecret": func(s *stateFolder, _ *site.Config) { full(t, s.path("secrets", "spec.pullSecret")) },
		"wiping":                             func(s *stateFolder, _ *site.Config) { full(t, s.path("secrets", "spec.proxy.httpProxy")) },
	} {
		t.Run(says, func(t *testing.T) {
			s, cfg := newStateFolder(t), site.New()
			must(t, cfg.Set("spec.clusterName", "before"))
			must(t, s.saveDraft(cfg))
			must(t, cfg.Set("spec.clusterName", "after"))
			must(t, cfg.Set("spec.pullSecret", pull))
			spoil(s, cfg)
			fails(t, s.saveDraft(cfg), says)
			text, err := os.ReadFile(s.path("site.yaml"))
			if says != "saving the draft's sources" && (err == nil && !strings.Contains(string(text), "before")) {
				t.Errorf("the draft is now\n%s", text)
			}
		})
	}
}

// TestDraftThatCannotBeRead is kept aside and told; the secrets beside it stay.
func TestDraftThatCannotBeRead(t *testing.T) {
	for what, spoil := range map[string]func(path string){
		"a folder in its place": func(path string) {
			must(t, os.Remove(path))
			must(t, os.Mkdir(path, 0o700))
		},
		"another text": func(path string) { must(t, os.WriteFile(path, []byte("spec: [broken"), 0o600)) },
		"and no place beside it": func(path string) {
			must(t, os.WriteFile(path, []byte("spec: [broken"), 0o600))
			full(t, path+".unreadable")
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, newWorld())
			token := take(t, r)
			must(t, r.Set(t.Context(), token, "spec.clusterName", "shop"))
			must(t, r.Set(t.Context(), token, "spec.pullSecret", registryPull))
			must(t, r.Close())
			spoil(filepath.Join(r.dir, "site.yaml"))
			r.open(t)
			s := until(t, r, "the form", inState(view.Collecting))
			if len(s.Notices) != 1 || !strings.Contains(s.Notices[0].String(), "site.yaml") || field(s, "spec.clusterName").Value != "" || !field(s, "spec.pullSecret").SecretSet {
				t.Errorf("notices %q, name %q, secret set %t", s.Notices, field(s, "spec.clusterName").Value, field(s, "spec.pullSecret").SecretSet)
			}
			if kept, _ := filepath.Glob(filepath.Join(r.dir, "site.yaml.unreadable*")); len(kept) == 0 {
				t.Error("it was not kept")
			}
			must(t, r.Set(t.Context(), take(t, r), "spec.clusterName", "again"))
		})
	}
}

// TestDraftThatWouldNotBeReadAgain: what together is too much for one document is refused while the person is there.
func TestDraftThatWouldNotBeReadAgain(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	var err error
	for _, path := range []string{"spec.apiCert.cert", "spec.ingressCert.cert", "spec.ingressCert.ca", "spec.additionalTrustBundle", "spec.networkConfig", "spec.apiCert.ca"} {
		if err = r.Set(t.Context(), token, path, strings.Repeat("aaaaaaaaa\n", 25<<10)); errors.Is(err, session.ErrInvalid) {
			break
		}
	}
	r.reopen(t)
	s := until(t, r, "the form", inState(view.Collecting))
	if len(s.Notices) > 0 {
		t.Errorf("notices %q; the last answer was taken with %v", s.Notices, err)
	}
}

// TestNotes: the last one counts, and none is an original.
func TestNotes(t *testing.T) {
	report := &stepReport{e: &Engine{originals: newStateFolder(t)}, step: "light"}
	if _, err := report.Noted("where"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a note that was never made: %v", err)
	}
	must(t, report.Save("where", []byte("original")))
	must(t, report.Note("where", []byte("first")))
	must(t, report.Note("where", []byte("second")))
	note, err := report.Noted("where")
	original, err2 := report.Saved("where")
	if err != nil || err2 != nil || string(note) != "second" || string(original) != "original" {
		t.Errorf("noted %q, %v; saved %q, %v", note, err, original, err2)
	}
	fails(t, report.Note("../up", nil), "not a plain name")
}

// TestOriginalThatCannotBeSaved: a step that gets this error must not change anything.
func TestOriginalThatCannotBeSaved(t *testing.T) {
	s := newStateFolder(t)
	must(t, os.WriteFile(s.path("saved", "file"), nil, 0o600))
	fails(t, s.save("file", "key", nil), "saving an original")
	full(t, s.path("saved", "light", noteName("key")))
	err := s.note("light", "key", nil)
	fails(t, err, "saving an original")
	if problem.From(err).Code != "JRNL-ERR" {
		t.Errorf("code %s", problem.From(err).Code)
	}
	must(t, os.RemoveAll(s.path("saved")))
	must(t, os.Symlink("/proc/self", s.path("saved"))) // a folder that cannot be synced
	if err := s.save("task", "key", nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("saved where a power cut could take it: %v", err)
	}
}

// TestHandOverThatCannotBeWiped: the node stays usable and locked, and says where the rest is.
func TestHandOverThatCannotBeWiped(t *testing.T) {
	r := newRig(t, newWorld())
	r.start(t, r, take(t, r), false)
	until(t, r, "the end", inState(view.IsDone))
	must(t, r.emit(handOverEvent("", "")))
	deepFolder(t, filepath.Join(r.dir, "saved", "light"))
	r.reopen(t)
	s := until(t, r, "the end", inState(view.IsDone))
	if !s.Locked || len(s.Notices) != 1 || !strings.Contains(s.Notices[0].String(), r.dir) {
		t.Errorf("locked %t, notices %q", s.Locked, s.Notices)
	}
	must(t, os.RemoveAll(filepath.Join(r.dir, "saved", "light")))
	r.reopen(t)
	if s := until(t, r, "the end", inState(view.IsDone)); len(s.Notices) > 0 {
		t.Errorf("notices %q", s.Notices)
	}
}

// TestPurge removes everything, but not from under an engine.
func TestPurge(t *testing.T) {
	must(t, Purge(filepath.Join(t.TempDir(), "never there")))
	r := newRig(t, newWorld())
	if err := Purge(r.dir); problem.From(err).Code != "ENG-BUSY" {
		t.Errorf("purged under an engine: %v", err)
	}
	must(t, r.Close())
	must(t, Purge(r.dir))
	if _, err := os.Stat(r.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the purge: %v", err)
	}
}

// TestPurgeThatFails says so, and can be run again.
func TestPurgeThatFails(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "a-secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	deepFolder(t, dir)
	fails(t, Purge(dir), "wiping")
	if _, err := os.Stat(secret); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the secret before the trouble is still there: %v", err)
	}

	other := t.TempDir()
	fails(t, Purge(other+"/."), "removing the state folder") // rmdir knows no "."
	must(t, Purge(other))
}
