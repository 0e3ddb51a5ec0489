package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// planLimit ends the planning of one step, which only reads. On a server all steps need seconds; on an emulated processor on a
// busy machine they needed more than a minute. So each gets five: it is there for one that hangs.
const planLimit = 5 * time.Minute

// review is what would be done and what stands against it, while it is made and until an answer changes.
type review struct{ view.Review }

// shown is the review as consoles see it, nil where none was made.
func (v *review) shown() *view.Review {
	if v == nil {
		return nil
	}
	return &v.Review
}

// makeReview computes what would be done and what stands against it.
//
// It waits until every step has looked at the answers as they are: what was seen of earlier ones says nothing of these.
func makeReview(ctx context.Context, e *Engine) error {
	if err := e.roundIf(ctx, e.stale); err != nil {
		return err
	}
	e.mu.Lock()
	cfg, stages := e.core.draft.effective()
	e.mu.Unlock()
	v := &review{}
	errs, warnings := judged(e.o.List, cfg, e.core.today(cfg))
	v.judge(stages, errs, warnings)
	v.judgeRepeats(cfg, stages)
	v.files(cfg, stages)
	for _, stage := range stages {
		for _, step := range stage.Steps {
			v.plan(ctx, step, e.o.Node, e.mask)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.folder.key.inputs(cfg) != e.core.draft.inputs() || e.core.inspector.stale() {
		return fmt.Errorf("%w: an answer changed while the review was made; ask for it again", session.ErrState)
	}
	v.judgeChecks(e.core.job, stages)
	plans, err := json.Marshal(&v.Review)
	if err != nil {
		return fmt.Errorf("encoding the review: %w", err)
	}
	for _, s := range v.lasts(cmp.Or(e.o.Pace, 1)) {
		v.Seconds += s
	}
	v.Fingerprint = e.folder.key.fingerprint(e.folder.key.inputs(cfg), string(plans))
	e.core.draft.review = v
	e.core.recorder.changed()
	return nil
}

// judge adds what is wrong with the answers.
func (v *review) judge(stages []steps.Stage, errs, warnings site.Errors) {
	labels, pages := map[string]message.Text{}, map[string]string{}
	for _, stage := range stages {
		for _, step := range stage.Steps {
			for _, f := range steps.FieldsOf(step) {
				labels[f.Path], pages[f.Path] = f.Label, stage.ID
			}
		}
	}
	say := func(err *site.Error) message.Text {
		label := labels[err.Path]
		if list, item, inside := strings.Cut(err.Path, "["); inside && labels[list].String() != "" {
			label = message.F("%s, [%s", labels[list], item)
		}
		if label.String() == "" {
			label = message.Data(err.Path)
		}
		text := message.F("%s %s", label, err.Msg)
		if err.Fix.String() != "" {
			text = message.F("%s: %s", text, err.Fix)
		}
		return text
	}
	for _, err := range errs {
		list, _, _ := strings.Cut(err.Path, "[")
		v.problem(pages[list], say(err))
	}
	for _, err := range warnings {
		v.Warnings = append(v.Warnings, say(err))
	}
}

// files tells which answers come from files on media.
func (v *review) files(cfg *site.Config, stages []steps.Stage) {
	for _, stage := range stages {
		for _, step := range stage.Steps {
			for _, f := range steps.FieldsOf(step) {
				if volume, file, ok := chosen.Of(cfg.Sources[f.Path]); ok {
					v.Files = append(v.Files, message.F("%s: from %s on stick %s", f.Label, file, volume))
				}
			}
		}
	}
}

// problem adds what keeps the work from starting, and the stage on whose page it can be fixed, if any.
func (v *review) problem(page string, text message.Text) {
	v.Page = cmp.Or(v.Page, page)
	v.Problems = append(v.Problems, text)
}

// plan adds what one step would do.
func (v *review) plan(ctx context.Context, step steps.Step, node *backend.Node, mask *Masker) {
	plan := view.StepPlan{Step: step.ID(), Title: step.Title()}
	if s, ok := step.(steps.Skipper); ok {
		plan.Skip = s.Skip()
	}
	if planner, ok := step.(steps.Planner); ok && plan.Skip.String() == "" && len(v.Problems) == 0 {
		ctx, stop := context.WithTimeout(ctx, planLimit)
		defer stop()
		err := guard(func() (err error) {
			plan.Plan, err = planner.Plan(ctx, node)
			return err
		})
		if err != nil {
			p := problem.From(err)
			node.Log.Warn("a step cannot be planned", "step", step.ID(), "error", mask.Mask(err.Error()))
			v.Problems = append(v.Problems, message.F("%s: %s %s (%s)", step.Title(), p.Summary, p.Fix, p.Code))
		}
	}
	v.Steps = append(v.Steps, plan)
}

// judgeChecks adds the checks that stand against a start. Those of a step that does not look beforehand are about
// an earlier attempt, with other answers perhaps.
func (v *review) judgeChecks(j *job, stages []steps.Stage) {
	for _, stage := range stages {
		for _, step := range stage.Steps {
			if _, looks := step.(steps.Inspector); !looks {
				continue
			}
			for _, c := range j.step(step.ID()).checks {
				if c.ID == idle.Check {
					continue
				}
				seen := message.Sentence(c.Observed)
				text := message.F("%s: %s %s", c.Title, seen, c.Fix)
				switch c.Status {
				case check.Fail:
					v.problem(stage.ID, text)
					v.Checks = append(v.Checks, view.Judged{ID: c.ID, Title: c.Title, Status: c.Status, Text: text})
				case check.Warn:
					v.Warnings = append(v.Warnings, text)
					v.Checks = append(v.Checks, view.Judged{ID: c.ID, Title: c.Title, Status: c.Status, Text: text})
				case check.Waived:
					v.Warnings = append(v.Warnings, message.F("%s: %s Waived by %s (%s)", c.Title, seen, c.Waiver.By, c.Waiver.Reason))
				}
			}
		}
	}
	v.Warnings = slices.Compact(v.Warnings)
}
