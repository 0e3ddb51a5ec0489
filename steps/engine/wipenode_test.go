package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/problem"
	"touchdown/steps/session"
	"touchdown/test/wait"
)

// fullFolder is a state folder with all kinds of things in it.
func fullFolder(t *testing.T, journal string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	for name, text := range map[string]string{
		"journal.jsonl": journal, "secrets/spec.pullSecret": "pl4nted", "saved/a/b": "pl4nted", "media/node.key": "pl4nted", "media/baked.key": "pl4nted",
		"report-key.pem": "pl4nted", "returned/2026-01-01/journal.jsonl": "{}", "factory/shipped.json": "{}", "factory/secrets/a": "pl4nted", ".site.yaml.123": "pl4nted",
	} {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

const (
	journalStart = `{"journal":"touchdown/v1"}` + "\n"
	failedAt     = journalStart + `{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"started"}` + "\n" + `{"seq":2,"time":"2026-01-01T00:00:00Z","kind":"started","step":"a"}` + "\n" +
		`{"seq":3,"time":"2026-01-01T00:00:00Z","kind":"failed","step":"a","problem":{"code":"BRKN","summary":"It broke.","fix":"Fix it."}}` + "\n"
	acceptedThere = journalStart + `{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"started"}` + "\n" + `{"seq":2,"time":"2026-01-01T00:10:00Z","kind":"done"}` + "\n" +
		`{"seq":3,"time":"2026-01-01T00:20:00Z","kind":"done","text":"handed over","by":"tty1"}` + "\n"
)

func remains(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, strings.TrimPrefix(path, dir))
		return err
	}))
	return names[1:]
}

// TestWipeAll: nothing is left of a job that was handed over. What a link in the folder leads to stays.
func TestWipeAll(t *testing.T) {
	dir := fullFolder(t, acceptedThere)
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("not ours"), 0o600))
	must(t, os.Symlink(outside, filepath.Join(dir, "media", "link")))
	must(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "folder")))
	must(t, WipeAll(t.Context(), dir, false))
	if names := remains(t, dir); len(names) > 0 {
		t.Errorf("left: %q", names)
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "not ours" {
		t.Errorf("%q, %v", text, err)
	}
	must(t, WipeAll(t.Context(), dir, false)) // with nothing to do
	must(t, WipeAll(t.Context(), filepath.Join(dir, "none"), false))
}

// TestAMountPointIsWiped: what is mounted in the folder is wiped with it; its mount point stays, and does not hold up the wipe.
func TestAMountPointIsWiped(t *testing.T) {
	wait.Root(t) // it mounts
	dir := fullFolder(t, acceptedThere)
	at := filepath.Join(dir, "saved", "disk")
	must(t, os.Mkdir(at, 0o700))
	must(t, unix.Mount("tmpfs", at, "tmpfs", 0, ""))
	t.Cleanup(func() { must(t, unix.Unmount(at, unix.MNT_DETACH)) })
	must(t, os.WriteFile(filepath.Join(at, "secret"), []byte("pl4nted"), 0o600))
	must(t, WipeAll(t.Context(), dir, false))
	if got := strings.Join(remains(t, dir), " "); got != "/saved /saved/disk" || WipeBegun(dir) {
		t.Errorf("left is %q", got)
	}
}

// TestAFailedLandingIsNotWiped unless it is given up: its originals are there to undo it.
func TestAFailedLandingIsNotWiped(t *testing.T) {
	dir := fullFolder(t, failedAt)
	if err := WipeAll(t.Context(), dir, false); problem.From(err).Code != "FAC-BUSY" {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "saved/a/b")); err != nil || string(text) != "pl4nted" || WipeBegun(dir) {
		t.Errorf("%q, %v, begun %t", text, err, WipeBegun(dir))
	}
	must(t, WipeAll(t.Context(), dir, true))
	if names := remains(t, dir); len(names) > 0 {
		t.Errorf("left: %q", names)
	}
}

// TestAWipeThatWasCutOff goes on wherever the cut came: the records that are gone by then do not stop it.
func TestAWipeThatWasCutOff(t *testing.T) {
	whole := remains(t, fullFolder(t, acceptedThere))
	for cut := range whole {
		dir := fullFolder(t, acceptedThere)
		must(t, os.WriteFile(filepath.Join(dir, wipeMark), nil, 0o600))
		for _, name := range whole[:cut] {
			must(t, os.RemoveAll(filepath.Join(dir, name)))
		}
		if !WipeBegun(dir) {
			t.Fatal("it is not known that a wipe has begun")
		}
		must(t, WipeAll(t.Context(), dir, false))
		if names := remains(t, dir); len(names) > 0 {
			t.Errorf("cut behind %d: left %q", cut, names)
		}
	}
}

// TestALiveEngineIsNotWiped, neither that of the site nor that of the bench line.
func TestALiveEngineIsNotWiped(t *testing.T) {
	for _, name := range []string{"lock", "factory/lock"} {
		dir := fullFolder(t, acceptedThere)
		lock, err := takeLock(filepath.Join(dir, name))
		must(t, err)
		if err := WipeAll(t.Context(), dir, true); problem.From(err).Code != "ENG-BUSY" || WipeBegun(dir) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "media/node.key")); err != nil {
			t.Error(err)
		}
		must(t, lock.Close())
	}
}

// TestNoWorkBeginsInAWipe: a wipe that has not ended would take the originals of a job that began in the meantime.
func TestNoWorkBeginsInAWipe(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	v := r.fill(t, r, token)
	must(t, os.WriteFile(filepath.Join(r.folder.dir, wipeMark), nil, 0o600))
	start := session.Action{Verb: session.Start, Fingerprint: v.Review.Fingerprint}
	if err := r.Do(t.Context(), token, start); !errors.Is(err, session.ErrState) {
		t.Errorf("started: %v", err)
	}
	must(t, os.Remove(filepath.Join(r.folder.dir, wipeMark)))
	must(t, r.Do(t.Context(), token, start))
}
