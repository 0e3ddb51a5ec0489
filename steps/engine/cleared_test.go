package engine

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

const certPath = "spec.ingressCert.cert"

// certificate is a step that has something to say only while a certificate is given.
type certificate struct{ cfg *site.Config }

func (certificate) ID() string          { return "certificate" }
func (certificate) Title() message.Text { return message.T("Look at the certificate") }
func (certificate) Fields() []steps.Field {
	return []steps.Field{{Path: certPath, Kind: steps.PEM, Label: message.T("Apps certificate"), Optional: true}}
}

func (certificate) Run(context.Context, *backend.Node, steps.Report) error { return nil }

func (s certificate) Inspect(_ context.Context, _ *backend.Node, report steps.Report) error {
	c := check.Check{ID: "apps-cert", Title: message.T("Apps certificate"), Status: check.Fail, Observed: message.T("no certificate"), Fix: message.T("Give another one.")}
	switch strings.TrimSpace(s.cfg.Spec.IngressCert.Cert) {
	case "":
		return nil
	case "unreadable":
		return errors.New("the disk does not answer")
	case "good":
		c = check.Check{ID: "apps-cert", Title: message.T("Apps certificate"), Status: check.Pass}
	}
	report.Check(c)
	return nil
}

func withCertificate() *world {
	w := newWorld()
	w.asks = func(cfg *site.Config) []steps.Stage {
		return []steps.Stage{{ID: "certificate", Steps: []steps.Step{certificate{cfg}}}}
	}
	return w
}

// certChecks are the checks of the certificate's step, by ID.
func certChecks(t *testing.T, s session.Session) map[string]check.Check {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context())
	must(t, err)
	out := map[string]check.Check{}
	for _, c := range snapshot.Stages[2].Steps[0].Checks {
		out[c.ID] = c
	}
	return out
}

// certify gives the certificate's field a value and has the machine looked at.
func certify(t *testing.T, s session.Session, token, value string) map[string]check.Check {
	t.Helper()
	must(t, s.Set(t.Context(), token, certPath, value))
	must(t, s.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
	return certChecks(t, s)
}

// TestCheckGoesWithItsCause: a check that the machine no longer gives a reason for neither stays on a screen nor keeps the
// work from starting, and whoever follows the events alone knows as much.
func TestCheckGoesWithItsCause(t *testing.T) {
	eachIn(t, withCertificate, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		r.fill(t, s, token)
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Edit}))
		if c := certify(t, s, token, "nonsense")["apps-cert"]; c.Status != check.Fail {
			t.Fatalf("nonsense: %+v", c)
		}
		if p := reviewed(t, s, token).Review.Problems; !slices.Contains(message.English(p), "Apps certificate: no certificate. Give another one.") {
			t.Fatalf("problems with nonsense: %q", p)
		}
		if c, there := certify(t, s, token, "")["apps-cert"]; there {
			t.Errorf("without a certificate: %+v", c)
		}
		snapshot := reviewed(t, s, token)
		if p := snapshot.Review.Problems; len(p) > 0 {
			t.Fatalf("problems without a certificate: %q", p)
		}
		if told := toldChecks(t, s, snapshot.Seq); told["certificate"]["apps-cert"] || !told["names"]["cable"] {
			t.Errorf("the events leave %v", told)
		}
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: snapshot.Review.Fingerprint}))
		until(t, s, "the end", inState(view.IsDone))
	})
}

