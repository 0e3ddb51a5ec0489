package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/update"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/site/pin"
	"touchdown/steps/updates"
	"touchdown/steps/view"
	"touchdown/test/stick"
)

// coming is the notice of the countdown of an order that has just begun.
const coming = "Touchdown is updated in 60 s by the order on the stick. Any key stops it."

// newOrderRig is newUpdateRig whose clock stands.
func newOrderRig(t *testing.T) *updateRig {
	t.Helper()
	r := newUpdateRig(t)
	r.still.Store(time.Now().UnixNano())
	return r
}

// putOrder puts in a stick with a release and an order for serial numbers, and returns the order's id.
func (r *updateRig) putOrder(t *testing.T, disk, program string, serials ...string) (id string) {
	t.Helper()
	image, id := r.order(t, program, serials...)
	stick.Plug(t, r.host.Root(), disk, image)
	return id
}

// order is such a stick.
func (r *updateRig) order(t *testing.T, program string, serials ...string) (image []byte, id string) {
	t.Helper()
	files := stick.Release(t, r.releases, program)
	order, id := stick.Order(t, r.releases, files, "v1.9.0", nil, serials...)
	return stick.Files(t, "TOUCHDOWN", append(files, order)...), id
}

// events is what the journal has on the disk.
func (r *updateRig) events(t *testing.T) string {
	t.Helper()
	journal, err := os.ReadFile(filepath.Join(r.dir, "journal.jsonl"))
	must(t, err)
	return string(journal)
}

// idles lets a countdown pass, and fails if an update begins in the looks after it.
func (r *updateRig) idles(t *testing.T, when string) {
	t.Helper()
	r.pass()
	for range 3 {
		e := &lander{Engine: r.Engine, tried: map[string]try{}}
		lookForUpdate(e)
		if followOrder(e) {
			t.Errorf("%s: an update is to come", when)
		}
	}
	if s, err := r.Snapshot(t.Context()); err != nil || s.Starts != 0 || tells("Any key")(s) || len(r.commands("systemd-run")) > 0 {
		t.Errorf("%s: in %v s, %v, %v, %q", when, s.Starts, s.Notices, err, r.commands("systemd-run"))
	}
}

// orderedNodes bring a node to where it may be updated.
var orderedNodes = map[string]func(*testing.T, *updateRig){
	"a stored node": func(*testing.T, *updateRig) {},
	"a landed node": func(t *testing.T, r *updateRig) {
		token := take(t, r)
		r.start(t, r, token, false)
		until(t, r, "the end", inState(view.IsDone))
		must(t, r.ReleaseControl(t.Context(), token))
	},
	"a locked node": func(t *testing.T, r *updateRig) {
		token := take(t, r)
		r.start(t, r, token, false)
		until(t, r, "the end", inState(view.IsDone))
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
		must(t, r.ReleaseControl(t.Context(), token))
	},
}

