package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"touchdown/backend/report"
	"touchdown/steps"
)

// Snapshot implements Session.
func (e *Engine) Snapshot(context.Context) (*Snapshot, error) {
	machine := e.o.notices() // reads files, so nobody else waits for it
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.job
	s := &Snapshot{
		Seq: e.seq, Version: e.o.Version, Hostname: e.hostname, Serial: e.serial,
		Life: e.lifeLocked(), List: cmp.Or(e.o.List, ListSite), Locked: e.lockedLocked(), Cluster: e.draft.site.Domain(), State: e.stateLocked(), Now: e.now(),
		Started: j.started, Ended: j.ended, Worked: j.time.until(e.now()).Seconds(), Current: j.current, Resumed: e.resumed,
		Review: e.draft.review, Problem: j.problem, Met: slices.Clone(j.met),
		Pen: e.control.view(),
	}
	if j.question != nil {
		q := *j.question
		s.Question = &q
	}
	s.Notices = e.notes(machine)
	asks := map[string]string{} // which stage asks for a path
	for _, stage := range e.draft.stages() {
		view := StageView{ID: stage.ID, Title: stage.Title}
		for _, step := range stage.Steps {
			v := e.stepView(step)
			for _, f := range v.Fields {
				asks[f.Path] = stage.ID
			}
			if r, ok := step.(steps.Reader); ok && len(v.Fields) == 0 {
				v.Asks = firstAsked(asks, r.Reads())
			}
			view.Steps = append(view.Steps, v)
		}
		s.Stages = append(s.Stages, view)
	}
	return s, nil
}

// notes are the sentences for every screen. The caller holds e.mu.
func (e *Engine) notes(machine []string) (all []string) {
	for _, text := range e.job.lost {
		all = append(all, "Records were lost: "+text)
	}
	for _, name := range slices.Sorted(maps.Keys(e.notices)) {
		all = append(all, e.notices[name])
	}
	return append(all, machine...)
}

// reportJob is the job in the words of the report. The caller holds e.mu.
func (e *Engine) reportJob(machine []string) report.Job {
	out := report.Job{
		Version: e.o.Version, Serial: e.serial, Hostname: e.hostname, Started: e.job.started,
		Warnings: e.notes(machine), Problems: slices.Clone(e.job.met),
	}
	for _, stage := range e.draft.stages() {
		for _, step := range stage.Steps {
			s := e.job.step(step.ID())
			js := report.JobStep{Step: report.Step{ID: step.ID(), Title: step.Title(), Seconds: s.seconds}, Checks: slices.Clone(s.checks)}
			if s.status == StepDone || s.status == StepSkip || s.status == StepFailed {
				js.Outcome = string(s.status)
			}
			out.Steps = append(out.Steps, js)
		}
	}
	return out
}

// firstAsked is the first stage that asks for one of the paths.
func firstAsked(asks map[string]string, paths []string) string {
	for _, path := range paths {
		if stage := asks[path]; stage != "" {
			return stage
		}
	}
	return ""
}

// stateLocked is the job's state as people see it. The caller holds e.mu.
func (e *Engine) stateLocked() State {
	switch {
	case e.job.state != Collecting:
		return e.job.state
	case e.draft.review != nil:
		return Reviewed
	case !e.inspected:
		return Inspecting
	}
	return Collecting
}

func (e *Engine) stepView(step steps.Step) StepView {
	s := e.job.step(step.ID())
	l := e.looking[step.ID()]
	if l != nil {
		l.shown = true
	}
	v := StepView{
		ID: step.ID(), Title: step.Title(), Status: s.status, Inspecting: l != nil || e.dueLocked(step), Stale: e.staleChecksLocked(step),
		Skip: s.skip, Checks: slices.Clone(s.checks), Said: slices.Clone(s.said),
		Started: s.started, Seconds: s.seconds,
	}
	if s.status == Running && e.job.current == v.ID {
		v.Waited = e.job.time.waited.Seconds()
	}
	if skipper, ok := step.(steps.Skipper); ok && v.Skip == "" {
		v.Skip = skipper.Skip()
	}
	if s.progress != nil {
		p := *s.progress
		v.Progress = &p
	}
	_, undoer := step.(steps.Undoer)
	v.Undo = undoer && (s.touched || s.status == StepUndone)
	for _, f := range step.Fields() {
		v.Fields = append(v.Fields, e.draft.view(f))
	}
	return v
}
