package main

import (
	"testing"

	"touchdown/steps"
	"touchdown/steps/engine"
)

// TestFirstText: the form that is measured is found whatever pages come before it.
func TestFirstText(t *testing.T) {
	field := func(path string, kind steps.Kind, visible bool) engine.FieldView {
		return engine.FieldView{Path: path, Kind: kind, Visible: visible}
	}
	page := func(fields ...engine.FieldView) engine.StageView {
		return engine.StageView{Steps: []engine.StepView{{}, {Fields: fields}}}
	}
	s := &engine.Snapshot{Stages: []engine.StageView{
		page(),
		page(field("port", steps.Pick, true), field("address", steps.Text, true)),
		page(field("hidden", steps.Pick, false), field("name", steps.Text, true)),
	}}
	if f, err := firstText(s); err != nil || f.Path != "name" {
		t.Errorf("%q (%v)", f.Path, err)
	}
	if _, err := firstText(&engine.Snapshot{Stages: s.Stages[:2]}); err == nil {
		t.Error("a form out of nothing")
	}
}
