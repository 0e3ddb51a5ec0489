package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// longestBeside bounds the value of a field that is not part of the site config, in bytes: a passphrase, the name of a device.
const longestBeside = 1 << 10

// field finds the field of a path.
func (d *draft) field(path string) (steps.Field, bool) {
	for _, stage := range d.stages() {
		for _, step := range stage.Steps {
			for _, f := range steps.FieldsOf(step) {
				if f.Path == path {
					return f, true
				}
			}
		}
	}
	return steps.Field{}, false
}

// outside finds the field of a path whose value is not part of the site config.
func (d *draft) outside(path string) (steps.Field, bool) {
	f, ok := d.field(path)
	return f, ok && (f.Beside || f.Repeats != "")
}

// besideOf is such a value.
func besideOf(d *draft, f steps.Field) string {
	if f.Kept != nil {
		return f.Kept()
	}
	return d.beside[f.Path]
}

// setBeside keeps such a value, in memory alone where its step does not keep it. What was reviewed with another one has to be reviewed again.
func (d *draft) setBeside(f steps.Field, text string) error {
	if len(text) > longestBeside {
		return fmt.Errorf("%w: %s has more than %d bytes", session.ErrInvalid, f.Path, longestBeside)
	}
	if !value.Plain(text) {
		return fmt.Errorf("%w: %s has a control character", session.ErrInvalid, f.Path)
	}
	if f.Kept != nil {
		d.review = nil
		return f.Keep(text)
	}
	d.beside[f.Path] = text
	return nil
}

// forgetBeside forgets those values: a passphrase is of the person who typed it, and of the medium that it was typed for. It forgets the
// files that the person was shown, too.
func (d *draft) forgetBeside() {
	clear(d.beside)
	d.volumes = nil
}

// answersOf reads the site config of a medium.
func answersOf(taken *media.Taken) (map[string]string, error) {
	cfg, err := site.Parse(taken.Text, taken.Source, nil)
	if err != nil {
		return nil, &problem.Problem{
			Code: "MED-CFG", Summary: message.T("The site config on the medium cannot be read."), Fix: message.T("Make the medium again; touchdown site validate names the line."),
			Err: err,
		}
	}
	values := map[string]string{}
	for _, path := range cfg.Paths() {
		values[path], _ = cfg.Get(path)
	}
	return values, nil
}

// fill has a medium bring its answers into the form.
func fill(e *Engine, token string, field steps.Field, value string) error {
	e.mu.Lock()
	beside := maps.Clone(e.core.draft.beside)
	e.mu.Unlock()
	var taken *media.Taken
	err := guard(func() (err error) {
		taken, err = field.Act.Fill(value, func(path string) string { return beside[path] })
		return err
	})
	if err != nil {
		return err
	}
	values, err := answersOf(taken)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.core.may(token, session.Act, allowed(session.Act)); err != nil {
		return err
	}
	if !beforeLanding(e.core) {
		return fmt.Errorf("%w: a medium is used before the node lands, not after it", session.ErrState)
	}
	return e.core.answered(e.core.draft.fill(values, taken))
}

// fill takes all answers of a medium, but those that a person gave: these stay, with the medium's beside them to go back to. The
// medium counts as used from here on; where that cannot be noted, nothing is taken.
func (d *draft) fill(values map[string]string, taken *media.Taken) error {
	brought, err := configOf(values, taken.Source)
	if err != nil {
		return err
	}
	cfg, before := brought.Clone(), d.site
	for _, path := range slices.Sorted(maps.Keys(before.Sources)) {
		if !chosen.ByPerson(before.Sources[path]) {
			continue
		}
		typed, _ := before.Get(path)
		if typed == "" { // a secret whose file was lost
			continue
		}
		if err := cfg.SetFrom(path, typed, before.Sources[path]); err != nil {
			return fmt.Errorf("%w: %w", session.ErrInvalid, err)
		}
	}
	if err := d.take(cfg); err != nil {
		return err
	}
	if err := taken.Use(); err != nil {
		return errors.Join(err, d.take(before))
	}
	d.open(brought)
	d.site, d.brought, d.together = cfg, true, nil
	d.mask.Hide(slices.Concat(cfg.SecretTexts(), brought.SecretTexts()))
	d.forgetBeside()
	return nil
}

// beforeLanding tells whether media are of use: the answers are being collected, and the node has not landed yet.
func beforeLanding(c *core) bool {
	return c.o.List != view.ListFactory && c.job.state == view.Collecting && !c.job.landedBefore && !c.locked()
}
