package engine

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/backend/report"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// TestAnswersDoWhatTheWizardDoes lands one machine by answers that are typed, and another by the same answers from a document:
// the same review, machine and report. What is wrong with an answer is told alike.
func TestAnswersDoWhatTheWizardDoes(t *testing.T) {
	lands := func(answer func(r *rig, token string, values map[string]string)) (review view.Review, state map[string]string, answers []byte, told []report.JobStep) {
		w := newWorld()
		w.cable = true
		r := newRig(t, w)
		token := take(t, r)
		until(t, r, "the form", inState(view.Collecting))
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
		answer(r, token, map[string]string{"spec.clusterName": "Not A Name"})
		s, err := r.Snapshot(t.Context())
		must(t, err)
		if f := field(s, "spec.clusterName"); f.Problem.String() == "" {
			t.Errorf("a wrong name is fine: %+v", f)
		}
		answer(r, token, map[string]string{"spec.clusterName": "shop", "spec.baseDomain": "example.com"})
		review = *reviewed(t, r, token).Review
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: review.Fingerprint}))
		until(t, r, "the end", inState(view.IsDone))
		answers, err = r.Export(t.Context(), session.Answers)
		must(t, err)
		r.mu.Lock()
		told = r.core.reportJob(nil).Steps
		r.mu.Unlock()
		for i := range told {
			told[i].Seconds = 0
		}
		return review, map[string]string{"names": r.w.get("names"), "light": r.w.get("light")}, answers, told
	}
	review1, state1, answers1, told1 := lands(func(r *rig, token string, values map[string]string) {
		for path, value := range values {
			must(t, r.Set(t.Context(), token, path, value))
		}
	})
	review2, state2, answers2, told2 := lands(func(r *rig, token string, values map[string]string) {
		must(t, r.Load(t.Context(), token, values, "site.yaml"))
	})
	review1.Fingerprint, review2.Fingerprint = "", "" // which is another one on each machine
	if !reflect.DeepEqual(review1, review2) {
		t.Errorf("the reviews differ:\n%+v\n%+v", review1, review2)
	}
	if state1["names"] != "shop.example.com" || state1["names"] != state2["names"] || state1["light"] != state2["light"] {
		t.Errorf("the machines differ: %v, %v", state1, state2)
	}
	if len(told1) == 0 || !reflect.DeepEqual(told1, told2) {
		t.Errorf("the reports differ:\n%+v\n%+v", told1, told2)
	}
	if !bytes.Equal(answers1, answers2) {
		t.Errorf("the answers differ:\n%s\n%s", answers1, answers2)
	}
}

// TestNetworkConfigHidesTheAnswers: a desired state of nmstate takes the place of what was typed on the page Network, in the review and
// in the exported answers; without it those answers are back. A document that says both stays refused.
func TestNetworkConfigHidesTheAnswers(t *testing.T) {
	const state = "interfaces:\n  - name: eno1\n    type: ethernet\n    state: up\n    ipv4: {enabled: true, dhcp: true}\n"
	answers := map[string]string{
		"spec.network.interface": "eno1", "spec.network.vlanID": "120", "spec.network.bond.ports": "eno1, eno2", "spec.network.bond.mode": "active-backup",
		"spec.network.mtu": "1500", "spec.network.dnsServers": "198.51.100.53", "spec.network.dnsSearch": "example.com",
		"spec.network.ipv4.method": "static", "spec.network.ipv4.address": "198.51.100.10", "spec.network.ipv4.prefixLength": "24", "spec.network.ipv4.gateway": "198.51.100.1",
		"spec.network.ipv6.method": "static", "spec.network.ipv6.address": "2001:db8:51::10", "spec.network.ipv6.prefixLength": "64", "spec.network.ipv6.gateway": "2001:db8:51::1",
	}
	w := newWorld()
	w.asks = func(cfg *site.Config) []steps.Stage {
		var asking []steps.Stage // what asks, and looks at no machine
		for _, stage := range steps.Site(cfg, steps.Wiring{}) {
			for _, step := range stage.Steps {
				asking = append(asking, steps.Stage{ID: step.ID(), Steps: []steps.Step{onlyAsks{step}}})
			}
		}
		return asking
	}
	r := newRig(t, w)
	token := take(t, r)
	until(t, r, "the form", inState(view.Collecting))
	for _, path := range site.New().Paths() {
		if strings.HasPrefix(path, "spec.network.") && answers[path] == "" {
			t.Errorf("this test knows no answer for %s", path)
		}
	}
	for path, value := range answers {
		must(t, r.Set(t.Context(), token, path, value))
	}
	must(t, r.Set(t.Context(), token, "spec.networkConfig", state))
	r.mu.Lock()
	both, effective := r.core.draft.site.Clone(), func() *site.Config { cfg, _ := r.core.draft.effective(); return cfg }()
	r.mu.Unlock()
	if errs, _ := both.Validate(r.now()); errs.At("spec.networkConfig") == nil {
		t.Error("a document with both is accepted")
	}
	if errs, _ := effective.Validate(r.now()); errs.At("spec.networkConfig") != nil || len(errs.Below("spec.network")) > 0 {
		t.Errorf("refused: %v", errs)
	}
	if !effective.Spec.Network.IsZero() {
		t.Errorf("the work would read %+v", effective.Spec.Network)
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Review}))
	for _, problem := range until(t, r, "the review", inState(view.Reviewed)).Review.Problems {
		if strings.Contains(problem.String(), "spec.network") {
			t.Errorf("the review says %s", problem)
		}
	}
	text, err := r.Export(t.Context(), session.Answers)
	must(t, err)
	if strings.Contains(string(text), "  network:") || !strings.Contains(string(text), "networkConfig:") {
		t.Errorf("exported:\n%s", text)
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	must(t, r.Set(t.Context(), token, "spec.networkConfig", ""))
	r.mu.Lock()
	back, _ := r.core.draft.effective()
	r.mu.Unlock()
	if back.Spec.Network.IPv4.Address != answers["spec.network.ipv4.address"] || back.Spec.Network.Bond.Mode != "active-backup" {
		t.Errorf("back are %+v", back.Spec.Network)
	}
}

// onlyAsks is a step of which nothing counts but its questions.
type onlyAsks struct{ of steps.Step }

func (s onlyAsks) ID() string                                             { return s.of.ID() }
func (s onlyAsks) Title() message.Text                                    { return s.of.Title() }
func (s onlyAsks) Fields() []steps.Field                                  { return steps.FieldsOf(s.of) }
func (s onlyAsks) Run(context.Context, *backend.Node, steps.Report) error { return nil }
