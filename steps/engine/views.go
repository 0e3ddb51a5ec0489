package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"touchdown/steps"
	"touchdown/steps/site"
)

// Snapshot implements Session.
func (e *Engine) Snapshot(context.Context) (*Snapshot, error) {
	var machine []string
	if e.o.Notices != nil {
		machine = e.o.Notices() // reads files, so nobody else waits for it
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.job
	s := &Snapshot{
		Seq: e.seq, Version: e.o.Version, Hostname: e.hostname, Serial: e.serial,
		Life: e.lifeLocked(), List: cmp.Or(e.o.List, ListSite), Locked: e.lockedLocked(), Cluster: e.site.Domain(), State: e.stateLocked(), Now: e.now(),
		Started: j.started, Ended: j.ended, Worked: j.time.until(e.now()).Seconds(), Current: j.current, Resumed: e.resumed,
		Review: e.review, Problem: j.problem, Met: slices.Clone(j.met),
		Pen: e.control.view(),
	}
	if j.question != nil {
		q := *j.question
		s.Question = &q
	}
	for _, text := range j.lost {
		s.Notices = append(s.Notices, "Records were lost: "+text)
	}
	for _, name := range slices.Sorted(maps.Keys(e.notices)) {
		s.Notices = append(s.Notices, e.notices[name])
	}
	s.Notices = append(s.Notices, machine...)
	asks := map[string]string{} // which stage asks for a path
	for _, stage := range e.stages(e.site.Clone()) {
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
	case e.review != nil:
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
		v.Fields = append(v.Fields, e.fieldView(f))
	}
	return v
}

func (e *Engine) fieldView(f steps.Field) FieldView {
	value, _ := e.site.Get(f.Path)
	v := FieldView{
		Path: f.Path, Kind: f.Kind, Label: f.Label, Help: f.Help, Example: f.Example, Optional: f.Optional,
		Source: e.site.Sources[f.Path], Choices: f.Choices, Visible: f.Visible == nil || f.Visible(),
		Changed: value != e.found[f.Path].value, Act: f.Act,
	}
	if f.Dynamic {
		choices, known := e.offers[f.Path]
		v.Choices, v.Loading = choices, !known
	}
	if f.Check != nil && value != "" {
		if err := f.Check(value); err != nil {
			v.Problem = e.mask.Mask(err.Error())
		}
	}
	if e.site.IsSecret(f.Path) || f.Kind == steps.Secret {
		v.SecretSet = value != ""
		return v
	}
	v.Value = value
	if found := e.found[f.Path].value; !site.SecretValue(f.Path, found) {
		v.Found = found
	}
	return v
}
