package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/site/pin"
	"touchdown/steps/view"
	"touchdown/test/stick"
)

// counting is the notice of a countdown that has just begun. The clocks of these tests stand.
const counting = "The landing starts in 60 s with the site config in the node. Any key stops it."

// again is the notice of a wait for the next try.
const again = "The landing is tried again within 5 min. Any key stops that."

// bakedRig is a node that was sealed with a site config that starts without a person, and booted since.
func bakedRig(t *testing.T) (*sealedRig, *envelope.Document) {
	t.Helper()
	r := newSealedRig(t)
	r.still.Store(time.Now().UnixNano())
	r.host.Boot()
	d, err := r.known.Bake([]byte(strings.Replace(onStick, "shop", "baked", 1)), true)
	must(t, err)
	must(t, media.StartOf(r.host.Machine, d.ID).Seal())
	r.host.Boot()
	return r, d
}

func tells(notice string) func(*view.Snapshot) bool {
	return func(s *view.Snapshot) bool {
		return strings.Contains(strings.Join(message.English(s.Notices), "\n"), notice)
	}
}

// pass lets a countdown pass.
func (r *sealedRig) pass() { r.ahead.Add(int64(countdownTime)) }

// quiet fails if a node has started, or starts when a countdown would be over and everything is judged again, as an engine does that has
// tried nothing yet. What is in the sockets is what the engine's last look found: each look starts a process, which takes a second with
// -race.
func (r *sealedRig) quiet(t *testing.T) {
	t.Helper()
	r.pass()
	for range 3 {
		(&lander{Engine: r.Engine, tried: map[string]try{}}).judgeMedia()
	}
	if s, err := r.Snapshot(t.Context()); err != nil || !s.Started.IsZero() || s.Starts != 0 || len(r.w.calls) > 0 {
		t.Errorf("started %v, in %v s, %v, %v", s.Started, s.Starts, r.w.calls, err)
	}
}

// TestABakedSiteConfigLands: with no key pressed, after a countdown that every console shows, from the first boot or from the next one. It
// is used once, and wiped.
func TestABakedSiteConfigLands(t *testing.T) {
	r, d := bakedRig(t)
	r.open(t)
	s := until(t, r, "the countdown", tells(counting))
	if s.Starts != 60 || r.used(t, d.ID) || s.Cluster == "baked.stick.example" {
		t.Errorf("%v s, used %t, %s", s.Starts, r.used(t, d.ID), s.Cluster)
	}
	r.ahead.Add(int64(25 * time.Second))
	until(t, r, "the countdown to go on", tells("starts in 40 s"))
	must(t, r.Close()) // a power cut
	r.open(t)
	until(t, r, "the countdown from its beginning", tells(counting))
	r.w.onRun(func(step string) {
		if step == "names" && !r.used(t, d.ID) {
			t.Error("something changes, and the document is not noted as used")
		}
	})
	r.pass()
	s = until(t, r, "the landing", inState(view.IsDone))
	if got := r.w.get("names"); got != "baked.stick.example" || s.Starts != 0 || r.host.Exists(bakedDocument) {
		t.Errorf("landed as %s, starts in %v s", got, s.Starts)
	}
	if journal, err := os.ReadFile(filepath.Join(r.dir, "journal.jsonl")); err != nil || !strings.Contains(string(journal), "started by medium FACTORY (in the node)") || tells("Any key")(s) {
		t.Errorf("%v, %v", s.Notices, err)
	}
}

// TestAKeyStopsTheCountdown: at a console without control, at one that is locked, or by control itself; for good, over a restart. The
// person goes on with the document's answers.
func TestAKeyStopsTheCountdown(t *testing.T) {
	for name, press := range map[string]func(*testing.T, *sealedRig){
		"a key": func(t *testing.T, r *sealedRig) { must(t, r.Present(idle.At(t.Context(), "tty1"), "")) },
		"a key at a locked console": func(t *testing.T, r *sealedRig) {
			must(t, idle.Bake(r.host.Machine, pin.Hash("$2a$10$"+strings.Repeat("a", 53))))
			if err := r.Present(idle.At(t.Context(), "tty1"), ""); !errors.Is(err, idle.ErrLocked) {
				t.Errorf("it is not locked: %v", err)
			}
		},
		"control": func(t *testing.T, r *sealedRig) { must(t, r.ReleaseControl(t.Context(), take(t, r))) },
	} {
		t.Run(name, func(t *testing.T) {
			r, d := bakedRig(t)
			r.open(t)
			until(t, r, "the countdown", tells(counting))
			press(t, r)
			r.quiet(t)
			until(t, r, "why not", noticed("FACTORY (in the node) starts nothing", "a person stopped it"))
			must(t, r.Close())
			r.host.Boot()
			r.open(t)
			until(t, r, "why not, after a restart", noticed("a person stopped it"))
			r.quiet(t)
			must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Act, Path: "medium.volume", Value: d.ID}))
			if s, err := r.Snapshot(t.Context()); err != nil || s.Cluster != "baked.stick.example" || !s.Started.IsZero() {
				t.Errorf("%s, %v, %v", s.Cluster, s.Started, err)
			}
		})
	}
}

