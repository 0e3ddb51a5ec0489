package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"touchdown/steps"
	"touchdown/steps/view"
	"touchdown/steps/wire"
	"touchdown/test/bench/figures"
	"touchdown/test/wait"
)

// starts is how often a console is started to time its first text.
const starts = 7

// tabs is how many fields and buttons are gone through for the most bytes of one.
const tabs = 4

// slowLine is the line of the bytes: those of a Tab and of steady progress are promised for 9600 baud.
const slowLine = true

// console measures start, memory and bytes on the line.
func console(ctx context.Context, set setup) (map[string]figures.Figure, error) {
	empty, err := emptyProgram(filepath.Join(filepath.Dir(set.binary), "..", "bench", "bin", "empty"), set.dir)
	if err != nil {
		return nil, err
	}
	whole, err := emptyProgram(filepath.Join(filepath.Dir(set.binary), "..", "bench", "bin", "empty-whole"), set.dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(set.binary)
	if err != nil {
		return nil, err
	}
	if set.binary, err = fromDisk(set.binary, set.dir); err != nil {
		return nil, err
	}
	l, err := newLab(ctx, set, "zero")
	if err != nil {
		return nil, err
	}
	defer l.close()
	first, paint, err := firstWord(l)
	if err != nil {
		return nil, err
	}
	all, err := onForms(ctx, l)
	if err != nil {
		return nil, err
	}
	console := all["console_resident_mib"].Value
	all["first_text_ms"] = figures.Goal(first, "ms", 150)
	all["first_paint_b"] = figures.Goal(paint, "bytes", 1800)
	all["binary_mib"] = figures.Goal(float64(info.Size())/(1<<20), "MiB", 60)
	all["console_to_empty"] = figures.Goal(console/empty.all, "times an empty Bubble Tea program", 1.3)
	all["console_to_empty_whole"] = figures.Goal(console/whole.all, "times one with all packages in it", 1.3)
	all["empty_program_mib"] = figures.Beside(empty.all, "MiB", "of its own", empty.own)
	all["empty_program_whole_mib"] = figures.Beside(whole.all, "MiB", "of its own", whole.own)

	rest, err := atRest(l.engine.Process.Pid, 20*time.Second, 2*time.Minute)
	all["engine_resident_mib"] = figures.Goal(rest.all, "MiB", 48)
	all["engine_own_mib"] = figures.Beside(rest.own, "MiB", "pages of the program's file", rest.file)
	return all, err
}

// onForms measures what keys cost on the forms of the list, and the memory of a console there.
func onForms(ctx context.Context, l *lab) (map[string]figures.Figure, error) {
	s, err := openForm(ctx, l)
	if err != nil {
		return nil, err
	}
	defer s.close()
	_ = s.cost("a") // the first character also tells that the field was changed
	char := 0
	for _, key := range []string{"b", "c", "d"} {
		char = max(char, s.cost(key))
	}
	_ = s.cost("\x12") // back to what was found
	tab, help := 0, 0
	for range tabs {
		first, all := s.costs("\t")
		tab, help = max(tab, first), max(help, all-first)
	}
	idle := s.idle()
	memory, err := resident(s.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	busy, err := resident(l.engine.Process.Pid)
	return map[string]figures.Figure{
		"typed_character_b":        figures.Goal(float64(char), "bytes", 4),
		"tab_b":                    figures.Goal(float64(tab), "bytes", 32),
		"help_after_tab_b":         {Value: float64(help), Unit: "bytes", Against: "the Tab itself", Ratio: float64(help) / float64(max(tab, 1))},
		"idle_form_b_per_s":        figures.None(idle, "bytes/s"),
		"console_resident_mib":     {Value: memory.all, Unit: "MiB", Against: "an empty program, see console_to_empty", Ratio: 1},
		"console_own_mib":          figures.Beside(memory.own, "MiB", "pages of the program's file", memory.file),
		"engine_with_a_form_mib":   {Value: busy.all, Unit: "MiB", Against: "engine_resident_mib, once nobody fills in a form", Ratio: 1},
		"engine_own_with_form_mib": figures.Beside(busy.own, "MiB", "pages of the program's file", busy.file),
	}, err
}

// idleFor is how long a form is watched on which nothing changes.
const idleFor = 20 * time.Second

// sameMinute is how long to wait until a time lies within one minute. The header's clock is the one thing of an idle form that changes: it
// writes once when a minute begins, and that is not counted.
func sameMinute(now time.Time, lasts time.Duration) time.Duration {
	const apart = 2 * time.Second // from the console's own look at the time
	into := now.Sub(now.Truncate(time.Minute))
	switch {
	case into < apart:
		return apart - into
	case into+lasts+apart > time.Minute:
		return time.Minute - into + apart
	}
	return 0
}

// idle is what a form writes in a second while nothing changes. What it wrote is printed: nothing is the goal.
func (s *screen) idle() float64 {
	s.quiet(time.Second)
	time.Sleep(sameMinute(time.Now(), idleFor))
	before := s.written()
	time.Sleep(idleFor)
	s.mu.Lock()
	wrote := bytes.Clone(s.got[before:])
	s.mu.Unlock()
	if len(wrote) > 0 {
		fmt.Fprintf(os.Stderr, "an idle form wrote %q\n", wrote)
	}
	return float64(len(wrote)) / idleFor.Seconds()
}

// firstWord is the median time from exec to the first word on the screen, in milliseconds, and the most bytes of the first pictures, with
// what the engine told meanwhile.
func firstWord(l *lab) (ms, paint float64, err error) {
	var times []float64
	for range starts {
		begin := time.Now()
		s, err := openScreen(l, slowLine)
		if err != nil {
			return 0, 0, err
		}
		err = s.until("ouchdown", wait.Timeout(5*time.Second))
		times = append(times, float64(time.Since(begin).Microseconds())/1000)
		paint = max(paint, float64(s.quiet(pause)))
		s.close()
		if err != nil {
			return 0, 0, err
		}
	}
	return median(times), paint, nil
}

// openForm starts a console on a page that begins with a line of text. A console opens where an answer was typed last, so one
// is typed there first: which pages come before does not matter.
func openForm(ctx context.Context, l *lab) (*screen, error) {
	snapshot, err := l.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	field, err := firstText(snapshot)
	if err != nil {
		return nil, err
	}
	session := wire.Dial(l.socket)
	token, err := session.TakeControl(ctx, "measure", false)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(session.Set(ctx, token, field.Path, field.Example), session.ReleaseControl(ctx, token)); err != nil {
		return nil, err
	}
	s, err := openScreen(l, slowLine)
	if err != nil {
		return nil, err
	}
	if err := s.until("> "+field.Label.String(), wait.Timeout(10*time.Second)); err != nil {
		s.close()
		return nil, err
	}
	_, _ = s.tty.WriteString("\x07") // a console that died shows no text
	if err := s.until("you have control", wait.Timeout(10*time.Second)); err != nil {
		s.close()
		return nil, err
	}
	_ = s.cost("\t\x1b[Z")
	return s, nil
}

// firstText is the first field of the first page that begins with a line of text.
func firstText(s *view.Snapshot) (view.Field, error) {
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			i := slices.IndexFunc(step.Fields, func(f view.Field) bool { return f.Visible })
			if i < 0 {
				continue
			}
			if f := step.Fields[i]; f.Kind == steps.Text {
				return f, nil
			}
			break // the page begins with something else
		}
	}
	return view.Field{}, errors.New("no page begins with a line of text")
}
