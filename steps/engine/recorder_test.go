package engine

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// newRecorder is a recorder of a job that has not begun.
func newRecorder(t *testing.T) *recorder {
	t.Helper()
	folder, err := openFolder(t.TempDir())
	must(t, err)
	journal, _, _, err := openJournal(filepath.Join(folder.dir, "journal.jsonl"))
	must(t, err)
	t.Cleanup(func() { _, _ = journal.file.Close(), folder.close() })
	return &recorder{
		journal: journal, folder: folder, stock: &stock{}, job: newJob(), hub: newHub(nil), mask: &Masker{}, notices: notices{},
		log: slog.New(slog.DiscardHandler), now: time.Now,
	}
}

// TestRecorder: what a look sees is published and not written; what the work sees is; a fold reaches only the job.
func TestRecorder(t *testing.T) {
	r := newRecorder(t)
	cable := check.Check{ID: "cable", Title: message.T("Cable"), Status: check.Fail}
	r.check("names", cable, false)
	r.check("names", cable, false) // the same verdict
	if events, _ := r.hub.next(0, keptEvents); len(events) != 1 {
		t.Errorf("%d events of one verdict", len(events))
	}
	must(t, r.emit(event.Event{Kind: event.Started}))
	must(t, r.emit(event.Event{Kind: event.Started, Step: "names"}))
	r.fold(event.Event{Kind: event.Progressed, Step: "names", Progress: &progress.Progress{Done: 1}})
	if p := r.job.step("names").progress; p == nil || p.Done != 1 || r.seq != 3 {
		t.Errorf("progress %v, last event %d", p, r.seq)
	}
	r.check("names", cable, false)
	waived := cable
	waived.Status, waived.Waiver = check.Waived, &check.Waiver{By: "me", Reason: "spare port", Was: cable.Status}
	must(t, r.emit(event.Event{Kind: event.Checked, Step: "names", Check: &waived}))
	r.check("names", cable, true) // still waived, and news: it is told again
	if c := r.job.step("names").checks; len(c) != 1 || c[0].Status != check.Waived {
		t.Errorf("the checks are %+v", c)
	}
	data, err := readKept(r.folder.path("journal.jsonl"))
	must(t, err)
	var kinds []event.Kind
	for _, e := range readJournal(data).events {
		kinds = append(kinds, e.Kind)
	}
	want := []event.Kind{event.Started, event.Started, event.Checked, event.Checked}
	if len(kinds) != len(want) || kinds[0] != want[0] || kinds[3] != want[3] {
		t.Errorf("the journal holds %q", kinds)
	}
}

// TestEvidenceOfAWaivedCheck: while a form is open, each look finds other evidence for a waived check. The screens have it, the disk only what
// became of the check and of its waiver.
func TestEvidenceOfAWaivedCheck(t *testing.T) {
	r := newRecorder(t)
	clock := check.Check{ID: "clock", Title: message.T("Clock"), Status: check.Fail}
	looks := 0
	look := func(status check.Status, durable bool) {
		t.Helper()
		looks++
		clock.Status, clock.Evidence = status, []message.Text{message.F("off by %d ms", looks)}
		before := r.journal.size
		r.check("time", clock, false)
		checks := r.job.step("time").checks
		if now := r.journal.size > before; now != durable || len(checks) != 1 || checks[0].Evidence[0] != clock.Evidence[0] {
			t.Errorf("look %d: written %t, the checks are %+v", looks, now, checks)
		}
	}
	look(check.Fail, false)
	seen := waived(clock, check.Waiver{By: "Kim", Reason: "no server here"})
	must(t, r.emit(event.Event{Kind: event.Checked, Step: "time", Check: &seen, By: "tty1"}))
	look(check.Fail, false)
	look(check.Fail, false)
	look(check.Warn, true)
	look(check.Warn, false)
	must(t, r.emit(event.Event{Kind: event.Cleared, Step: "time", Check: &check.Check{ID: "clock"}}))
	look(check.Warn, true) // it came back
	must(t, r.emit(event.Event{Kind: event.Cancelled}))
	look(check.Warn, true) // of the next job
	look(check.Warn, false)
	look(check.Pass, true)
	look(check.Pass, false)
}

