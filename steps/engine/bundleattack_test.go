package engine

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/backend/problem"
	"touchdown/backend/support"
	"touchdown/steps/chosen"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/secrets"
	"touchdown/test/stick"
)

// planted is an engine whose every source has all kinds of secrets in it.
func planted(t *testing.T) *sealedRig {
	r := newSealedRig(t)
	var all strings.Builder
	all.WriteString(secrets.Kinds[secrets.CutKey] + "\n")
	for name, text := range secrets.Kinds {
		if name == secrets.CutKey {
			continue
		}
		all.WriteString("an ordinary line\n" + text + "\n")
	}
	log := filepath.Join(t.TempDir(), "engine.log")
	for _, file := range []string{log, filepath.Join(r.dir, "report.txt"), filepath.Join(r.dir, "report.json"), filepath.Join(r.dir, "hosts.txt")} {
		must(t, os.WriteFile(file, []byte(all.String()), 0o600))
	}
	for _, program := range []string{"journalctl", "nmcli", "ip", "systemctl", "df", "crictl"} {
		r.host.On(program, all.String(), nil)
	}
	o := r.options()
	o.LogFile, o.Media = log, media.NewWatcher(r.host.Machine)
	reachable(t, &o)
	e, err := Open(o)
	must(t, err)
	r.Engine = e
	t.Cleanup(func() { _ = e.Close() })
	return r
}

// TestABundleHasNoSecret: by every way that it takes out of the node.
func TestABundleHasNoSecret(t *testing.T) {
	r := planted(t)
	stick.Plug(t, r.host.Root(), "sdb", stick.Files(t, "MINE", volume.File{Name: "photo.jpg", Data: []byte("a photo")}))
	whole, err := r.Export(t.Context(), session.Bundle)
	must(t, err)
	short, err := r.Export(t.Context(), session.Document(support.Summary))
	must(t, err)
	told, err := r.Export(t.Context(), session.BundleOnStick)
	must(t, err)
	var saved chosen.Saved
	must(t, json.Unmarshal(told, &saved))
	data, _, err := media.NewWatcher(r.host.Machine).ReadFile(t.Context(), idOf(t, r), saved.File)
	must(t, err)
	if saved.Volume != "MINE (sdb)" || saved.File != "touchdown-support.tar.gz" || saved.Bytes != len(data) || len(saved.SHA256) != 64 {
		t.Errorf("%+v of %d bytes", saved, len(data))
	}
	offer := begins(t, r, r.o)
	for name, archive := range map[string][]byte{"bundle": whole, "summary": short, "stick": data, "network": fetched(t, offer.URLs[0])} {
		text := unpacked(t, archive)
		for _, want := range []string{"engine.log", "report.txt", "report.json", "hosts.txt", "node/kubelet.txt", "node/nmcli-connections.txt", "node/containers.txt", "an ordinary line"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s", name, want)
			}
		}
		for line := range strings.Lines(text) {
			if secrets.Leak(line) {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}

// idOf is the name of the only volume.
func idOf(t *testing.T, r *sealedRig) string {
	t.Helper()
	volumes, err := media.NewWatcher(r.host.Machine).Volumes(t.Context())
	must(t, err)
	if len(volumes) != 1 {
		t.Fatalf("%+v", volumes)
	}
	return volumes[0].ID
}

// TestABundleWithoutAStick: is told apart from what failed, over the socket too; a console that is locked writes to none.
func TestABundleWithoutAStick(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		until(t, s, "the form", inState(view.Collecting))
		if _, err := s.Export(t.Context(), session.BundleOnStick); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("an engine without media: %v", err)
		}
		r.o.Media = media.NewWatcher(r.host.Machine)
		_, err := s.Export(t.Context(), session.BundleOnStick)
		if !errors.Is(err, session.ErrNotFound) || problem.From(err).Code != "MED-LACK" {
			t.Errorf("without a stick: %v", err)
		}
		tty, serial := idle.At(t.Context(), "tty1"), idle.At(t.Context(), "ttyS0")
		must(t, s.Set(tty, take(t, s), "spec.console.pin", testPIN))
		r.beginsLock(t)
		if _, err := s.Export(serial, session.BundleOnStick); !errors.Is(err, idle.ErrLocked) {
			t.Errorf("a locked console: %v", err)
		}
	})
}