// TestAnOrderUpdatesANode: with no key pressed, after a countdown on every console, also where the node has landed; to the program that the
// order names and no other. It is noted before anything begins, fires once, and its end is in the events of the next engine.
func TestAnOrderUpdatesANode(t *testing.T) {
	for name, live := range orderedNodes {
		t.Run(name, func(t *testing.T) {
			r := newOrderRig(t)
			r.open(t)
			live(t, r)
			id := r.putOrder(t, "sdb", "program 1.9.0", "SN0", "SN1")
			s := until(t, r, "the countdown", tells(coming))
			if s.Starts != 60 || s.Update == nil || s.Update.State != updates.Asks || s.Update.Order == nil || s.Update.Order.ID != id || r.host.Exists(layout.State+"/update-orders") {
				t.Errorf("in %v s, %+v", s.Starts, s.Update)
			}
			r.ahead.Add(int64(25 * time.Second))
			until(t, r, "the countdown to go on", tells("updated in 40 s"))
			if len(r.commands("systemd-run")) > 0 {
				t.Fatalf("%q", r.commands("systemd-run"))
			}
			r.host.OnFunc("systemd-run", func([]string, []byte) (string, error) {
				if !strings.Contains(r.host.Content(layout.State+"/update-orders"), id+" begun") || !strings.Contains(r.events(t), "begins the update of Touchdown from v1.8.2 to v1.9.0") {
					t.Error("the update begins, and it is not noted")
				}
				return "", nil
			})
			r.pass()
			o := r.offers(t, updates.Reads)
			want := layout.Program + " update --from-stick=sdb --sha256=" + o.Program
			if lines := r.commands("systemd-run"); len(lines) != 1 || !strings.HasSuffix(lines[0], want) || tells("Any key")(s) != true {
				t.Fatalf("%q", lines)
			}
			if s, err := r.Snapshot(t.Context()); err != nil || s.Starts != 0 || tells("Any key")(s) {
				t.Errorf("the countdown goes on: %v, %v", s.Starts, err)
			}
			must(t, r.Close())
			r.host.File(layout.Program, "program 1.9.0")
			must(t, updates.End(r.host.Machine, o.Program, nil, r.clock()))
			r.version = "v1.9.0"
			r.host.Forget()
			for range 2 { // the second engine tells it no more
				r.open(t)
				until(t, r, "how it ended", says("Touchdown is now v1.9.0. To go back to v1.8.2: touchdown update --back"))
				r.idles(t, "afterwards")
				must(t, r.Close())
			}
			if n := strings.Count(r.events(t), "The order "+id+" has updated Touchdown from v1.8.2 to v1.9.0."); n != 1 {
				t.Errorf("its end is %d times in the journal", n)
			}
		})
	}
}

// TestAKeyStopsAnOrder: at a console without control, at one that is locked, or by control; for good, over a restart and when the stick is
// put in again. A person can still install the release.
func TestAKeyStopsAnOrder(t *testing.T) {
	for name, press := range map[string]func(*testing.T, *updateRig){
		"a key": func(t *testing.T, r *updateRig) { must(t, r.Present(idle.At(t.Context(), "tty1"), "")) },
		"a key at a locked console": func(t *testing.T, r *updateRig) {
			must(t, idle.Bake(r.host.Machine, pin.Hash("$2a$10$"+strings.Repeat("a", 53))))
			if err := r.Present(idle.At(t.Context(), "tty1"), ""); !errors.Is(err, idle.ErrLocked) {
				t.Errorf("it is not locked: %v", err)
			}
			must(t, r.host.Remove(layout.ConsolePIN))
		},
		"control": func(t *testing.T, r *updateRig) { must(t, r.ReleaseControl(t.Context(), take(t, r))) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newOrderRig(t)
			r.open(t)
			id := r.putOrder(t, "sdb", "program 1.9.0", "SN1")
			until(t, r, "the countdown", tells(coming))
			press(t, r)
			stopped := func(s *view.Snapshot) bool {
				return s.Update != nil && s.Update.State == updates.Asks && s.Update.Order.Code() == "UPD-HALT" && tells("is not followed: UPD-HALT.")(s) && s.Starts == 0
			}
			until(t, r, "why not", stopped)
			r.idles(t, "stopped")
			if !strings.Contains(r.host.Content(layout.State+"/update-orders"), id+" stopped") {
				t.Errorf("%q", r.host.Content(layout.State+"/update-orders"))
			}
			must(t, r.Close())
			r.host.Boot()
			r.open(t)
			until(t, r, "why not, after a restart", stopped)
			r.idles(t, "after a restart")
			must(t, r.Do(t.Context(), take(t, r), accept(until(t, r, "the question", stopped).Update, "")))
			if o := r.offers(t, updates.Reads); o.Order != nil {
				t.Errorf("it counts as the order's: %+v", o.Order)
			}
		})
	}
}

// TestAKeyThatCannotBeNoted stops the order all the same, until the engine starts again, and that is told.
func TestAKeyThatCannotBeNoted(t *testing.T) {
	r := newOrderRig(t)
	r.open(t)
	r.putOrder(t, "sdb", "program 1.9.0", "SN1")
	until(t, r, "the countdown", tells(coming))
	r.host.Fill(0)
	must(t, r.Present(idle.At(t.Context(), "tty1"), ""))
	until(t, r, "that it is not noted", tells("after a restart the countdown begins again"))
	r.idles(t, "stopped")
	r.host.Fill(-1)
	until(t, r, "that the disk has room, and it is noted", func(s *view.Snapshot) bool { return !tells("could not be noted")(s) })
	if !strings.Contains(r.host.Content(layout.State+"/update-orders"), " stopped") {
		t.Errorf("%q", r.host.Content(layout.State+"/update-orders"))
	}
	stick.Pull(t, r.host.Root(), "sdb")
	r.sees(t, "")
	r.idles(t, "pulled out")
}

