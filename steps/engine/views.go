package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/report"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// Snapshot implements Session.
func (e *Engine) Snapshot(ctx context.Context) (*view.Snapshot, error) {
	machine, lock := append(idleNotice(e), e.o.notices()...), e.idle.View(ctx) // both read files, so nobody else waits for it
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.core.snapshot(machine)
	s.Idle, s.Offer = lock, e.offers.view()
	if e.o.Outbox != nil {
		s.Monitor = e.o.Outbox.Status().Line()
	}
	return s, nil
}

// snapshot is everything a console shows. The sentences about the machine come from Options.Notices.
func (c *core) snapshot(machine []message.Text) *view.Snapshot {
	j, now := c.job, c.recorder.now()
	s := &view.Snapshot{
		Seq: c.recorder.seq, Version: c.o.Version, Hostname: c.hostname, Serial: c.serial,
		Life: c.life(), List: cmp.Or(c.o.List, view.ListSite), Locked: c.locked(), HandedOver: j.handedOver, Cluster: c.draft.site.Domain(), State: c.state(), Now: now,
		Started: j.started, Ended: j.ended, Worked: j.time.until(now).Seconds(), Current: j.current, Resumed: c.resumed,
		Review: c.draft.review.shown(), Question: c.question.view(j.question), Problem: j.problem, Met: slices.Clone(j.met),
		Notices: c.notes(machine), Control: c.control.view(), Volumes: c.draft.volumes, Starts: starting(c), Live: c.live,
		Update: shownRelease(c), Permanent: j.leaves(), Touched: j.touched(),
	}
	s.Left, s.Late = j.left(now)
	s.Edited = j.accepted != "" && s.State != view.IsDone && j.accepted != c.folder.key.lasting(c.draft.site)
	asks, closed := map[string]string{}, map[string]string{} // which stage asks for a path, and which of the advanced ones
	effective, _ := c.draft.effective()                      // once: each snapshot asks for it, and it makes the list of steps
	for _, stage := range c.draft.stages() {
		view, here := view.Stage{ID: stage.ID, Title: stage.Title, Advanced: stage.Advanced}, asks
		if stage.Advanced {
			here = closed
		}
		for _, step := range stage.Steps {
			v := c.stepView(step, effective)
			for _, f := range v.Fields {
				here[f.Path] = stage.ID
			}
			if r, ok := step.(steps.Reader); ok && len(v.Fields) == 0 {
				v.Asks = cmp.Or(firstAsked(asks, r.Reads()), firstAsked(closed, r.Reads()))
			}
			view.Steps = append(view.Steps, v)
		}
		s.Stages = append(s.Stages, view)
	}
	return s
}

// notes are the sentences for every screen.
func (c *core) notes(machine []message.Text) (all []message.Text) {
	for _, text := range c.job.lost {
		all = append(all, message.F("Records were lost: %s", text))
	}
	for _, name := range slices.Sorted(maps.Keys(c.notices)) {
		all = append(all, c.notices[name])
	}
	return append(all, machine...)
}

// reportJob is the job in the words of the report.
func (c *core) reportJob(machine []message.Text) report.Job {
	out := report.Job{
		Version: c.o.Version, Serial: c.serial, Hostname: c.hostname, Started: c.job.started, Watched: !c.job.unattended,
		Warnings: message.English(c.notes(machine)), Problems: message.English(c.job.met),
		Medium: broughtByMedium(c),
	}
	for _, stage := range c.draft.stages() {
		for _, step := range stage.Steps {
			s := c.job.step(step.ID())
			js := report.JobStep{Step: report.Step{ID: step.ID(), Title: step.Title().String(), Seconds: s.seconds}, Checks: slices.Clone(s.checks)}
			if s.status == view.StepDone || s.status == view.StepSkip || s.status == view.StepFailed {
				js.Outcome = string(s.status)
			}
			if s.status == view.StepSkip {
				js.Why = strings.TrimSuffix(s.skip.String(), ".")
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

// stepView is a step as consoles see it. What was looked at was looked at for the effective answers.
func (c *core) stepView(step steps.Step, effective *site.Config) view.Step {
	s := c.job.step(step.ID())
	v := view.Step{
		ID: step.ID(), Title: step.Title(), Status: s.status, Inspecting: c.inspector.shows(effective, step), Stale: c.inspector.staleChecks(effective, step),
		Skip: s.skip, Checks: slices.Clone(s.checks), Said: slices.Clone(s.said),
		Started: s.started, Seconds: s.seconds,
	}
	if s.status == view.Running && c.job.current == v.ID {
		v.Waited, v.Moved, v.Rate = c.job.time.waited.Seconds(), s.moved, s.rate()
	}
	if skipper, ok := step.(steps.Skipper); ok && v.Skip.String() == "" {
		v.Skip = skipper.Skip()
	}
	if s.progress != nil {
		p := *s.progress
		v.Progress = &p
	}
	_, undoer := step.(steps.Undoer)
	v.Undo = undoer && (s.touched || s.status == view.StepUndone)
	for _, f := range steps.FieldsOf(step) {
		field := c.draft.view(f)
		field.Files = takesFile(c.o, f)
		if field.Visible && field.Problem.String() == "" && c.job.state == view.Collecting {
			field.Together = judgeTogether(c.draft, c.o.List, c.today)[f.Path]
		}
		v.Fields = append(v.Fields, field)
	}
	return v
}
