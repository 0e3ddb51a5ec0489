package main

import (
	"testing"
	"time"

	"touchdown/steps"
	"touchdown/steps/view"
)

// TestFirstText: the form that is measured is found whatever pages come before it.
func TestFirstText(t *testing.T) {
	field := func(path string, kind steps.Kind, visible bool) view.Field {
		return view.Field{Path: path, Kind: kind, Visible: visible}
	}
	page := func(fields ...view.Field) view.Stage {
		return view.Stage{Steps: []view.Step{{}, {Fields: fields}}}
	}
	s := &view.Snapshot{Stages: []view.Stage{
		page(),
		page(field("port", steps.Pick, true), field("address", steps.Text, true)),
		page(field("hidden", steps.Pick, false), field("name", steps.Text, true)),
	}}
	if f, err := firstText(s); err != nil || f.Path != "name" {
		t.Errorf("%q (%v)", f.Path, err)
	}
	if _, err := firstText(&view.Snapshot{Stages: s.Stages[:2]}); err == nil {
		t.Error("a form out of nothing")
	}
}

// TestSameMinute: no minute begins while an idle form is watched.
func TestSameMinute(t *testing.T) {
	for s := range 60 {
		now := time.Date(2026, 11, 27, 10, 20, s, 0, time.UTC)
		from := now.Add(sameMinute(now, idleFor))
		if to := from.Add(idleFor); from.Second() < 2 || to.Truncate(time.Minute) != from.Truncate(time.Minute) || to.Second() > 58 {
			t.Errorf("from %v it is watched %v to %v", now, from, to)
		}
	}
}