// TestWhatAnOrderWaitsFor: nobody is disturbed, and nothing that was begun; a stick that is pulled out ends the countdown.
func TestWhatAnOrderWaitsFor(t *testing.T) {
	r := newOrderRig(t)
	r.open(t)
	token := take(t, r)
	r.attach(token, 1) // else it loses control when the clock is moved
	image, _ := r.order(t, "program 1.9.0", "SN1")
	stick.Plug(t, r.host.Root(), "sdb", image)
	until(t, r, "who has control", tells("The update order waits: tty1 has control."))
	r.idles(t, "someone has control")
	must(t, r.ReleaseControl(t.Context(), token))
	until(t, r, "the countdown", tells(coming))
	stick.Pull(t, r.host.Root(), "sdb")
	r.sees(t, "")
	r.idles(t, "it is pulled out")
	stick.Plug(t, r.host.Root(), "sdb", image) // the same one
	until(t, r, "the countdown from its beginning", tells(coming))
	stick.Pull(t, r.host.Root(), "sdb")
	r.sees(t, "")

	token = take(t, r)
	r.attach(token, 1)
	waiting := make(chan struct{})
	r.w.onRun(func(string) { <-waiting })
	r.start(t, r, token, false)
	must(t, r.ReleaseControl(t.Context(), token))
	r.putOrder(t, "sdb", "program 1.9.0", "SN1")
	r.idles(t, "at work")
	close(waiting)
	until(t, r, "the end", inState(view.IsDone))
	until(t, r, "the countdown after the work", tells(coming))
}

// TestAnOrderWaitsForWorkThatFailed: the screens and the events tell which, no page asks, and once a person has decided the order is followed.
func TestAnOrderWaitsForWorkThatFailed(t *testing.T) {
	r := newOrderRig(t)
	r.w.setFail("names", &problem.Problem{Code: "TST-FAIL", Summary: message.T("It failed."), Fix: message.T("Look.")})
	r.open(t)
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the failure", inState(view.HasFailed))
	must(t, r.ReleaseControl(t.Context(), token))
	r.putOrder(t, "sdb", "program 1.9.0", "SN1")
	const waits = "The update order waits: names failed (TST-FAIL), a person has to decide."
	until(t, r, "what it waits for", tells(waits))
	r.idles(t, "work has failed")
	if s, err := r.Snapshot(t.Context()); err != nil || s.Update != nil || tells("A page asks")(s) {
		t.Errorf("a page asks that may not: %+v, %v, %v", s.Update, s.Notices, err)
	}
	if n := strings.Count(r.events(t), waits); n != 1 {
		t.Errorf("it is %d times in the events", n)
	}
	token = take(t, r)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	until(t, r, "the undo", inState(view.IsUndone))
	must(t, r.ReleaseControl(t.Context(), token))
	until(t, r, "the countdown after the undo", tells(coming))
}

// TestNoToAReleaseIsNoToItsOrder: for good, also where the stick stays in and the engine starts again.
func TestNoToAReleaseIsNoToItsOrder(t *testing.T) {
	r := newOrderRig(t)
	r.open(t)
	token := take(t, r)
	id := r.putOrder(t, "sdb", "program 1.9.0", "SN1")
	must(t, r.Do(t.Context(), token, session.Update.Close(r.offers(t, updates.Asks))))
	must(t, r.ReleaseControl(t.Context(), token))
	r.idles(t, "after no")
	if !strings.Contains(r.host.Content(layout.State+"/update-orders"), id+" stopped") {
		t.Error("it is not noted")
	}
	must(t, r.Close())
	r.open(t)
	until(t, r, "why not", tells("The update order is not followed: UPD-HALT."))
	r.idles(t, "after a restart")
}

