package engine

import (
	"errors"
	"slices"
	"strings"

	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// is tells whether a hurt file is one of those, or lies in one of those folders.
func (d *damaged) is(names ...string) bool {
	return slices.ContainsFunc(d.hurt, func(hurt string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return hurt == name || strings.HasPrefix(hurt, name+"/") })
	})
}

// matters tells whether something was lost that was acknowledged and is still wanted.
func (d *damaged) matters() bool {
	wiped := d.handedOver || d.state == view.IsUndone
	switch {
	case d.is("site.yaml", "sources.json", "key"), d.is("secrets") && !d.handedOver && d.had("secrets"), d.is("saved") && !wiped && d.had("saved"):
		return true
	case d.is("journal.jsonl"):
		return d.events > 0 && !strings.Contains(d.how, "longer")
	case d.is("sums.jsonl"): // its last lines may be missing: they are about what the other files tell themselves
		return !strings.Contains(d.how, "cut") && !strings.Contains(d.how, "older") && !strings.Contains(d.how, "flipped")
	}
	return false
}

// had tells whether there was something in a folder.
func (d *damaged) had(folder string) bool {
	for name := range d.files {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// changed is how often steps changed the machine since the damage.
func (d *damaged) changed() (n int) {
	d.rig.w.mu.Lock()
	defer d.rig.w.mu.Unlock()
	for _, calls := range d.rig.w.calls {
		n += calls
	}
	return n
}

// first looks at the engine that finds the damage.
func (d *damaged) first(e *Engine) {
	s := waitStarted(d.t, e)
	d.told = slices.ContainsFunc(message.English(s.Notices), func(n string) bool { return strings.HasPrefix(n, "Records were lost") })
	if d.matters() && !d.told && !d.refused(s) {
		d.t.Errorf("the loss is not told: state %s, notices %q", s.State, s.Notices)
	}
	if d.told {
		d.counts["told"]++
	}
	d.still(s)
	d.kept(s)
	must(d.t, e.Close())
}

// again looks at the engine after that: it is no bolder.
func (d *damaged) again(e *Engine) {
	s := waitStarted(d.t, e)
	d.still(s)
	d.kept(s)
	must(d.t, e.Close())
}

// refused tells whether the work stopped because the answers are not those that were accepted.
func (d *damaged) refused(s *view.Snapshot) bool {
	return s.State == view.HasFailed && s.Problem != nil && s.Problem.Code == "CFG-DFF"
}

// still fails when a job resumed automatically after a loss.
func (d *damaged) still(s *view.Snapshot) {
	lost := d.told || d.matters()
	if lost && (d.changed() > 0 || underWay(s.State)) {
		d.t.Errorf("it goes on after a loss: state %s, %d changes of the machine", s.State, d.changed())
	}
	if lost && underWay(d.state) && (s.State != view.HasFailed || s.Problem == nil || s.Problem.Fix.String() == "") {
		d.t.Errorf("a job at work is %s with the problem %+v", s.State, s.Problem)
	}
}

// kept fails when something is gone that was not damaged.
func (d *damaged) kept(s *view.Snapshot) {
	if !d.is("site.yaml") && len(d.files["site.yaml"]) > 0 && field(s, "spec.clusterName").Value != "shop" {
		d.t.Errorf("the name is %q", field(s, "spec.clusterName").Value)
	}
	if !d.is("secrets") && !d.handedOver && d.had("secrets") && !field(s, "spec.pullSecret").SecretSet {
		d.t.Error("the pull secret is gone")
	}
	if d.handedOver && len(d.hurt) < 2 && (!s.Locked || s.State != view.IsDone) {
		d.t.Errorf("a landed node is %s, locked %t", s.State, s.Locked)
	}
	if ended(d.state) && !d.is("journal.jsonl", "sums.jsonl") && s.State != d.state {
		d.t.Errorf("what was %s is %s", d.state, s.State)
	}
}

// goOn has a person go on, once the disk has room: to the end of the job, or back from it.
func (d *damaged) goOn() {
	r := d.rig
	r.Engine = d.open()
	defer func() { must(d.t, r.Close()) }()
	s := waitStarted(d.t, r.Engine)
	token := take(d.t, r)
	if s.Locked {
		must(d.t, r.Do(d.t.Context(), token, session.Action{Verb: session.Unlock, Value: s.Hostname}))
	}
	if underWay(s.State) {
		s = until(d.t, r, "the end", func(s *view.Snapshot) bool { return ended(s.State) || s.State == view.HasFailed })
	}
	way := []session.Verb{session.Retry, session.Edit, session.Undo}[d.r.IntN(3)]
	if ended(s.State) {
		way = session.Edit
	}
	if s.State != view.Collecting && s.State != view.Reviewed && s.State != view.Inspecting {
		err := r.Do(d.t.Context(), token, session.Action{Verb: way})
		if way == session.Retry && errors.Is(err, session.ErrState) { // the answers that were accepted are not known
			way, err = session.Edit, r.Do(d.t.Context(), token, session.Action{Verb: session.Edit})
		}
		must(d.t, err)
	} else {
		way = session.Edit
	}
	if way == session.Undo {
		until(d.t, r, "everything back", inState(view.IsUndone))
		if !d.is("saved", "journal.jsonl", "sums.jsonl") && r.w.get("names") != d.before {
			d.t.Errorf("undo left %v", r.w.state)
		}
		return
	}
	if way == session.Edit {
		if d.is("secrets") { // what lies there now may be anything
			must(d.t, r.Set(d.t.Context(), token, "spec.pullSecret", registryPull))
		}
		r.start(d.t, r, token, true)
	}
	s = until(d.t, r, "the end", func(s *view.Snapshot) bool {
		return s.State == view.IsDone || s.State == view.IsUndone || s.State == view.HasFailed
	})
	if s.State == view.HasFailed || s.State == view.IsDone && (r.w.get("light") != "on" || r.w.get("names") != "shop.example.com") {
		d.t.Errorf("%s, the machine is %v, problem %+v", s.State, r.w.state, s.Problem)
	}
}
