package engine

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/rounds"
)

// image is a state folder at one moment of a job, as a kill leaves it, and what was so at that moment.
type image struct {
	name       string
	files      map[string][]byte
	machine    map[string]string
	state      view.State
	events     int
	handedOver bool   // and no later job has begun
	before     string // the names that undo brings back
}

// TestDamage damages a file of the state folder at a random moment of a job and starts an engine on it, twice; then a person
// goes on. A short round is thirty damages, a long one is one.
func TestDamage(t *testing.T) {
	var images []image
	rounds.Play(t, func(t *testing.T, r rounds.Round) map[string]int {
		if images == nil {
			images = lives(t)
		}
		counts := map[string]int{}
		for range map[bool]int{true: 1, false: 30}[r.Long] {
			d := &damaged{t: t, r: r, image: rounds.One(r, images...), counts: counts}
			if d.play(); t.Failed() {
				break
			}
		}
		return counts
	})
}

// lives are the moments of four lives: a job that is handed over, one that is undone, one that fails on its way, and one that fails on a node whose
// hand-over was accepted.
func lives(t *testing.T) (all []image) {
	t.Helper()
	for _, life := range []string{"handed over", "undone", "failed", "second"} {
		r := &rig{w: newWorld(), host: hosttest.New(t), dir: filepath.Join(t.TempDir(), "state")}
		noisy(r)
		o := r.options()
		shoot := func(name string) {
			all = append(all, picture(t, r, life+", "+name))
		}
		o.AfterEvent = func(e event.Event) { shoot(strings.TrimSpace(fmt.Sprint(e.Kind, " ", e.Step))) }
		var err error
		r.Engine, err = Open(o)
		must(t, err)
		token := take(t, r)
		if life == "failed" {
			r.w.setFail("light", broken())
		}
		must(t, r.Set(t.Context(), token, "spec.pullSecret", registryPull))
		review := r.fill(t, r, token).Review
		r.mu.Lock()
		shoot("reviewed")
		r.mu.Unlock()
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: review.Fingerprint}))
		until(t, r, "the question", inState(view.InQuestion))
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Reply, Question: "sure", Value: "yes"}))
		switch life {
		case "failed":
			until(t, r, "the failure", inState(view.HasFailed))
		case "undone":
			until(t, r, "the end", inState(view.IsDone))
			must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
			until(t, r, "everything back", inState(view.IsUndone))
		default:
			s := until(t, r, "the end", inState(view.IsDone))
			must(t, r.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
			if life == "second" {
				second(t, r, token, s.Hostname)
			}
		}
		must(t, r.Close())
	}
	return all
}

// second has a later job fail on a node whose hand-over was accepted.
func second(t *testing.T, r *rig, token, hostname string) {
	t.Helper()
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Unlock, Value: hostname}))
	r.w.set("names", "moved")
	r.w.setFail("light", broken())
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	must(t, r.Set(t.Context(), token, "spec.pullSecret", registryPull))
	r.start(t, r, token, false)
	until(t, r, "the question", inState(view.InQuestion))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Reply, Question: "sure", Value: "yes"}))
	until(t, r, "the failure", inState(view.HasFailed))
}

// picture is the image of this moment. The caller holds the engine's lock.
func picture(t *testing.T, r *rig, name string) image {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	files := keep(t, r.dir).files
	job := r.core.job
	before := map[bool]string{true: "moved", false: "factory"}[job.stood || job.handedOver]
	return image{
		name: name, files: files, machine: maps.Clone(r.w.state), state: job.state, handedOver: job.handedOver && job.state == view.IsDone, before: before,
		events: bytes.Count(files["journal.jsonl"], []byte("\n")) - 1,
	}
}

// damaged is one image, damaged in one way.
type damaged struct {
	image
	t      *testing.T
	r      rounds.Round
	rig    *rig
	skew   time.Duration // of the clock
	hurt   []string      // the files that are not what was written
	how    string
	tight  func() // takes the disk's room, or nil
	told   bool   // a loss was told
	counts map[string]int
}

// play damages, starts engines and lets a person go on.
func (d *damaged) play() {
	w := newWorld()
	w.state = maps.Clone(d.machine)
	base := d.t.TempDir()
	free := d.room(base)
	defer free()
	d.rig = &rig{w: w, host: hosttest.New(d.t), dir: filepath.Join(base, "state")}
	kept{d.rig.dir, d.files}.restore(d.t)
	d.damage()
	d.t.Logf("seed %d, round %d: %s: %s", d.r.Seed, d.r.Number, d.name, d.how)
	d.counts[strings.Trim(strings.Fields(d.how)[0], ";")]++
	before := worked()
	d.first(d.open())
	d.again(d.open())
	if took := worked() - before; took > 2*time.Second {
		d.t.Errorf("two starts took %s of a processor's time", took)
	}
	free()
	if !d.t.Failed() {
		d.goOn()
	}
	if d.tight == nil { // the small disk goes away with the process
		must(d.t, os.RemoveAll(base))
	}
}

// open starts an engine, whose clock may be anywhere.
func (d *damaged) open() *Engine {
	o := d.rig.options()
	const year = 365 * 24 * time.Hour
	if d.r.Chance(3) {
		d.skew = rounds.One(d.r, -60*year, -year, -time.Hour, -time.Second, time.Hour, 20*year)
	}
	skew := d.skew
	o.Node.Now = func() time.Time { return time.Now().Add(skew) }
	e, err := tried(o)
	if err != nil {
		d.t.Fatalf("the engine does not start: %v", err)
	}
	d.rig.Engine = e
	return e
}