// toldChecks are the checks that the events up to a number leave, by step.
func toldChecks(t *testing.T, s session.Session, upTo uint64) map[string]map[string]bool {
	t.Helper()
	enough := errors.New("enough")
	told := map[string]map[string]bool{}
	err := s.Events(t.Context(), "", 0, func(events []event.Event) error {
		for _, e := range events {
			if e.Seq > upTo {
				return enough
			}
			if e.Kind == event.Checked || e.Kind == event.Cleared {
				if told[e.Step] == nil {
					told[e.Step] = map[string]bool{}
				}
				told[e.Step][e.Check.ID] = e.Kind == event.Checked
			}
		}
		if events[len(events)-1].Seq == upTo {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	return told
}

// TestWaiverOutlivesItsCheck: what a person took responsibility for is not asked for again when the same check fails again, over
// a restart too, until it has passed once.
func TestWaiverOutlivesItsCheck(t *testing.T) {
	r := newRig(t, withCertificate())
	token := take(t, r)
	reopen := func() {
		t.Helper()
		must(t, r.Close())
		r.open(t)
		token = take(t, r)
		until(t, r, "the form", inState(view.Collecting))
	}
	until(t, r, "the form", inState(view.Collecting))
	certify(t, r, token, "nonsense")
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Waive, Step: "certificate", Check: "apps-cert", By: "Kim", Reason: "it comes tomorrow"}))
	if c, there := certify(t, r, token, "")["apps-cert"]; there {
		t.Errorf("without a certificate: %+v", c)
	}
	if i := slices.IndexFunc(journalOf(t, r), func(e event.Event) bool { return e.Kind == event.Cleared }); i < 0 {
		t.Error("the journal has the waived check and not its end")
	}
	reopen()
	if c := certify(t, r, token, "nonsense")["apps-cert"]; c.Status != check.Waived || c.Waiver == nil || c.Waiver.By != "Kim" {
		t.Errorf("nonsense again: %+v", c)
	}
	if c := certify(t, r, token, "good")["apps-cert"]; c.Status != check.Pass {
		t.Errorf("a good one: %+v", c)
	}
	reopen()
	if c := certify(t, r, token, "nonsense")["apps-cert"]; c.Status != check.Fail {
		t.Errorf("nonsense after a good one: %+v", c)
	}
}

// journalOf are the events on the disk.
func journalOf(t *testing.T, r *rig) []event.Event {
	t.Helper()
	journal, events, _, err := openJournal(filepath.Join(r.dir, "journal.jsonl"))
	must(t, err)
	must(t, journal.file.Close())
	return events
}

// port is a step whose look depends on what the world says of "port".
type port struct{ w *world }

func (port) ID() string                                             { return "port" }
func (port) Title() message.Text                                    { return message.T("Look at the port") }
func (port) Run(context.Context, *backend.Node, steps.Report) error { return nil }
func (port) Reads() []string                                        { return []string{"spec.clusterName"} }

func (s port) Inspect(ctx context.Context, _ *backend.Node, report steps.Report) error {
	switch s.w.get("port") {
	case "down":
		report.Check(check.Check{ID: "link", Title: message.T("Link"), Status: check.Fail, Observed: message.T("none")})
	case "broken":
		return errors.New("the card does not answer")
	case "hangs":
		<-ctx.Done()
	}
	return nil
}

// TestLookThatBrokeOffClearsNothing: a look that failed or was stopped does not know what is no longer there.
func TestLookThatBrokeOffClearsNothing(t *testing.T) {
	w := newWorld()
	w.more = []steps.Stage{{ID: "port", Steps: []steps.Step{port{w}}}}
	r := newRig(t, w)
	token := take(t, r)
	checks := func() string {
		s, err := r.Snapshot(t.Context())
		must(t, err)
		var out []string
		for _, c := range s.Stages[2].Steps[0].Checks {
			out = append(out, c.ID+" "+string(c.Status))
		}
		return strings.Join(out, ", ")
	}
	inspect := func(state, want string) {
		t.Helper()
		w.set("port", state)
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
		if got := checks(); got != want {
			t.Errorf("%s: %q, not %q", state, got, want)
		}
	}
	until(t, r, "the form", inState(view.Collecting))
	inspect("down", "link fail")
	inspect("broken", "link fail, port-inspect warn")
	inspect("down", "link fail")
	w.set("port", "hangs")
	ended := make(chan error, 1)
	go func() { ended <- r.Do(t.Context(), token, session.Action{Verb: session.Inspect}) }()
	until(t, r, "the look", func(s *view.Snapshot) bool { return s.Stages[2].Steps[0].Inspecting })
	w.set("port", "down")
	must(t, r.Load(t.Context(), token, map[string]string{"spec.clusterName": "shop"}, "file x.yaml"))
	must(t, <-ended)
	events, _ := r.hub.next(0, keptEvents)
	if slices.ContainsFunc(events, func(e event.Event) bool { return e.Kind == event.Cleared && e.Check.ID == "link" }) {
		t.Error("a look that was stopped cleared what it had not come to")
	}
	inspect("down", "link fail")
	inspect("well", "")
}

// TestLookAtOtherAnswersThatFailed: what was seen of earlier answers goes even when the later ones cannot be checked.
func TestLookAtOtherAnswersThatFailed(t *testing.T) {
	r := newRig(t, withCertificate())
	token := take(t, r)
	until(t, r, "the form", inState(view.Collecting))
	certify(t, r, token, "nonsense")
	checks := certify(t, r, token, "unreadable")
	if _, there := checks["apps-cert"]; there || checks["certificate-inspect"].Status != check.Warn {
		t.Errorf("%+v", checks)
	}
}