// TestOrdersThatAreNotFollowed: each is told with its reason on the screens and in the events, and a person can install the release that is
// beside it, where that is good.
func TestOrdersThatAreNotFollowed(t *testing.T) {
	foreign, _ := stick.Key(t)
	with := func(key func(*updateRig) envelope.SigningKey, version string, spoil func(*update.Order), serial string) func(*testing.T, *updateRig) volume.File {
		return func(t *testing.T, r *updateRig) volume.File {
			order, _ := stick.Order(t, key(r), stick.Release(t, r.releases, "program 1.9.0"), version, spoil, serial)
			return order
		}
	}
	ours := func(r *updateRig) envelope.SigningKey { return r.releases }
	for name, c := range map[string]struct {
		order func(*testing.T, *updateRig) volume.File
		code  string
	}{
		"another machine": {with(ours, "v1.9.0", nil, "SN2"), "UPD-SERL"},
		"another key":     {with(func(*updateRig) envelope.SigningKey { return foreign }, "v1.9.0", nil, "SN1"), "UPD-FRGD"},
		"a key for media": {with(func(r *updateRig) envelope.SigningKey { return r.key }, "v1.9.0", nil, "SN1"), "UPD-FRGD"},
		"another program": {with(ours, "v1.9.0", func(o *update.Order) { o.Program = strings.Repeat("0", 64) }, "SN1"), "UPD-HASH"},
		"another version": {with(ours, "v2.0.0", nil, "SN1"), "UPD-VERS"},
		"noise": {func(*testing.T, *updateRig) volume.File {
			return volume.File{Name: update.OrderFile, Data: []byte("{}")}
		}, "UPD-SHPE"},
		"too large": {func(*testing.T, *updateRig) volume.File {
			return volume.File{Name: update.OrderFile, Data: make([]byte, update.MostOrder+1)}
		}, "MED-LRGE"},
		"a used one": {func(t *testing.T, r *updateRig) volume.File {
			order, id := stick.Order(t, r.releases, stick.Release(t, r.releases, "program 1.9.0"), "v1.9.0", nil, "SN1")
			must(t, update.SpentOn(r.host.Machine).Begin(id))
			return order
		}, "UPD-USED"},
		"a damaged record": {func(t *testing.T, r *updateRig) volume.File {
			r.host.File(layout.State+"/update-orders", "\x00")
			return with(ours, "v1.9.0", nil, "SN1")(t, r)
		}, "UPD-REC"},
		"the program that a person went back from": {func(t *testing.T, r *updateRig) volume.File {
			r.host.File(layout.PreviousProgram, "program 1.9.0")
			return with(ours, "v1.9.0", nil, "SN1")(t, r)
		}, "UPD-LEFT"},
		"the same version": {func(t *testing.T, r *updateRig) volume.File {
			r.version = "v1.9.0"
			return with(ours, "v1.9.0", nil, "SN1")(t, r)
		}, "UPD-NEWR"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newOrderRig(t)
			order := c.order(t, r)
			r.open(t)
			stick.Plug(t, r.host.Root(), "sdb", stick.Files(t, "TOUCHDOWN", append(stick.Release(t, r.releases, "program 1.9.0"), order)...))
			s := until(t, r, "why not", tells("The update order is not followed: "+c.code+"."))
			if o := s.Update; o == nil || o.State != updates.Asks || o.Order.Code() != c.code || o.Order.Problem.Fix.String() == "" {
				t.Errorf("%+v", o)
			}
			r.idles(t, name)
			must(t, r.Do(t.Context(), take(t, r), accept(r.offers(t, updates.Asks), "")))
			r.offers(t, updates.Reads)
		})
	}
}

