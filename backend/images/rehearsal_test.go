package images

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
)

// rehearsing is a machine whose boot id is what boot holds, and what it ran.
func rehearsing(t *testing.T, fail string) (m *host.Machine, boot func(id string), ran *[]string) {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(StoreDir+"/generations/1/manifest.json", `{"generation":1}`)
	if err := os.Symlink("generations/1", filepath.Join(root, StoreDir, "current")); err != nil {
		t.Fatal(err)
	}
	write("/etc/containers/registries.conf", `[[registry]]
prefix = ""
location = "quay.io/openshift"
[[registry.mirror]]
location = "mirror.factory:5000/ocp"
`)
	ran = new([]string)
	m = host.Open(host.Options{Root: root, Exec: func(_ context.Context, c host.Command) (stdout, both []byte, err error) {
		line := strings.Join(c.Argv, " ")
		*ran = append(*ran, line)
		if fail != "" && strings.HasPrefix(line, fail) {
			return nil, nil, errors.New("exit status 32")
		}
		return nil, nil, nil
	}})
	boot = func(id string) { write("/proc/sys/kernel/random/boot_id", id+"\n") }
	return m, boot, ran
}

var needed = []Need{{Image: "quay.io/a/b@sha256:1", By: []string{"Pod x/y"}}, {Image: "localhost/pod:1"}, {Image: "busybox"}}

func TestRehearsalLastsOneBoot(t *testing.T) {
	m, boot, ran := rehearsing(t, "")
	boot("one")
	if _, err := askRehearsal(m, needed, map[string]pod{"x/y": {ready: true}}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := raise(t.Context(), m); err != nil || len(*ran) > 0 {
		t.Fatalf("in the boot that asked for it: %v, ran %q", err, *ran)
	}

	boot("two")
	for range 2 { // the unit may be started again
		if err := raise(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(*ran, "\n"); strings.Count(got, "mount --bind "+emptyPrimary+" "+Primary) != 1 {
		t.Errorf("ran:\n%s", got)
	}
	got, err := m.ReadFile(blockFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"localhost", "mirror.factory:5000/ocp", "quay.io", "quay.io/openshift"} {
		if !strings.Contains(string(got), "prefix = '"+want+"'\nlocation = '"+want+"'\nblocked = true") {
			t.Errorf("%s is not blocked:\n%s", want, got)
		}
	}
	if r, err := LoadRehearsal(m); err != nil || !r.Running() || !r.Begun || r.Boot != "two" || r.Passed() {
		t.Errorf("%+v, %v", r, err)
	}

	*ran = nil
	boot("three") // the power was cut, or the node was rebooted
	if err := raise(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if r, err := LoadRehearsal(m); err != nil || !r.Over() || m.Exists(blockFile) || len(*ran) != 1 || strings.HasPrefix((*ran)[0], "mount") {
		t.Errorf("after it: %+v, %v, block file %v, ran %q", r, err, m.Exists(blockFile), *ran)
	}
	boot("four")
	if err := raise(t.Context(), m); err != nil || len(*ran) != 1 {
		t.Errorf("a rehearsal that is over came again: %v, ran %q", err, *ran)
	}
}

// A store that cannot be covered must not be half a rehearsal: nothing is blocked, and the next boot is an ordinary one.
func TestRehearsalThatCannotBegin(t *testing.T) {
	m, boot, _ := rehearsing(t, "mount")
	boot("one")
	if _, err := askRehearsal(m, needed, nil, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	boot("two")
	if err := raise(t.Context(), m); err == nil {
		t.Error("no error")
	}
	if m.Exists(blockFile) {
		t.Error("the registries are blocked")
	}
	// CRI-O has all of it in its own store, which nothing covers.
	crio := critest.Start(t)
	crio.Images = append(crio.Images, critest.Image("1", 1000, needed[0].Image, needed[1].Image, "busybox:latest"))
	if r, err := (&Node{host: m, cri: crio.Client(t), now: time.Now}).Rehearse(t.Context()); err == nil || r.Passed() {
		t.Errorf("a start as usual passed: %+v, %v", r, err)
	}
	boot("three")
	if err := raise(t.Context(), m); err != nil {
		t.Error(err)
	}
	r, err := LoadRehearsal(m)
	if err != nil || !r.Over() || r.Finished || r.Generation != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if c := r.Check(); c.Status != check.Fail || len(c.Evidence) != 1 || !strings.Contains(c.Evidence[0].String(), "exit status 32") {
		t.Errorf("it does not say why: %+v", c)
	}
}

// A rehearsal that was begun by a release which did not note that proves nothing.
func TestRehearsalOfWhichNobodyKnowsThatItBegan(t *testing.T) {
	m, boot, _ := rehearsing(t, "")
	boot("two")
	if err := m.WriteFile(rehearsalFile, []byte(`{"phase":"running","boot":"two"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := (&Node{host: m, cri: critest.Start(t).Client(t), now: time.Now}).Rehearse(t.Context())
	if kept, lost := LoadRehearsal(m); err == nil || lost != nil || r.Passed() || kept.Passed() || len(kept.Check().Evidence) != 1 {
		t.Errorf("%v, %v: %+v, kept %+v", err, lost, r, kept)
	}
}

// A node that waits for its site has nothing that ends a rehearsal: what was asked for before the seal does not begin there.
func TestNoRehearsalOutlivesTheSeal(t *testing.T) {
	m, boot, ran := rehearsing(t, "")
	boot("one")
	if _, err := askRehearsal(m, needed, nil, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := m.WriteFile(layout.Armed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"two", "three"} {
		boot(id)
		if err := raise(t.Context(), m); err != nil {
			t.Error(err)
		}
		if err := m.Remove(layout.Armed); err != nil { // the site has released kubelet
			t.Fatal(err)
		}
	}
	if got := strings.Join(*ran, "\n"); strings.Contains(got, "mount") || m.Exists(blockFile) {
		t.Errorf("the armed node covered its store; its registries are blocked: %t; ran:\n%s", m.Exists(blockFile), got)
	}
	r, err := LoadRehearsal(m)
	if err != nil || !r.Over() || r.Passed() {
		t.Errorf("%+v, %v", r, err)
	}
	if said := r.Check().Evidence; len(said) != 1 || !strings.Contains(said[0].String(), "waits for its site") {
		t.Errorf("it does not say why it did not begin: %q", said)
	}
}

func TestRehearsalNeedsAStore(t *testing.T) {
	m, boot, _ := rehearsing(t, "")
	boot("one")
	if err := m.Remove(StoreDir + "/current/manifest.json"); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"no image store", "an empty image store"} {
		_, err := askRehearsal(m, needed, nil, time.Unix(1, 0))
		if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != "CTR-LACK" {
			t.Errorf("%s: %v", what, err)
		}
		if err := os.RemoveAll(m.Path(StoreDir)); err != nil {
			t.Fatal(err)
		}
		if _, err := layerstore.Init(m.Path(StoreDir)); err != nil {
			t.Fatal(err)
		}
	}
}
