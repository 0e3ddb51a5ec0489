package engine

import (
	"errors"
	"slices"

	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// suggest fills in a value that was found on the machine, and tells whether consoles have something to show. What a person entered, and what
// was reviewed, stays. Beside what a person entered the value counts as found where nothing else was: they can go back to it.
func (d *draft) suggest(path, value, source string) (bool, error) {
	old, _ := d.site.Get(path)
	if d.review != nil || old != "" && (d.found[path].value != "" || !chosen.ByPerson(d.site.Sources[path])) {
		return false, nil
	}
	cfg := d.site
	if old != "" {
		cfg = cfg.Clone() // only to be judged
	}
	if err := cfg.SetFrom(path, value, source); err != nil {
		return false, err
	}
	d.found[path], d.together = found{value, source}, nil
	return true, nil
}

// offer sets the choices of a field, and tells whether they are other ones.
func (d *draft) offer(path string, choices []steps.Choice) bool {
	if old, known := d.offers[path]; known && slices.Equal(old, choices) {
		return false
	}
	d.offers[path] = slices.Clone(choices)
	return true
}

// view is a field as a console sees it.
func (d *draft) view(f steps.Field) view.Field {
	value, _ := d.site.Get(f.Path)
	if f.Beside {
		value = besideOf(d, f)
	}
	v := view.Field{
		Path: f.Path, Kind: f.Kind, Label: f.Label, Help: f.Help, Example: f.Example, Optional: f.Optional,
		Source: d.site.Sources[f.Path], Choices: f.Choices, Visible: f.Visible == nil || f.Visible(), Repeats: f.Repeats,
		Changed: value != d.found[f.Path].value && f.Kept == nil, Act: f.Act,
	}
	if f.Dynamic {
		choices, known := d.offers[f.Path]
		v.Choices, v.Loading = choices, !known
	}
	switch {
	case f.Repeats != "" && d.site.Repeated(f.Repeats):
		v.SecretSet, v.Source = true, site.Typed
		return v
	case d.site.Repeated(f.Path):
		v.Source = site.Typed
	}
	if f.Check != nil && value != "" {
		if err := f.Check(value); err != nil {
			v.Problem = beside(err).Map(d.mask.Mask)
		}
	}
	if d.site.IsSecret(f.Path) || f.Kind == steps.Secret {
		v.SecretSet = value != ""
		return v
	}
	v.Value = value
	if found := d.found[f.Path].value; !site.SecretValue(f.Path, found) {
		v.Found = found
	}
	return v
}

// beside is what a person reads of a field's error beside the field.
func beside(err error) message.Text {
	e, ok := errors.AsType[*site.Error](err)
	if !ok || e.Path != "" || e.File != "" || e.Line > 0 {
		return message.Detail(err)
	}
	return e.Says()
}
