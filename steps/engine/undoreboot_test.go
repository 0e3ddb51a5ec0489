package engine

import (
	"context"
	"testing"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// booting is a setting that needs a boot of the machine before the undo of all.
type booting struct {
	*setting
	boots []string // in which it was asked
}

func (s *booting) PrepareUndo(_ context.Context, node *backend.Node, _ steps.Report) error {
	boot, err := node.Host.BootID()
	if s.boots = append(s.boots, boot); len(s.boots) == 1 {
		return &steps.Reboot{Reason: message.T("the lamp comes back")}
	}
	return err
}

// TestUndoRebootsWhereItsPreparationAsks: also where the work had asked for as many reboots as it may.
func TestUndoRebootsWhereItsPreparationAsks(t *testing.T) {
	for _, looped := range []bool{false, true} {
		w := newWorld()
		lamp := &booting{setting: &setting{w: w, id: "lamp", want: func() string { return "on" }}}
		w.more = []steps.Stage{{ID: "more", Title: message.T("More"), Steps: []steps.Step{lamp}}}
		if looped {
			w.run["lamp"] = func(context.Context, *backend.Node, steps.Report) error {
				return &steps.Reboot{Reason: message.T("the lamp is new")}
			}
		}
		r := newRig(t, w)
		rebooted := func(boots int) {
			until(t, r, "a reboot", func(*view.Snapshot) bool { return len(r.host.Calls()) == boots })
			r.reopen(t)
		}
		r.start(t, r, take(t, r), false)
		ended, before := view.IsDone, 0
		for ; looped && before < maxBoots; before++ {
			ended = view.HasFailed
			rebooted(before + 1)
		}
		until(t, r, "the end", inState(ended))
		must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Undo}))
		rebooted(before + 1)
		until(t, r, "everything back", inState(view.IsUndone))
		machineIs(t, r, "factory", "off", "")
		if len(lamp.boots) != 2 || lamp.boots[0] == lamp.boots[1] || len(r.host.Calls()) != before+1 {
			t.Errorf("asked in %q, calls %q", lamp.boots, r.host.Calls())
		}
	}
}
