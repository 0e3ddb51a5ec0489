package engine

import (
	"bytes"
	"reflect"
	"testing"

	"touchdown/backend/report"
)

// TestAnswersDoWhatTheWizardDoes lands one machine by answers that are typed, and another by the same answers from a document:
// the same review, machine and report. What is wrong with an answer is told alike.
func TestAnswersDoWhatTheWizardDoes(t *testing.T) {
	lands := func(answer func(r *rig, pen string, values map[string]string)) (review ReviewView, state map[string]string, answers []byte, told []report.JobStep) {
		w := newWorld()
		w.cable = true
		r := newRig(t, w)
		pen := take(t, r)
		until(t, r, "the form", inState(Collecting))
		must(t, r.Do(t.Context(), pen, Action{Verb: Inspect}))
		answer(r, pen, map[string]string{"spec.clusterName": "Not A Name"})
		s, err := r.Snapshot(t.Context())
		must(t, err)
		if f := field(s, "spec.clusterName"); f.Problem.String() == "" {
			t.Errorf("a wrong name is fine: %+v", f)
		}
		answer(r, pen, map[string]string{"spec.clusterName": "shop", "spec.baseDomain": "example.com"})
		review = *reviewed(t, r, pen).Review
		must(t, r.Do(t.Context(), pen, Action{Verb: Start, Fingerprint: review.Fingerprint}))
		until(t, r, "the end", inState(IsDone))
		answers, err = r.Export(t.Context(), Answers)
		must(t, err)
		r.mu.Lock()
		told = r.core.reportJob(nil).Steps
		r.mu.Unlock()
		for i := range told {
			told[i].Seconds = 0
		}
		return review, map[string]string{"names": r.w.get("names"), "light": r.w.get("light")}, answers, told
	}
	review1, state1, answers1, told1 := lands(func(r *rig, pen string, values map[string]string) {
		for path, value := range values {
			must(t, r.Set(t.Context(), pen, path, value))
		}
	})
	review2, state2, answers2, told2 := lands(func(r *rig, pen string, values map[string]string) {
		must(t, r.Load(t.Context(), pen, values, "site.yaml"))
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
