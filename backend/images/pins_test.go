package images

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/problem"
)

// machine has the given files; what it runs is kept.
func machine(t *testing.T, files map[string]string) (m *host.Machine, ran *[]string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ran = new([]string)
	return host.Open(host.Options{Root: root, Exec: func(_ context.Context, c host.Command) (stdout, both []byte, err error) {
		*ran = append(*ran, strings.Join(c.Argv, " "))
		return nil, nil, nil
	}}), ran
}

func code(err error) string {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Code
	}
	return ""
}

func TestPinKeepsThePinsOfOthers(t *testing.T) {
	m, ran := machine(t, map[string]string{
		"/etc/crio/crio.conf":                    "[crio.image]\npinned_images = [\"never/seen:1\"]\n",
		"/etc/crio/crio.conf.d/50-pinned-images": "not read: no .conf\n",
		"/etc/crio/crio.conf.d/50-pinned.conf":   "[crio.image]\npinned_images = [\"by/operator:1\"]\n",
		"/etc/crio/crio.conf.d/99-runtime.conf":  "[crio.runtime]\nlog_level = \"info\"\n",
	})
	for range 2 {
		if err := pin(t.Context(), m, []string{"b/b@sha256:1", "a/a:1", "b/b@sha256:1"}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := m.ReadFile(pinsFile)
	if err != nil || !strings.Contains(string(got), "pinned_images = ['a/a:1', 'b/b@sha256:1', 'by/operator:1']") {
		t.Errorf("%v\n%s", err, got)
	}
	if strings.Contains(string(got), "never/seen") {
		t.Error("what another drop-in hides was pinned again")
	}
	if len(*ran) != 1 || (*ran)[0] != "systemctl reload crio.service" {
		t.Errorf("ran %q: CRI-O is told once, when something changed", *ran)
	}
}

func TestPinRefusesWhatItCannotPin(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"CTR-TML": {"/etc/crio/crio.conf.d/10-bad.conf": "[crio\n"},
		"CTR-PNS": {"/etc/crio/crio.conf.d/70-late.conf": "[crio.image]\npinned_images = []\n"},
	} {
		m, ran := machine(t, files)
		if err := pin(t.Context(), m, []string{"a:1"}); code(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
		if m.Exists(pinsFile) || len(*ran) > 0 {
			t.Errorf("%s: something was changed all the same", want)
		}
	}
}

func TestKeepPrimaryIsReadByCRIO(t *testing.T) {
	m, _ := machine(t, nil)
	if err := KeepPrimary(m); err != nil {
		t.Fatal(err)
	}
	got, err := m.ReadFile("/etc/crio/crio.conf.d/60-touchdown-repair.conf")
	if err != nil || !strings.Contains(string(got), "[crio]\ninternal_repair = false\n") {
		t.Errorf("%v\n%s", err, got)
	}
}

// What an undo puts back is what was there: nothing, or an earlier seeding's.
func TestConfigIsPutBack(t *testing.T) {
	for name, before := range map[string]map[string]string{"nothing": {}, "an earlier one": {pinsFile: "[crio.image]\npinned_images = [\"a:1\"]\n"}} {
		m, ran := machine(t, before)
		saved, err := SavedConfig(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(pin(t.Context(), m, []string{"b:1"}), KeepPrimary(m)); err != nil {
			t.Fatal(err)
		}
		*ran = nil
		for range 2 {
			if err := RestoreConfig(t.Context(), m, saved); err != nil {
				t.Fatal(err)
			}
		}
		files, err := m.Glob("/etc/crio/crio.conf.d/*")
		if err != nil || len(files) != len(before) {
			t.Errorf("%s: %v is left, %v", name, files, err)
		}
		if text, _ := m.ReadFile(pinsFile); string(text) != before[pinsFile] {
			t.Errorf("%s: the pins are %q", name, text)
		}
		if strings.Join(*ran, ", ") != "systemctl reload crio.service" {
			t.Errorf("%s: ran %v", name, *ran)
		}
	}
}
