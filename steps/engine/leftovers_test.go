package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/message"
	"touchdown/steps/view"
)

const registryPull = `{"auths":{"r.example.com":{"auth":"dXNlcjpodW50ZXIyaHVudGVy"}}}`

// TestLeftoversOfAPowerCut: what a write leaves that was cut off is not a field, and goes away.
func TestLeftoversOfAPowerCut(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.clusterName", "shop"))
	must(t, r.Set(t.Context(), token, "spec.pullSecret", registryPull))
	must(t, r.Close())
	must(t, os.MkdirAll(filepath.Join(r.dir, "saved", "light"), 0o700))
	left := []string{
		"secrets/.spec.pullSecret.123456", "secrets/.spec.pullSecret.ABCDEFGHIJKLMNOPQRSTUVWXYZ", "saved/light/.light.ABCDEFGHIJKLMNOPQRSTUVWXYZ",
		".site.yaml.ABCDEFGHIJKLMNOPQRSTUVWXYZ", ".sources.json.42", ".key.42",
	}
	for _, name := range left {
		must(t, os.WriteFile(filepath.Join(r.dir, name), []byte(`{"auths"`), 0o600))
	}
	r.open(t)
	s := until(t, r, "the form", inState(view.Collecting))
	if field(s, "spec.clusterName").Value != "shop" || !field(s, "spec.pullSecret").SecretSet || len(s.Notices) > 0 {
		t.Errorf("name %q, secret set %t, notices %q", field(s, "spec.clusterName").Value, field(s, "spec.pullSecret").SecretSet, s.Notices)
	}
	for _, name := range left {
		if _, err := os.Lstat(filepath.Join(r.dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}

// TestUnreadableSecretLosesOnlyItself: the other answers and secrets stay, and the person reads which one has to be entered again.
func TestUnreadableSecretLosesOnlyItself(t *testing.T) {
	for what, spoil := range map[string]func(path string) error{
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":   func(path string) error { return os.Symlink("/dev/null", path) },
		"a byte": func(path string) error {
			return os.WriteFile(path, []byte(strings.Replace(registryPull, "r.ex", "s.ex", 1)), 0o600)
		},
		"gone": func(string) error { return nil },
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, newWorld())
			token := take(t, r)
			must(t, r.Set(t.Context(), token, "spec.clusterName", "shop"))
			must(t, r.Set(t.Context(), token, "spec.pullSecret", registryPull))
			must(t, r.Set(t.Context(), token, "spec.proxy.httpsProxy", "http://u:hunter2hunter@proxy.example.com:3128"))
			must(t, r.Close())
			path := filepath.Join(r.dir, "secrets", "spec.pullSecret")
			must(t, os.Remove(path))
			must(t, spoil(path))
			r.open(t)
			s := until(t, r, "the form", inState(view.Collecting))
			proxy := r.answer("spec.proxy.httpsProxy")
			if field(s, "spec.clusterName").Value != "shop" || proxy == "" || field(s, "spec.pullSecret").SecretSet {
				t.Errorf("name %q, proxy %q, pull secret set %t", field(s, "spec.clusterName").Value, proxy, field(s, "spec.pullSecret").SecretSet)
			}
			if all := strings.Join(message.English(s.Notices), " "); !strings.Contains(all, "spec.pullSecret") || strings.Contains(all, "auths") {
				t.Errorf("notices %q", s.Notices)
			}
			must(t, r.Set(t.Context(), take(t, r), "spec.pullSecret", registryPull))
			r.reopen(t)
			if s := until(t, r, "the form", inState(view.Collecting)); !field(s, "spec.pullSecret").SecretSet || len(s.Notices) > 0 {
				t.Errorf("entered again: set %t, notices %q", field(s, "spec.pullSecret").SecretSet, s.Notices)
			}
		})
	}
}
