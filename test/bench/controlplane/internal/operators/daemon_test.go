package operators

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/test/bench/controlplane/internal/durable"
)

func rendered(t *testing.T, specs map[string]string) []byte {
	t.Helper()
	in := poolInput{pullSecret: []byte("{}"), configs: map[string]string{}, specs: map[string]map[string]any{}}
	for name, text := range specs {
		var spec map[string]any
		if err := json.Unmarshal([]byte(text), &spec); err != nil {
			t.Fatal(err)
		}
		in.configs[name], in.specs[name] = name, spec
	}
	raw, err := in.ignition()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestDaemonBringsFilesAndPutsThemBack(t *testing.T) {
	root := t.TempDir()
	d := daemon{root: root}
	read := func(path string) string {
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return "none"
		}
		return string(data)
	}
	if err := durable.WriteFile(filepath.Join(root, "etc/chrony.conf"), []byte("of the system"), 0o644); err != nil {
		t.Fatal(err)
	}
	apply := func(name string, raw []byte) {
		t.Helper()
		if err := d.apply(t.Context(), name, raw, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte("packed"))
	_ = w.Close()
	one := `{"config":{"storage":{"files":[{"path":"/etc/chrony.conf","mode":384,"contents":{"source":"data:,of%20one"}},
	  {"path":"/etc/new","contents":{"compression":"gzip","source":"data:;base64,` + base64.StdEncoding.EncodeToString(packed.Bytes()) + `"}}]},
	  "systemd":{"units":[{"name":"kubelet.service","dropins":[{"name":"30-nodenet.conf","contents":"one"}]}]}}}`
	two := `{"config":{"systemd":{"units":[{"name":"kubelet.service","enabled":true,"dropins":[{"name":"05-gate.conf","contents":"two"}]}]},
	  "passwd":{"users":[{"name":"core","sshAuthorizedKeys":["ssh-ed25519 AAAA a"]}]}}}`

	apply("first", rendered(t, map[string]string{"99-one": one, "99-two": two}))
	for path, want := range map[string]string{
		"etc/chrony.conf": "of one", "etc/new": "packed", "var/lib/kubelet/config.json": "{}",
		"etc/systemd/system/kubelet.service.d/30-nodenet.conf": "one", "etc/systemd/system/kubelet.service.d/05-gate.conf": "two",
		"home/core/.ssh/authorized_keys.d/ignition": "ssh-ed25519 AAAA a\n",
	} {
		if got := read(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if info, err := os.Stat(filepath.Join(root, "etc/chrony.conf")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of chrony.conf: %v, %v", info.Mode(), err)
	}
	if m, name, err := d.current(); err != nil || name != "first" || !m.enabled()["kubelet.service"] {
		t.Errorf("current is %q (%v), enabled %v", name, err, m.enabled())
	}

	second := rendered(t, map[string]string{"99-two": two})
	old, _, err := d.current()
	if err != nil {
		t.Fatal(err)
	}
	next, err := parseMachine(second)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.drift(old); err != nil {
		t.Error(err)
	}
	if _, _, err := d.files(old, next); err != nil { // the power fails before it is noted, and all is done once more
		t.Fatal(err)
	}
	if err := d.drift(old); err == nil || !strings.Contains(err.Error(), "/etc/chrony.conf") {
		t.Errorf("a cut-off update shows as %v", err)
	}
	apply("second", second)
	for path, want := range map[string]string{
		"etc/chrony.conf": "of the system", "etc/new": "none",
		"etc/systemd/system/kubelet.service.d/30-nodenet.conf": "none", "etc/systemd/system/kubelet.service.d/05-gate.conf": "two",
	} {
		if got := read(path); got != want {
			t.Errorf("after the removal %s is %q, want %q", path, got, want)
		}
	}
}

func TestLaterNamesWin(t *testing.T) {
	raw := rendered(t, map[string]string{
		"50-a": `{"config":{"storage":{"files":[{"path":"/x","contents":{"source":"data:,a"}}]},"systemd":{"units":[{"name":"u.service","contents":"a","dropins":[{"name":"d","contents":"a"}]}]}}}`,
		"99-b": `{"config":{"storage":{"files":[{"path":"/x","contents":{"source":"data:,b"}}]},"systemd":{"units":[{"name":"u.service","enabled":true,"dropins":[{"name":"d","contents":"b"},{"name":"e","contents":"b"}]}]}}}`,
	})
	m, err := parseMachine(raw)
	if err != nil {
		t.Fatal(err)
	}
	files := m.files()
	for path, want := range map[string]string{
		"/x": "b", "/etc/systemd/system/u.service": "a", "/etc/systemd/system/u.service.d/d": "b", "/etc/systemd/system/u.service.d/e": "b",
	} {
		if got := string(files[path].data); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}
