package factory

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// lineScript gives a line back to the kernel's messages; it goes last, after the consoles that need it.
const lineScript = "/usr/local/bin/touchdown-line"

// Uninstall takes away what Install laid. A file that someone changed since stays, and is named. What the work left
// in the state folder stays too. The record of what was laid goes last: a run that was cut off, or in which something failed, is
// repeated, and does what is left.
func (h *ManualInstall) Uninstall(ctx context.Context) error {
	files, units, err := h.files()
	if err != nil {
		return err
	}
	if err := h.suited(files, message.T("`touchdown factory unbake`")); err != nil {
		return err
	}
	record, err := h.record()
	if err != nil {
		return err
	}
	if len(record) == 0 {
		h.Say("There was nothing to take away: `touchdown install` laid nothing here.")
		return nil
	}
	ours, err := h.ours(record)
	if err != nil {
		return err
	}
	if h.Dry {
		for _, file := range ours {
			h.Say("would remove  %s", file)
		}
		return nil
	}
	if err := h.rests(ctx); err != nil {
		return err
	}
	// The rest is done even when the line goes on which the command was typed.
	ctx = context.WithoutCancel(ctx)
	if err := h.stop(ctx, units); err != nil {
		return err
	}
	// Also where something could not be removed: without consoles and logins nobody could repeat the command here.
	if err := errors.Join(h.remove(ctx, ours), h.logIns(ctx)); err != nil {
		return err
	}
	return h.Host.Remove(layout.Installed)
}

// rests waits for the jobs of Touchdown's units that systemd has begun, such as the consoles that an update starts again, and refuses while
// the engine is at work or an update may be.
func (h *ManualInstall) rests(ctx context.Context) error {
	if h.active(ctx, layout.TrialUnit+".timer") || h.active(ctx, layout.TrialUnit+".service") {
		return &problem.Problem{
			Code: "HND-UPDT", Summary: message.T("An update of this node is under way, or was stopped in the middle."),
			Fix: message.T("Wait for its end, which comes within 15 minutes; then run the same command again."),
		}
	}
	for range mostLooks {
		// A job that does not end is no reason to wait for ever: what it keeps from being done fails below, and tells so.
		if jobs, err := h.Host.Run(ctx, "systemctl", "list-jobs", "--no-legend", "--plain", "touchdown-*"); err != nil || strings.TrimSpace(jobs) == "" {
			break
		}
		if err := h.pause(ctx); err != nil {
			return err
		}
	}
	return h.Idle(ctx)
}

// mostTries bounds what is tried again, and mostLooks how often systemd is asked for jobs: the end of a console takes 40 s at most.
const mostTries, mostLooks = 20, 100

func (h *ManualInstall) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(h.Between):
		return nil
	}
}

// run runs a command that does no harm when it is repeated, and repeats it where it fails. systemctl looks up the units of a pattern first,
// and fails where one of them ends before it asks for their stop ("not loaded"), or where another job comes in between ("canceled").
func (h *ManualInstall) run(ctx context.Context, argv ...string) error {
	for try := 1; ; try++ {
		_, err := h.Host.Run(ctx, argv...)
		if err == nil || try == mostTries {
			return err
		}
		if err := h.pause(ctx); err != nil {
			return err
		}
	}
}

// ours are the files that are as they were laid, in the order in which they go: units, programs. Of the program an update may have made
// another, and have kept the one before it; a power cut may have left the one that it tried.
func (h *ManualInstall) ours(record laid) ([]string, error) {
	var ours []string
	for _, file := range slices.Sorted(maps.Keys(record)) {
		have, err := h.Host.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case slices.Contains(record[file], sum(have)):
			ours = append(ours, file)
		case file == layout.Program:
			ours = append(ours, file)
		default:
			h.Say("kept          %s: it was changed since it was laid", file)
		}
	}
	for _, file := range []string{layout.PreviousProgram, layout.CandidateProgram, layout.CheckedProgram} {
		if h.Host.Exists(file) {
			ours = append(ours, file)
		}
	}
	return ours, nil
}

// stop ends the engine and lets no boot start it again.
func (h *ManualInstall) stop(ctx context.Context, units []string) error {
	units = slices.DeleteFunc(slices.Clone(units), func(u string) bool { return !h.Host.Exists(rhcos.Units + "/" + u) })
	if len(units) == 0 {
		return nil
	}
	// During a boot a console that is just being opened would start the engine, and so cancel its stop.
	for _, argv := range [][]string{{"disable"}, {"--job-mode=replace-irreversibly", "stop"}} {
		if err := h.run(ctx, slices.Concat([]string{"systemctl", "--quiet"}, argv, units)...); err != nil {
			return err
		}
	}
	h.Say("stopped       %s", strings.Join(units, ", "))
	return nil
}

// remove removes files. The consoles, and an engine that one of them may have started meanwhile, end between their units and
// their programs: a console that ends with its unit still there is followed by a login, which is followed by a console.
func (h *ManualInstall) remove(ctx context.Context, ours []string) error {
	away := func(unit bool) error {
		for _, file := range ours {
			if strings.HasPrefix(file, "/etc/systemd/") != unit {
				continue
			}
			if err := h.Host.Remove(file); err != nil {
				return unwritable(err)
			}
			h.Say("removed       %s", file)
		}
		return nil
	}
	if err := errors.Join(away(true), h.Host.Remove(layout.TrialDropIn)); err != nil {
		return err
	}
	for _, argv := range [][]string{{"systemctl", "daemon-reload"}, {"systemctl", "stop", "touchdown-console*.service", "touchdown-engine*.service"}} {
		if err := h.run(ctx, argv...); err != nil {
			return err
		}
	}
	quiet, err := h.Host.Glob(layout.Lines + "/*")
	if err != nil {
		return err
	}
	for _, file := range quiet {
		line := path.Base(file)
		if strings.HasPrefix(line, ".") { // what the script keeps there
			continue
		}
		if !h.Host.Exists(lineScript) { // someone has removed it: the next boot makes the line loud
			break
		}
		if err := h.run(ctx, lineScript, "loud", line); err != nil {
			return err
		}
	}
	return away(false)
}

// logIns gives the lines back to the logins that the machine had. The wizard's own login ends last: the command may have
// been typed there.
func (h *ManualInstall) logIns(ctx context.Context) error {
	h.Say("opening       the machine's own logins")
	for _, argv := range [][]string{{"stop", "touchdown-login@*.service"}, {"start", "getty.target"}} {
		if err := h.run(ctx, append([]string{"systemctl", "--no-block"}, argv...)...); err != nil {
			return err
		}
	}
	return nil
}
