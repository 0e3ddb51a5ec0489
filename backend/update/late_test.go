package update_test

import (
	"fmt"
	"testing"

	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/backend/update"
)

// TestOneFailureAtEveryPoint has one write, removal, command or answer fail, and those behind it go on. What the command says of the engine
// then is true, and the timer's end, where it has left that to the timer, leads to an engine that works.
func TestOneFailureAtEveryPoint(t *testing.T) {
	late := 0
	for name, c := range changes(t) {
		for point, ended := 0, false; !ended; point++ {
			b := newBox(t, "old", c.previous)
			b.until, b.instead = point, func() error { return errOne }
			err := c.do(b.change())
			if ended = b.until >= 0; ended {
				b.ends(t, name, err, c.code, c.then)
				continue
			}
			if b.told(t, fmt.Sprintf("%s, one failure at %d", name, point), err, c) == "UPD-LATE" {
				late++
			}
		}
	}
	if late < 8 {
		t.Errorf("the timer had to end %d trials only", late)
	}
}

// TestTheTimerInTheMiddle has the timer elapse before each write, removal, command and answer; then all goes on, or one of those that follow
// fails, with programs that all tell the same version. No program gets the place whose engine has not answered.
func TestTheTimerInTheMiddle(t *testing.T) {
	codes := map[string]int{}
	for name, c := range changes(t) {
		for _, same := range []bool{false, true} {
			for elapses, reached := 0, true; reached; elapses++ {
				for fails, failed := -1, true; reached && failed && (same || fails < 0); fails++ {
					b := newBox(t, "old", c.previous)
					b.same, b.until, reached, failed = same, elapses, false, fails < 0
					b.instead = func() error {
						reached = true
						b.expire(t)
						b.until, b.instead = fails, func() error { failed = true; return errOne }
						return b.point()
					}
					err := c.do(b.change())
					if !reached {
						b.ends(t, name, err, c.code, c.then)
						continue
					}
					code := b.told(t, fmt.Sprintf("%s, the timer at %d, a failure at %d after it, same version %v", name, elapses, fails, same), err, c)
					if codes[code]++; fails < 0 && code != c.code && code != "UPD-BACK" {
						t.Errorf("%s, the timer alone at %d: %v", name, elapses, err)
					}
				}
			}
		}
	}
	t.Logf("ends by their codes: %v", codes)
	if codes[""] < 10 || codes["UPD-BACK"] < 10 || codes["UPD-LATE"] < 10 {
		t.Error("that are too few")
	}
}

// told judges what a command says that met a failure, and what the timer's end leads to.
func (b *box) told(t *testing.T, name string, err error, c changeCase) (code string) {
	t.Helper()
	program := b.Content(layout.Program)
	if err != nil {
		code = problem.From(err).Code
	}
	stands := b.works() && b.running == program && b.file == layout.Program
	switch {
	case err == nil && (c.code != "" || program != c.then || !stands),
		code == "UPD-BACK" && (program != "old" || !stands),
		code == "UPD-LATE" && b.timer == "",
		code == "UPD-STCK", code == "UPD-HAND",
		code != "UPD-LATE" && !stands:
		t.Errorf("%s: %v; the engine is of %q (%s), the program is %q, the timer %q", name, err, b.running, b.file, program, b.timer)
	}
	b.expire(t)
	b.good(t, name, c)
	return code
}

// TestOnceIsNotEnough: a program whose engine answers in the trial, and not when it has its place, is taken back.
func TestOnceIsNotEnough(t *testing.T) {
	trust, sign := signer(t)
	r, err := update.Read(release(t, "once", sign), trust)
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(t, "old", "")
	b.ends(t, "once", b.change().To(t.Context(), r), "UPD-BACK", "old")
}

// TestOneAtATime: while a trial goes on, or its timer runs, a second update changes nothing.
func TestOneAtATime(t *testing.T) {
	trust, sign := signer(t)
	r, err := update.Read(release(t, "new", sign), trust)
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(t, "old", "older")
	b.timer = "another"
	for _, err := range []error{b.change().To(t.Context(), r), b.change().Back(t.Context())} {
		if problem.From(err).Code != "UPD-TWCE" {
			t.Errorf("beside another: %v", err)
		}
	}
	if b.timer != "another" || b.running != "old" || b.Exists(layout.CandidateProgram) {
		t.Error("the second one has changed something")
	}
}
