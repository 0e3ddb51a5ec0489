package engine

import (
	"errors"
	"strings"
	"testing"

	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/updates"
	"touchdown/steps/view"
	"touchdown/test/stick"
)

// sees waits until the engine knows of a release on a disk; "": of none.
func (r *updateRig) sees(t *testing.T, disk string) {
	t.Helper()
	until(t, r, "a look at "+disk, func(*view.Snapshot) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return strings.HasPrefix(r.core.release.at, disk) && (disk == "") == (r.core.release.at == "")
	})
}

// judged tells whether the release that is there was judged.
func (r *updateRig) judged() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.core.release.judged
}

// TestAClosedReleaseStaysClosed: while the node works nobody looks for releases, and the stick stays where it is.
func TestAClosedReleaseStaysClosed(t *testing.T) {
	r := newUpdateRig(t)
	r.open(t)
	token := take(t, r)
	waiting := make(chan struct{})
	r.w.onRun(func(string) { <-waiting })
	r.put(t, "sdb", "program 1.9.0")
	must(t, r.Do(t.Context(), token, session.Update.Close(r.offers(t, updates.Asks))))
	r.start(t, r, token, false)
	r.sees(t, "")
	close(waiting)
	until(t, r, "the end", inState(view.IsDone))
	r.sees(t, "sdb")
	if r.judged() {
		t.Error("it is asked about again")
	}
	stick.Pull(t, r.host.Root(), "sdb")
	r.sees(t, "")
	r.put(t, "sdb", "program 1.9.0")
	r.offers(t, updates.Asks)
}

// TestAnotherStickAfterAFailure: a person closes what became of the first, and is asked about the one that is there now.
func TestAnotherStickAfterAFailure(t *testing.T) {
	r := newUpdateRig(t)
	r.open(t)
	token := take(t, r)
	r.put(t, "sdb", "program 1.9.0")
	o := r.offers(t, updates.Asks)
	must(t, r.Do(t.Context(), token, accept(o, "")))
	must(t, updates.End(r.host.Machine, o.Program, &problem.Problem{Code: "UPD-BACK"}, r.clock()))
	failed := r.offers(t, updates.Failed)
	stick.Pull(t, r.host.Root(), "sdb")
	r.put(t, "sdc", "program 1.9.1")
	r.sees(t, "sdc")
	must(t, r.Do(t.Context(), token, session.Update.Close(failed)))
	if now := r.offers(t, updates.Asks); now.Device != "sdc" {
		t.Errorf("%+v", now)
	}
}

// TestNoProgramRunsAtWork: the look that found the release may have taken minutes.
func TestNoProgramRunsAtWork(t *testing.T) {
	r := newUpdateRig(t)
	r.open(t)
	token := take(t, r)
	r.put(t, "sdb", "program 1.9.0")
	r.offers(t, updates.Asks)
	found := r.o.Media.Releases()
	waiting := make(chan struct{})
	r.w.onRun(func(string) { <-waiting })
	defer close(waiting)
	r.start(t, r, token, false)
	r.sees(t, "")
	r.mu.Lock()
	turn := r.core.release.turn
	r.core.release.judged = true
	r.mu.Unlock()
	before := len(r.commands(layout.CheckedProgram))
	judgeRelease(&lander{Engine: r.Engine}, turn, found)
	if len(r.commands(layout.CheckedProgram)) > before || r.judged() {
		t.Errorf("its program ran, or it is never judged: %v", r.commands(layout.CheckedProgram))
	}
}

// TestAPersonClosesWhatWasShown: the answer to one stick is none to another that came meanwhile, and none to a failure.
func TestAPersonClosesWhatWasShown(t *testing.T) {
	r := newUpdateRig(t)
	r.open(t)
	token := take(t, r)
	r.put(t, "sdb", "program 1.9.0")
	o := r.offers(t, updates.Asks)
	for name, change := range map[string]func(*updates.Offer){
		"another program": func(o *updates.Offer) { o.Program = strings.Repeat("0", 64) },
		"another state":   func(o *updates.Offer) { o.State = updates.Failed },
		"another stick":   func(o *updates.Offer) { o.Volume = "TOUCHDOWN (sdc)" },
		"another problem": func(o *updates.Offer) { o.Problem = &event.Trouble{Code: "UPD-SGN"} },
		"nothing":         func(o *updates.Offer) { *o = updates.Offer{} },
	} {
		other := *o
		change(&other)
		if err := r.Do(t.Context(), token, session.Update.Close(&other)); !errors.Is(err, session.ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
	of := session.Update.Close(o)
	of.Reason = "" // as a console of the release before closes it
	must(t, r.Do(t.Context(), token, of))
	r.gone(t)
}