// TestRecorderOfABadDisk: what the journal refuses is not in the job, and every screen says so.
func TestRecorderOfABadDisk(t *testing.T) {
	r := newRecorder(t)
	must(t, r.emit(event.Event{Kind: event.Started}))
	file := r.journal.file
	r.journal.file = shut{errors.New("no room")}
	r.check("names", check.Check{ID: "cable", Status: check.Pass}, false)
	if len(r.job.step("names").checks) > 0 || r.notices["disk"].String() == "" || r.seq != 1 {
		t.Errorf("the job has %v, notices %q, last event %d", r.job.step("names").checks, r.notices, r.seq)
	}
	r.journal.file = file
	must(t, r.emit(event.Event{Kind: event.Done}))
	if r.notices["disk"].String() != "" {
		t.Errorf("notices %q on a disk that has room", r.notices)
	}
}

// TestQuestionAlone: who is first answers, and a deadline that is moved is shown where it is.
func TestQuestionAlone(t *testing.T) {
	q, clock := &question{}, time.Unix(1000, 0)
	asked := &view.Question{Question: steps.Question{Deadline: 60}, Until: clock.Add(time.Minute)}
	answer := q.open(asked.Question, reply{"no", "default"}, false)
	q.until = q.until.Add(-30 * time.Second) // half of the time has passed
	if !q.restart(asked, clock) || !q.view(asked).Until.After(clock.Add(59*time.Second)) || q.view(nil) != nil {
		t.Errorf("shown until %s", q.view(asked).Until)
	}
	if !q.hold(clock) || q.hold(clock) || !q.view(asked).Held || !q.view(asked).Until.After(clock.Add(heldTime-time.Second)) {
		t.Errorf("stopped, it is shown until %+v", q.view(asked))
	}
	q.until, q.holds = q.until.Add(-heldTime+30*time.Second), q.holds.Add(-heldTime+30*time.Second) // almost all of that has passed
	if !q.restart(asked, clock) || q.view(asked).Held || q.view(asked).Until.After(clock.Add(30*time.Second)) {
		t.Errorf("the countdown does not go on when the console goes away: %+v", q.view(asked))
	}
	if !q.hold(clock) || q.view(asked).Until.After(clock.Add(time.Minute)) {
		t.Errorf("a console that comes and goes holds it for ever: %+v", q.view(asked))
	}
	must(t, q.reply(reply{"yes", "tty1"}))
	if q.hold(clock) {
		t.Error("the countdown of an answered question was stopped")
	}
	if q.restart(asked, clock) {
		t.Error("the deadline of an answered question was moved")
	}
	if q.reply(reply{"no", "ttyS0"}) == nil {
		t.Error("a second answer was taken")
	}
	if got := <-answer; got.value != "yes" || got.by != "tty1" {
		t.Errorf("the answer is %v", got)
	}
	if got := <-q.open(asked.Question, reply{"no", "policy"}, true); got.by != "policy" {
		t.Errorf("the policy answers at once, not %v", got)
	}
}

