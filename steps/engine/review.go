package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/site"
)

// planLimit ends the planning of one step, which only reads. On a server all steps need seconds; on an emulated processor on a
// busy machine they needed more than a minute.
const planLimit = time.Minute

// makeReview computes what would be done and what stands against it.
//
// It waits until every step has looked at the answers as they are: what was seen of earlier ones says nothing of these.
func (e *Engine) makeReview(ctx context.Context) error {
	if err := e.roundIf(ctx, e.stale); err != nil {
		return err
	}
	e.mu.Lock()
	cfg, stages := e.draft.settled()
	e.mu.Unlock()
	v := &ReviewView{}
	errs, warnings := cfg.Validate(e.now())
	if e.o.List == ListFactory { // a node on the bench line has no site yet
		errs, warnings = errs.Below("spec.policy"), warnings.Below("spec.policy")
	}
	v.judge(stages, errs, warnings)
	for _, stage := range stages {
		for _, step := range stage.Steps {
			e.planStep(ctx, v, step)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.store.inputs(cfg) != e.draft.inputs() || e.staleLocked() {
		return fmt.Errorf("%w: an answer changed while the review was made; ask for it again", ErrState)
	}
	e.judgeChecksLocked(v, stages)
	plans, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding the review: %w", err)
	}
	v.Fingerprint = e.store.fingerprint(e.store.inputs(cfg), string(plans))
	e.draft.review = v
	e.changedLocked()
	return nil
}

// judge adds what is wrong with the answers.
func (v *ReviewView) judge(stages []steps.Stage, errs, warnings site.Errors) {
	labels := map[string]string{}
	for _, stage := range stages {
		for _, step := range stage.Steps {
			for _, f := range step.Fields() {
				labels[f.Path] = f.Label
			}
		}
	}
	say := func(err *site.Error) string {
		label := labels[err.Path]
		if label == "" {
			label = err.Path
		}
		text := label + " " + err.Msg
		if err.Fix != "" {
			text += ": " + err.Fix
		}
		return text
	}
	for _, err := range errs {
		v.Problems = append(v.Problems, say(err))
	}
	for _, err := range warnings {
		v.Warnings = append(v.Warnings, say(err))
	}
}

// planStep adds what one step would do.
func (e *Engine) planStep(ctx context.Context, v *ReviewView, step steps.Step) {
	plan := StepPlan{Step: step.ID(), Title: step.Title()}
	if s, ok := step.(steps.Skipper); ok {
		plan.Skip = s.Skip()
	}
	if planner, ok := step.(steps.Planner); ok && plan.Skip == "" && len(v.Problems) == 0 {
		ctx, stop := context.WithTimeout(ctx, planLimit)
		defer stop()
		err := guard(func() (err error) {
			plan.Plan, err = planner.Plan(ctx, e.o.Node)
			return err
		})
		if err != nil {
			p := problem.From(err)
			e.o.Node.Log.Warn("plan", "step", step.ID(), "error", e.mask.Mask(err.Error()))
			v.Problems = append(v.Problems, fmt.Sprintf("%s: %s %s (%s)", step.Title(), p.Summary, p.Fix, p.Code))
		}
	}
	v.Steps = append(v.Steps, plan)
}

// judgeChecksLocked adds the checks that stand against a start. Those of a step that does not look beforehand are about
// an earlier attempt, with other answers perhaps. The caller holds e.mu.
func (e *Engine) judgeChecksLocked(v *ReviewView, stages []steps.Stage) {
	for _, stage := range stages {
		for _, step := range stage.Steps {
			if _, looks := step.(steps.Inspector); !looks {
				continue
			}
			for _, c := range e.job.step(step.ID()).checks {
				seen := c.Title + ": " + strings.TrimSuffix(c.Observed, ".") + ". "
				switch c.Status {
				case check.Fail:
					v.Problems = append(v.Problems, seen+c.Fix)
				case check.Warn:
					v.Warnings = append(v.Warnings, seen+c.Fix)
				case check.Waived:
					v.Warnings = append(v.Warnings, fmt.Sprintf("%sWaived by %s (%s)", seen, c.Waiver.By, c.Waiver.Reason))
				}
			}
		}
	}
	v.Warnings = slices.Compact(v.Warnings)
}