// TestAKeyWhileTheAnswersAreTried: until the first change a key keeps the node from starting.
func TestAKeyWhileTheAnswersAreTried(t *testing.T) {
	r, d := bakedRig(t)
	r.open(t)
	until(t, r, "the countdown", tells(counting))
	r.w.onLook(func() {
		if s, err := r.Snapshot(t.Context()); err == nil && s.Control.Holder == media.BakedSource {
			_ = r.Present(idle.At(t.Context(), "tty1"), "")
		}
	})
	r.pass()
	until(t, r, "why not", noticed("FACTORY (in the node) starts nothing", "a person stopped it"))
	r.quiet(t)
	if r.used(t, d.ID) {
		t.Error("it is noted as used")
	}
}

// TestADriveThatIsNoMedium: volumes beyond those that are read of a disk, as on an internal card with a system on it, and a drive that cannot
// be read, hold no start up.
func TestADriveThatIsNoMedium(t *testing.T) {
	void := make([]byte, 512)
	r, d := bakedRig(t)
	r.volumes = 1 // each is read by a process, which takes a second with -race
	stick.Plug(t, r.host.Root(), "sdb", void)
	stick.Plug(t, r.host.Root(), "sdb1", void)
	r.open(t)
	until(t, r, "the disk and the countdown", func(s *view.Snapshot) bool { return tells(counting)(s) && tells("sdb is not used: MED-UNRD")(s) })
	damaged := stick.Volume(t, media.PlainFile, []byte(onStick))
	copy(damaged[0x0d:], []byte{3}) // sectors of a cluster
	stick.Plug(t, r.host.Root(), "sdc", damaged)
	until(t, r, "the drive and the countdown", func(s *view.Snapshot) bool { return tells(counting)(s) && tells("sdc is not used: MED-BAD")(s) })
	r.pass()
	until(t, r, "the landing", inState(view.IsDone))
	if !r.used(t, d.ID) {
		t.Error("it did not land with the factory's document")
	}
}

// TestAStickEndsTheCountdown: one that comes while it runs is judged. One that starts the landing does; any other one is a question, and
// when it is pulled out the countdown begins again. A document whose answers a person took from a stick is never followed by the factory's.
func TestAStickEndsTheCountdown(t *testing.T) {
	for name, test := range map[string]struct {
		plug func(*testing.T, *sealedRig)
		says string
	}{
		"for a person": {func(t *testing.T, r *sealedRig) { r.plug(t, "sdb", envelope.New("SN1")) }, "which goes before the site config in the node"},
		"not signed": {func(t *testing.T, r *sealedRig) {
			stick.Plug(t, r.host.Root(), "sdb", stick.Volume(t, media.PlainFile, []byte(onStick)))
		}, "a medium that is not used is there, too"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := bakedRig(t)
			r.open(t)
			until(t, r, "the countdown", tells(counting))
			test.plug(t, r)
			until(t, r, "the question", noticed("FACTORY (in the node) starts nothing", test.says))
			r.quiet(t)
			stick.Pull(t, r.host.Root(), "sdb")
			until(t, r, "the countdown from its beginning", tells(counting))
		})
	}
	t.Run("for nobody", func(t *testing.T) {
		r, _ := bakedRig(t)
		r.open(t)
		until(t, r, "the countdown", tells(counting))
		r.plug(t, "sdb", forNobody())
		until(t, r, "the landing", inState(view.IsDone))
		if got := r.w.get("names"); got != "shop.stick.example" {
			t.Errorf("landed as %s", got)
		}
	})
	t.Run("taken", func(t *testing.T) {
		r, _ := bakedRig(t)
		r.open(t)
		d := envelope.New("SN1")
		r.plug(t, "sdb", d)
		until(t, r, "the stick", noticed("FACTORY (in the node) starts nothing"))
		token := take(t, r)
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: "medium.volume", Value: d.ID}))
		must(t, r.ReleaseControl(t.Context(), token))
		stick.Pull(t, r.host.Root(), "sdb")
		until(t, r, "why not", noticed("a person took the answers of a medium"))
		r.quiet(t)
		must(t, r.Close())
		r.open(t)
		until(t, r, "why not, after a restart", noticed("a person took the answers of a medium"))
		r.quiet(t)
	})
}