// TestACutAroundAnOrder: wherever the power goes, or the disk or systemd does not do it, the node keeps a program that works, begins the order
// not twice, and tells why.
func TestACutAroundAnOrder(t *testing.T) {
	count := func(t *testing.T) *updateRig {
		r := newOrderRig(t)
		r.open(t)
		r.putOrder(t, "sdb", "program 1.9.0", "SN1")
		until(t, r, "the countdown", tells(coming))
		return r
	}
	t.Run("before its record", func(t *testing.T) {
		r := count(t)
		r.host.Fill(0)
		r.pass()
		until(t, r, "why not", func(s *view.Snapshot) bool { return s.Update != nil && s.Update.Order.Code() == "DSK-FULL" })
		r.idles(t, "the record is not written")
		r.host.Fill(-1)
		must(t, r.Close())
		r.open(t)
		until(t, r, "the countdown again", tells(coming))
	})
	t.Run("the journal takes no event", func(t *testing.T) {
		r := count(t)
		r.mu.Lock()
		r.core.recorder.journal.file = overseen{r.core.recorder.journal.file, func(record []byte) error {
			if strings.Contains(string(record), "begins the update") {
				return syscall.ENOSPC
			}
			return nil
		}}
		r.mu.Unlock()
		r.pass()
		until(t, r, "why not", func(s *view.Snapshot) bool { return s.Update != nil && s.Update.Order.Code() == "DSK-FULL" })
		must(t, r.Close())
		r.open(t)
		until(t, r, "the countdown again", tells(coming))
	})
	t.Run("after its record", func(t *testing.T) {
		r := count(t)
		r.host.OnFunc("systemd-run", func([]string, []byte) (string, error) { return "", errors.New("the power is cut") })
		r.pass()
		until(t, r, "the failure", func(s *view.Snapshot) bool { return s.Update != nil && s.Update.Order.Code() != "" })
		must(t, r.Close())
		r.host.Forget()
		r.host.Boot()
		r.open(t)
		until(t, r, "why not", tells("is not followed: UPD-USED."))
		r.idles(t, "it was begun")
	})
	t.Run("in the trial", func(t *testing.T) {
		r := count(t)
		r.pass()
		r.offers(t, updates.Reads)
		must(t, r.Close())
		must(t, updates.Forget(r.host.Machine)) // it lies below /run
		r.host.Forget()
		r.host.Boot()
		r.open(t)
		until(t, r, "why not", tells("is not followed: UPD-USED."))
		r.idles(t, "it was begun")
	})
}

// TestAnOrderThatFails is told in the events and on the screens. Where nobody closes that, another stick still comes to its order.
func TestAnOrderThatFails(t *testing.T) {
	r := newOrderRig(t)
	r.open(t)
	id := r.putOrder(t, "sdb", "program 1.9.0", "SN1")
	until(t, r, "the countdown", tells(coming))
	r.pass()
	o := r.offers(t, updates.Reads)
	must(t, updates.End(r.host.Machine, o.Program, &problem.Problem{Code: "UPD-BACK"}, r.clock()))
	r.offers(t, updates.Failed)
	if events := r.events(t); strings.Count(events, "which the order "+id+" began, failed: UPD-BACK.") != 1 {
		t.Errorf("%s", events)
	}
	stick.Pull(t, r.host.Root(), "sdb")
	r.putOrder(t, "sdc", "program 1.9.1", "SN1")
	until(t, r, "the other countdown", tells(coming))
}

// TestAnOrderGoesBeforeALanding: the site config in the node starts with the program that the order brings, and not while that counts down.
func TestAnOrderGoesBeforeALanding(t *testing.T) {
	r := newOrderRig(t)
	r.host.Boot()
	d, err := r.known.Bake([]byte(strings.Replace(onStick, "shop", "baked", 1)), true)
	must(t, err)
	must(t, media.StartOf(r.host.Machine, d.ID).Seal())
	r.host.Boot()
	r.open(t)
	until(t, r, "the countdown of the landing", tells(counting))
	r.ahead.Add(int64(30 * time.Second))
	r.putOrder(t, "sdb", "program 1.9.0", "SN1")
	until(t, r, "the countdown of the update", tells(coming))
	r.ahead.Add(int64(40 * time.Second))
	until(t, r, "the countdown to go on", tells("updated in 20 s"))
	if s, err := r.Snapshot(t.Context()); err != nil || !s.Started.IsZero() {
		t.Errorf("%v, %v", s.Started, err)
	}
	must(t, r.Present(idle.At(t.Context(), "tty1"), ""))
	until(t, r, "the landing's countdown from its beginning", tells(counting))
}
