package engine

import (
	"errors"
	"testing"

	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
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

// wider is a setting with other fields.
type wider struct {
	*setting
	fields []steps.Field
}

func (a *wider) Fields() []steps.Field { return a.fields }

// TestRestoreAfterRestart: the next engine does not take for found what a person typed before a power cut. A field goes back to what is found
// on the machine, to its default or to nothing; what was loaded and never typed over stays.
func TestRestoreAfterRestart(t *testing.T) {
	const found, loaded, typed, usual = "metadata.name", "spec.clusterName", "spec.baseDomain", "spec.policy.stabilityWindow"
	w := newWorld()
	w.more = []steps.Stage{{ID: "asks", Steps: []steps.Step{&wider{&setting{w: w, id: "asking", skip: "not asked for"}, []steps.Field{
		{Path: found, Kind: steps.Text, Label: message.T("Name of the node")}, {Path: usual, Kind: steps.Text, Label: message.T("Healthy for")},
	}}}}}
	r := newRig(t, w)
	token := take(t, r)
	must(t, r.Load(t.Context(), token, map[string]string{loaded: "shop"}, "file x.yaml"))
	was := until(t, r, "what is found", func(s *view.Snapshot) bool { return field(s, found).Value == "store-1" })
	must(t, r.Set(t.Context(), token, found, "wrong"))
	must(t, r.Set(t.Context(), token, typed, "wrong.example"))
	must(t, r.Set(t.Context(), token, usual, "5m"))
	r.reopen(t)
	token = take(t, r)
	s := until(t, r, "the form", inState(view.Collecting))
	for _, path := range []string{found, typed, usual} {
		if f := field(s, path); !f.Changed || f.Source != site.Typed {
			t.Errorf("after the restart: %+v", f)
		}
	}
	if f := field(s, found); f.Found != "store-1" {
		t.Errorf("what a look found beside what was typed is shown as %+v", f)
	}
	for _, step := range []string{"asking", "names"} {
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Restore, Step: step}))
	}
	s = until(t, r, "what is found again", func(s *view.Snapshot) bool { return field(s, found).Value == "store-1" })
	for _, path := range []string{found, loaded, typed, usual} {
		is, was := field(s, path), field(was, path)
		if is.Value != was.Value || is.Source != was.Source || is.Changed {
			t.Errorf("%s: %+v, not %+v", path, is, was)
		}
	}
}
