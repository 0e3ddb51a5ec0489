package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"touchdown/backend/check"
	"touchdown/backend/value"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// withdrawFlag adds --withdraw; when says where it counts.
func (f *applyFlags) withdrawFlag(cmd *cobra.Command, when string) {
	cmd.Flags().StringArrayVar(&f.withdraw, "withdraw", nil, when+"CHECK: take back the waiver of a check, before the work; done before any --waive")
}

// checkWaivers refuses waivers that are not written as they must be, and of checks that do not exist, before anything is done.
func (f *applyFlags) checkWaivers() error {
	for _, w := range f.waive {
		id, reason, _ := strings.Cut(w, "=")
		switch reason, by := strings.TrimSpace(reason), strings.TrimSpace(f.by); {
		case id == "" || reason == "" || by == "":
			return usage(fmt.Errorf("--waive %s: give CHECK=REASON, and your name with --by", w))
		case len(by)+len(reason) > maxReason || !value.OneLine(by) || !value.OneLine(reason):
			return usage(fmt.Errorf("--waive %s: name and reason are one line each, %d bytes together at most", id, maxReason))
		case !mayBeCheck(id):
			return noSuchCheck("waive", id)
		}
	}
	return nil
}

func noSuchCheck(flag, id string) error {
	return usage(fmt.Errorf("--%s %s: there is no check of this name%s", flag, id, likeCheck(id)))
}

// hasCheck tells whether the node told a check of this ID, with whatever verdict.
func hasCheck(s *view.Snapshot, id string) bool {
	return stepOfCheck(s, id, check.Pass, check.Warn, check.Fail, check.Skip, check.Waived) != ""
}

// waivers takes back those of --withdraw, and passes on those of --waive.
func (a *applying) waivers(ctx context.Context, snapshot *view.Snapshot) error {
	for _, id := range a.flags.withdraw {
		if !a.flags.told && !hasCheck(snapshot, id) {
			return noSuchCheck("withdraw", id)
		}
	}
	for _, w := range a.flags.waive {
		if id, _, _ := strings.Cut(w, "="); !isCheck(id) && !hasCheck(snapshot, id) { // one of a part that is not in this machine
			return noSuchCheck("waive", id)
		}
	}
	for _, id := range a.flags.withdraw {
		step := stepOfCheck(snapshot, id, check.Waived)
		if step == "" {
			continue // it is not waived, or no longer: a command may be repeated
		}
		if err := a.session.Do(ctx, a.token, session.Action{Verb: session.Withdraw, Step: step, Check: id}); err != nil {
			return err
		}
	}
	if len(a.flags.withdraw) > 0 {
		var err error
		if snapshot, err = a.session.Snapshot(ctx); err != nil {
			return err
		}
	}
	return a.waive(ctx, snapshot)
}

// waive passes on the waivers of the command line.
func (a *applying) waive(ctx context.Context, snapshot *view.Snapshot) error {
	for _, w := range a.flags.waive {
		id, reason, _ := strings.Cut(w, "=") // checkWaivers looked at it
		step := stepOfCheck(snapshot, id, check.Fail, check.Warn)
		if step == "" {
			continue // it passed or is waived, or this machine needs no such check
		}
		action := session.Action{Verb: session.Waive, Step: step, Check: id, By: a.flags.by, Reason: reason}
		if err := a.session.Do(ctx, a.token, action); err != nil {
			return err
		}
	}
	return nil
}

// stepOfCheck finds the step whose check of that ID has one of the verdicts.
func stepOfCheck(s *view.Snapshot, id string, verdicts ...check.Status) string {
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			for _, c := range step.Checks {
				if c.ID == id && slices.Contains(verdicts, c.Status) {
					return step.ID
				}
			}
		}
	}
	return ""
}
