package tui

import (
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// restore goes back to the value that was found.
func (f *form) restore(v view.Field) tea.Cmd {
	return f.link.restore([]session.Action{{Verb: session.Restore, Path: v.Path}}, []string{v.Path}, t("form.restored", v.Label))
}

// restorePage asks before everything that was typed on this page is given up.
func (f *form) restorePage() (screen, tea.Cmd) {
	stage, _ := f.desk.stage(f.stage)
	var actions []session.Action
	var paths []string
	for _, step := range stage.Steps {
		for _, v := range step.Fields {
			paths = append(paths, v.Path)
		}
		if len(step.Fields) > 0 {
			actions = append(actions, session.Action{Verb: session.Restore, Step: step.ID})
		}
	}
	return newConfirm(f.desk, confirm{
		title: t("restore.title", stage.Title), text: t("restore.text"), cmd: f.link.restore(actions, paths, t("form.restoredPage")),
	}), nil
}