// TestInspectorAlone: a step is due until it has looked at the answers as they are, and a look at earlier ones is dropped.
func TestInspectorAlone(t *testing.T) {
	r := newRecorder(t)
	d := newDraft(t)
	i := newInspector(d, r.job, r)
	list, _ := i.steps()
	step := list[0]
	due := func() bool { return i.due(d.site, step) }
	stale := func() []string { return i.staleChecks(d.site, step) }
	if !due() || !i.stale() {
		t.Error("nobody has looked, and no step is due")
	}
	look := func(drop func(error)) *look { return i.begin(step.ID(), drop) }
	first := look(func(error) {})
	i.check(first, check.Check{ID: "cable", Status: check.Pass})
	if i.end(first, nil, false) || due() || len(stale()) > 0 {
		t.Error("a step that has looked is due")
	}
	dropped := false
	second := look(func(error) { dropped = true })
	must(t, d.set("spec.clusterName", "shop"))
	i.outdate()
	if stale := stale(); !dropped || len(stale) != 1 || stale[0] != "cable" {
		t.Errorf("the look at other answers goes on: %t, stale: %q", !dropped, stale)
	}
	if !i.end(second, errOutdated, false) {
		t.Error("nobody looks at the new answers")
	}
	third := look(func(error) {})
	if i.end(third, nil, false); len(r.job.step(step.ID()).checks) > 0 {
		t.Error("a check outlived the look that did not tell it again")
	}
	must(t, r.emit(event.Event{Kind: event.Started}))
	if look(nil) != nil {
		t.Error("a step looks while the job works")
	}
}

// TestHandOverIsTold: the event of a hand-over carries it as a value; in the journal of an earlier release its text did.
func TestHandOverIsTold(t *testing.T) {
	first := journalV1 + "\n"
	for name, c := range map[string]struct {
		record string
		want   bool
	}{
		"this release":    {`{"seq":1,"time":"2026-11-23T12:00:00Z","kind":"done","text":"any words","job":{"state":"done","handedOver":true}}`, true},
		"earlier release": {`{"seq":1,"time":"2026-11-23T12:00:00Z","kind":"done","text":"handed over"}`, true},
		"another end":     {`{"seq":1,"time":"2026-11-23T12:00:00Z","kind":"done"}`, false},
	} {
		j := newJob()
		for _, e := range readJournal([]byte(first + c.record + "\n")).events {
			j.apply(e)
		}
		if j.state != view.IsDone || j.handedOver != c.want {
			t.Errorf("%s: state %s, handed over %t", name, j.state, j.handedOver)
		}
	}
}

// TestAnswersOfAJobAreTold: the event that begins a job carries the fingerprint of its answers as a value, and no text; in the journal
// of an earlier release its text did.
func TestAnswersOfAJobAreTold(t *testing.T) {
	for name, record := range map[string]string{
		"this release":    `{"seq":1,"time":"2026-11-23T12:00:00Z","kind":"started","fingerprint":"f0","job":{"state":"working","inputs":"a1b2"}}`,
		"earlier release": `{"seq":1,"time":"2026-11-23T12:00:00Z","kind":"started","fingerprint":"f0","text":"a1b2"}`,
	} {
		j := newJob()
		for _, e := range readJournal([]byte(journalV1 + "\n" + record + "\n")).events {
			if j.apply(e); e.Text.String() != "" {
				t.Errorf("%s: people would read %q", name, e.Text)
			}
		}
		if j.state != view.Working || j.inputs != "a1b2" || j.fingerprint != "f0" {
			t.Errorf("%s: state %s, inputs %s, fingerprint %s", name, j.state, j.inputs, j.fingerprint)
		}
	}
}

// TestTheReleaseBeforeGoesOn: it finds the answers of a job in the text of its first record. Nobody else is told that text.
func TestTheReleaseBeforeGoesOn(t *testing.T) {
	r := newRecorder(t)
	must(t, r.emit(event.Event{Kind: event.Started, Job: &event.Job{State: string(view.Working), Inputs: "5a5a"}}))
	data, err := readKept(r.folder.path("journal.jsonl"))
	must(t, err)
	if !strings.Contains(string(data), `"text":"5a5a"`) {
		t.Errorf("the record is %s", data)
	}
	published, _ := r.hub.next(0, keptEvents)
	for _, events := range [][]event.Event{published, readJournal(data).events} {
		if len(events) != 1 || events[0].Text != (message.Text{}) || events[0].Job == nil || events[0].Job.Inputs != "5a5a" {
			t.Errorf("it is told as %+v", events)
		}
	}
}
