package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/site"
)

// takesFile tells whether the value of a field can come from a file: it has lines, or is too long to be typed.
func takesFile(o *Options, f steps.Field) bool {
	return o.Media != nil && !f.Beside && (f.Kind == steps.PEM || f.Kind == steps.Lines || f.Long)
}

// fileField finds the field with a path, if its value can come from a file.
func fileField(c *core, path string) (steps.Field, bool) {
	for _, stage := range c.draft.stages() {
		for _, step := range stage.Steps {
			for _, f := range steps.FieldsOf(step) {
				if f.Path == path && takesFile(c.o, f) && (f.Visible == nil || f.Visible()) {
					return f, true
				}
			}
		}
	}
	return steps.Field{}, false
}

// offerFiles lists the files on media, or gives a field what is in one of them. Other than what was typed, a value that its check refuses
// is not kept: a wrong file may hold anything, and what is in a field is shown.
func offerFiles(ctx context.Context, e *Engine, pen string, f steps.Field, a Action) error {
	if a.Volume == "" {
		return listFiles(ctx, e, pen)
	}
	value, volume, err := fileOf(ctx, e, f, a)
	if err != nil {
		return err
	}
	return answering(ctx, e, pen, Act, func(d *draft) error {
		if err := d.setFrom(f.Path, value, chosen.From(volume, a.Value)); err != nil {
			return err
		}
		d.volumes = nil
		return nil
	})
}

// listFiles shows a person the files on media. It changes no answer, so that what was found for the answers stays.
func listFiles(ctx context.Context, e *Engine, pen string) error {
	found, err := volumes(ctx, e)
	if err != nil {
		return err
	}
	return collecting(ctx, e, pen, Act, func(c *core) error {
		c.draft.volumes = found
		c.recorder.changed()
		return nil
	})
}

// longestList is how many files of a volume are listed: each console is sent all of them, with each snapshot.
const longestList = 200

// volumes are what lies in the sockets now.
func volumes(ctx context.Context, e *Engine) (all []chosen.Volume, err error) {
	found, err := e.o.Media.Volumes(ctx)
	for _, v := range found {
		all = append(all, shownOf(v))
	}
	return all, err
}

// shownOf is a volume as consoles show it, with the first of its files.
func shownOf(v media.Volume) chosen.Volume {
	view := chosen.Volume{ID: v.ID, Name: v.Name, More: v.More}
	if p := v.Refused; p != nil {
		view.Why = message.F("%s %s (%s)", p.Summary, p.Fix, p.Code)
	}
	if len(v.Files) > longestList {
		v.Files, view.More = v.Files[:longestList], true
	}
	for _, f := range v.Files {
		view.Files = append(view.Files, chosen.File{Path: f.Path, Bytes: f.Bytes})
	}
	return view
}

// fileOf reads a file that a person was shown, and judges it by the rules for what is typed into a field.
func fileOf(ctx context.Context, e *Engine, f steps.Field, a Action) (value, volume string, err error) {
	e.mu.Lock()
	shown := slices.ContainsFunc(e.core.draft.volumes, func(v chosen.Volume) bool {
		return v.ID == a.Volume && slices.ContainsFunc(v.Files, func(f chosen.File) bool { return f.Path == a.Value })
	})
	e.mu.Unlock()
	if !shown {
		return "", "", fmt.Errorf("%w: there is no such file in the list of files on media; list them again", ErrNotFound)
	}
	data, volume, err := e.o.Media.ReadFile(ctx, a.Volume, a.Value)
	if err != nil {
		return "", "", err
	}
	value = string(data)
	if err = site.Check(f.Path)(value); err == nil && f.Check != nil {
		err = f.Check(value)
	}
	if err != nil {
		return "", "", unsuited(a.Value, err)
	}
	return value, volume, nil
}

// unsuited is the problem of a file that a field does not take.
func unsuited(file string, err error) error {
	p := &problem.Problem{Code: "MED-VAL", Summary: message.F("The file %s is not taken: %s.", file, beside(err)), Fix: message.T("Choose the right file. The field has not changed.")}
	if e, ok := errors.AsType[*site.Error](err); ok && e.Msg != (message.Text{}) {
		p.Summary = message.F("The file %s is not taken: it %s.", file, e.Msg)
		if e.Fix != (message.Text{}) {
			p.Fix = message.F("The field has not changed. To use the file, %s.", e.Fix)
		}
	}
	return p
}
