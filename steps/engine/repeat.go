package engine

import (
	"fmt"

	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/site"
)

// repeat judges what was typed again of a value that nobody saw. The text itself is not kept: that both are the same becomes the
// source of the first, so it is on the disk with it, and ends with it when the value is typed again.
func (d *draft) repeat(f steps.Field, value string) error {
	if !site.ByHand(d.site.Sources[f.Repeats]) {
		first, _ := d.field(f.Repeats)
		return fmt.Errorf("%w: %w", session.ErrInvalid, &site.Error{Msg: message.F("Fill in %s first.", first.Label)})
	}
	cfg, differs := d.site.Clone(), error(nil)
	if value != "" {
		differs = f.Check(value)
	}
	cfg.Repeat(f.Repeats, value != "" && differs == nil)
	if err := d.take(cfg); err != nil || differs == nil {
		return err
	}
	return fmt.Errorf("%w: %w", session.ErrInvalid, differs)
}

// judgeRepeats adds the values that were typed once and unseen. The work does not start with them: a typing error would be kept.
func (v *review) judgeRepeats(cfg *site.Config, stages []steps.Stage) {
	for _, stage := range stages {
		for _, step := range stage.Steps {
			for _, f := range steps.FieldsOf(step) {
				if f.Repeats != "" && f.Visible() && !cfg.Repeated(f.Repeats) {
					v.problem(stage.ID, message.F("%s is empty. %s", f.Label, f.Help))
				}
			}
		}
	}
}
