package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/cover"
)

// mustBeWhole are the files of which the tests of their own package reach every statement: the journal, the runner and
// undo, and what they rest on. A fault there loses a node, and most of it is code that only runs when something fails.
var mustBeWhole = []string{
	"steps/engine/engine.go",
	"steps/engine/foreground.go",
	"steps/engine/hub.go",
	"steps/engine/inputs.go",
	"steps/engine/job.go",
	"steps/engine/journal.go",
	"steps/engine/leaveout.go",
	"steps/engine/loss.go",
	"steps/engine/reading.go",
	"steps/engine/record.go",
	"steps/engine/recorder.go",
	"steps/engine/recover.go",
	"steps/engine/runner.go",
	"steps/engine/stepstate.go",
	"steps/engine/statefolder.go",
	"steps/engine/undo.go",
	"steps/engine/watchdog.go",
	"steps/engine/worktime.go",
}

// checkWhole names each statement of files that the profile does not reach.
func checkWhole(profile string, files []string) error {
	profiles, err := cover.ParseProfiles(profile)
	if err != nil {
		return fmt.Errorf("reading %s: %w", profile, err)
	}
	var missed []error
	for _, name := range files {
		i := slices.IndexFunc(profiles, func(p *cover.Profile) bool { return short(p.FileName) == name })
		if i < 0 {
			missed = append(missed, fmt.Errorf("%s is not in the profile", name))
			continue
		}
		for _, b := range profiles[i].Blocks {
			if b.Count == 0 {
				missed = append(missed, fmt.Errorf("%s:%d: no test reaches lines %d to %d", name, b.StartLine, b.StartLine, b.EndLine))
			}
		}
	}
	if len(missed) > 0 {
		return errors.Join(missed...)
	}
	fmt.Printf("every statement of %s is reached\n", strings.Join(files, ", "))
	return nil
}
