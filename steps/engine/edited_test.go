package engine

import (
	"testing"
	"time"

	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// TestAnswersThatWereHandedOver: the snapshot tells whether the answers are still those, also after a restart, and for as long as another job's
// are not the node's own.
func TestAnswersThatWereHandedOver(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	do := func(verb session.Verb, value string) {
		t.Helper()
		must(t, r.Do(t.Context(), token, session.Action{Verb: verb, Value: value}))
	}
	is := func(what string, state view.State, edited bool) {
		t.Helper()
		if s := until(t, r, what, inState(state)); s.Edited != edited {
			t.Errorf("%s: edited is %t", what, s.Edited)
		}
	}
	r.start(t, r, token, false)
	is("done", view.IsDone, false)
	do(session.HandOver, "")
	is("handed over", view.IsDone, false)
	do(session.Unlock, "node")
	do(session.Edit, "")
	is("in the form", view.Collecting, false)
	must(t, r.Set(t.Context(), token, "spec.console.pin", "739215"))
	is("with a secret", view.Collecting, false)
	must(t, r.Set(t.Context(), token, "spec.additionalNTPSources", "192.0.2.1"))
	is("with another time server", view.Collecting, true)
	r.start(t, r, token, false)
	is("moved", view.IsDone, false)
	do(session.Undo, "")
	is("the move undone", view.IsUndone, true)
	r.reopen(t)
	token = take(t, r)
	is("the move undone, by the journal", view.IsUndone, true)
}

// TestAnswersOfAHandOverCanBeLandedWith: what stays says nothing that is a mistake without the secrets that went.
func TestAnswersOfAHandOverCanBeLandedWith(t *testing.T) {
	cfg := site.New()
	for path, value := range map[string]string{
		"spec.proxy.httpProxy": "http://user:secret@proxy.example.org:3128", "spec.proxy.noProxy": "intern.example.org", "spec.monitor.url": "https://monitor.example.org/",
	} {
		must(t, cfg.Set(path, value))
	}
	cfg.Spec.Monitor.Cert, cfg.Spec.Monitor.Key = "a certificate", "its key"
	left := handedOver(cfg)
	errs, _ := left.Validate(time.Now())
	for _, path := range []string{"spec.proxy.httpProxy", "spec.proxy.noProxy", "spec.monitor.cert", "spec.monitor.key"} {
		if value, _ := left.Get(path); value != "" || left.Sources[path] != "" || errs.At(path) != nil {
			t.Errorf("%s stays: %q, %q, %v", path, value, left.Sources[path], errs.At(path))
		}
	}
	if left.Spec.Monitor.URL == "" || cfg.Spec.Proxy.NoProxy == "" {
		t.Error("the monitor is gone, or the answers themselves changed")
	}
}
