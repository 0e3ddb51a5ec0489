package engine

import (
	"errors"
	"testing"

	"touchdown/steps/session"
)

// TestRestore: a field, or all that a step asks, goes back to what was loaded, with its source; a secret that was loaded is not
// lost by it.
func TestRestore(t *testing.T) {
	each(t, func(t *testing.T, _ *rig, s session.Session) {
		token := take(t, s)
		must(t, s.Load(t.Context(), token, map[string]string{
			"spec.clusterName": "shop", "spec.pullSecret": `{"auths":{"quay.io":{"auth":"dTpwYXNz"}}}`,
		}, "file x.yaml"))
		type values struct {
			name, nameFrom, domain string
			secret, secretChanged  bool
		}
		is := func(want values) {
			t.Helper()
			snapshot, err := s.Snapshot(t.Context())
			must(t, err)
			name, secret := field(snapshot, "spec.clusterName"), field(snapshot, "spec.pullSecret")
			got := values{name.Value, name.Source, field(snapshot, "spec.baseDomain").Value, secret.SecretSet, secret.Changed}
			if got != want {
				t.Errorf("%+v, not %+v", got, want)
			}
		}
		spoil := func() {
			t.Helper()
			must(t, s.Set(t.Context(), token, "spec.clusterName", "other"))
			must(t, s.Set(t.Context(), token, "spec.baseDomain", "example.com"))
			must(t, s.Set(t.Context(), token, "spec.pullSecret", ""))
			is(values{"other", "typed", "example.com", false, true})
		}
		spoil()
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Restore, Path: "spec.pullSecret"}))
		is(values{"other", "typed", "example.com", true, false})
		spoil()
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Restore, Step: "names"}))
		is(values{"shop", "file x.yaml", "", true, false})
		for _, a := range []session.Action{{Verb: session.Restore, Path: "spec.none"}, {Verb: session.Restore, Step: "none"}, {Verb: session.Restore, Step: "light"}} {
			if err := s.Do(t.Context(), token, a); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("%+v: %v", a, err)
			}
		}
	})
}