// TestABakedSiteConfigWaits: what stands against its start is a question, and it is tried again after a restart once that is over; not in
// the boot in which the node was sealed, and never on another machine.
func TestABakedSiteConfigWaits(t *testing.T) {
	t.Run("a check", func(t *testing.T) {
		r, d := bakedRig(t)
		r.w.cable = false
		r.open(t)
		until(t, r, "the countdown", tells(counting))
		r.pass()
		s := until(t, r, "the problem", noticed("FACTORY (in the node) starts nothing", "what has to be fixed first", "no link"))
		if s.State != view.Reviewed || len(s.Review.Problems) != 1 || r.used(t, d.ID) {
			t.Errorf("%s, %+v", s.State, s.Review)
		}
		must(t, r.Close())
		r.w.cable = true
		r.open(t)
		until(t, r, "the countdown after a restart", tells(counting))
		r.pass()
		until(t, r, "the landing", inState(view.IsDone))
	})
	t.Run("a router that is late", func(t *testing.T) {
		r, _ := bakedRig(t)
		r.w.cable = false
		r.open(t)
		until(t, r, "the countdown", tells(counting))
		r.pass()
		until(t, r, "the wait", tells(again))
		until(t, r, "why not", noticed("FACTORY (in the node) starts nothing", "no link"))
		r.ahead.Add(int64(tryAgainTime))
		until(t, r, "the second wait", func(s *view.Snapshot) bool { return tells(again)(s) && s.Starts > 100 })
		r.w.mu.Lock()
		r.w.cable = true
		r.w.mu.Unlock()
		r.ahead.Add(int64(tryAgainTime))
		until(t, r, "the landing", inState(view.IsDone))
	})
	t.Run("a key while it waits", func(t *testing.T) {
		r, _ := bakedRig(t)
		r.w.cable = false
		r.open(t)
		until(t, r, "the countdown", tells(counting))
		r.pass()
		until(t, r, "the wait", tells(again))
		must(t, r.Present(idle.At(t.Context(), "tty1"), ""))
		until(t, r, "that it was stopped", noticed("a person stopped it"))
		r.w.mu.Lock()
		r.w.cable = true
		r.w.mu.Unlock()
		r.ahead.Add(int64(tryAgainTime))
		r.quiet(t)
	})
	t.Run("a person has control", func(t *testing.T) {
		r, _ := bakedRig(t)
		must(t, r.host.Remove(layout.Armed)) // nothing counts before control is taken
		r.open(t)
		token := take(t, r)
		r.host.File(layout.Armed, "")
		until(t, r, "who has control", noticed("tty1 has control"))
		must(t, r.ReleaseControl(t.Context(), token))
		until(t, r, "the countdown", tells(counting))
	})
	for name, test := range map[string]struct {
		spoil func(*testing.T, *sealedRig)
		says  string
	}{
		"the boot of the seal": {func(_ *testing.T, r *sealedRig) {
			r.host.File("/proc/sys/kernel/random/boot_id", strings.Fields(r.host.Content(layout.Media + "/sealed"))[1]+"\n")
		}, "was not booted since"},
		"another machine":           {func(_ *testing.T, r *sealedRig) { r.host.File("/sys/class/dmi/id/product_serial", "SN2\n") }, "MED-SER"},
		"put in after the seal":     {func(t *testing.T, r *sealedRig) { _, err := r.known.Bake([]byte(onStick), true); must(t, err) }, "did not seal the node with it"},
		"a note that is not a note": {func(_ *testing.T, r *sealedRig) { r.host.File(layout.Media+"/sealed", "yes\n") }, "did not seal the node with it"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := bakedRig(t)
			test.spoil(t, r)
			r.open(t)
			until(t, r, "why not", noticed(test.says))
			r.quiet(t)
		})
	}
}
