package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// renderEvent is an event as one or more lines for a person. "" for what only a screen shows.
func renderEvent(e event.Event) string {
	at := e.Time.Format(time.TimeOnly)
	line := func(format string, args ...any) string { return linef(at+"  "+format, args...) }
	name := e.Step
	if name == "" {
		name = "job"
	}
	e = whole(e)
	switch e.Kind {
	case event.Checked:
		return line("%-5s %s: %s", strings.ToUpper(string(e.Check.Status)), titled(*e.Check), e.Check.Observed)
	case event.Cleared:
		return line("%-5s %s: no longer applies", "GONE", e.Check.Title)
	case event.Said:
		return line("      %s", e.Text)
	case event.Progressed:
		return line("      %s", renderProgress(*e.Progress))
	case event.Asked:
		return line("ASK   %s (default %s)", e.Question.Text, e.Question.Default)
	case event.Answered:
		return line("ANSWR %s, by %s", e.Text, e.By)
	case event.Failed, event.Cancelled:
		return line("%-5s %s", strings.ToUpper(string(e.Kind)), name) + renderTrouble(e.Problem)
	case event.Lost:
		return line("LOST  %s", e.Text) + renderTrouble(e.Problem)
	case event.Missed:
		return line("MISSD %s", e.Text)
	case event.Changed:
		return ""
	}
	out := strings.ToUpper(string(e.Kind)) + " " + name
	if e.Text.String() != "" && e.Step != "" {
		out += ": " + e.Text.String()
	}
	if e.Seconds >= 0.1 {
		out += fmt.Sprintf(" (%.1f s)", e.Seconds)
	}
	return line("%s", out)
}

// whole is e with what its kind needs: a journal that was damaged may have lost it.
func whole(e event.Event) event.Event {
	if e.Check == nil {
		e.Check = &check.Check{}
	}
	if e.Progress == nil {
		e.Progress = &progress.Progress{}
	}
	if e.Question == nil {
		e.Question = &steps.Question{}
	}
	return e
}

func renderProgress(p progress.Progress) string {
	var parts []string
	if p.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d %s", p.Done, p.Total, p.Unit))
	} else if p.Done > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", p.Done, p.Unit))
	}
	if p.Waiting.String() != "" {
		parts = append(parts, "waiting for "+p.Waiting.String())
	}
	return strings.Join(parts, ", ")
}

func renderTrouble(t *event.Trouble) string {
	if t == nil {
		return ""
	}
	out := linef("    %s  %s", t.Code, t.Summary)
	if t.Detail.String() != "" {
		out += linef("    cause: %s", t.Detail)
	}
	for _, l := range t.Output {
		out += linef("    | %s", l)
	}
	return out + linef("    try:   %s", t.Fix)
}

// renderReview prints what would be done.
func renderReview(out io.Writer, r *view.Review) {
	say := func(format string, args ...any) { _, _ = io.WriteString(out, linef(format, args...)) }
	for _, s := range r.Steps {
		if s.Skip.String() != "" {
			say("  %s: left out, %s", s.Title, s.Skip)
			continue
		}
		if len(s.Plan.Changes)+len(s.Plan.Disturbances)+len(s.Plan.Permanent) == 0 {
			continue
		}
		say("  %s", s.Title)
		for _, c := range s.Plan.Changes {
			if c.Old.String() == "" { // nothing was there, or what was there cannot be asked now
				say("    %s: %s", c.What, c.New)
				continue
			}
			say("    %s: %s -> %s", c.What, c.Old, c.New)
		}
		for _, d := range s.Plan.Disturbances {
			say("    %s, about %s: %s", d.What, roughly(d.Seconds), d.Cause)
		}
		for _, p := range s.Plan.Permanent {
			say("    cannot be undone: %s", p)
		}
	}
	for _, w := range withIDs(r, r.Warnings) {
		say("  WARN  %s", w)
	}
	for _, p := range withIDs(r, r.Problems) {
		say("  STOP  %s", p)
	}
}

// roughly says a guess in seconds as people do: "30 s", "1 min 30 s", "4 min".
func roughly(seconds float64) string {
	all := int(math.Round(seconds))
	switch minutes, rest := all/60, all%60; {
	case minutes == 0:
		return fmt.Sprintf("%d s", rest)
	case rest == 0:
		return fmt.Sprintf("%d min", minutes)
	default:
		return fmt.Sprintf("%d min %d s", minutes, rest)
	}
}

// renderSnapshot prints where the node and the job are.
func renderSnapshot(out io.Writer, s *view.Snapshot) {
	say := func(format string, args ...any) { _, _ = io.WriteString(out, linef(format, args...)) }
	say("%s: node %s, job %s", strings.TrimSpace(s.Hostname+" "+s.Cluster), s.Life, s.State)
	if s.Control.Holder != "" {
		say("control: %s", s.Control.Holder)
	}
	if s.Left > 0 {
		say("time left: about %d min", int(math.Ceil(s.Left/60)))
		if s.Late.String() != "" {
			say("longer than usual: waiting for %s", s.Late)
		}
	}
	for _, n := range s.Notices {
		say("notice: %s", n)
	}
	if s.Monitor.String() != "" {
		say("%s", s.Monitor)
	}
	for _, stage := range s.Stages {
		say("%s", stage.Title)
		for _, step := range stage.Steps {
			line := fmt.Sprintf("  %-8s %s", step.Status, step.Title)
			if step.Progress != nil {
				line += ": " + renderProgress(*step.Progress)
			}
			if step.Skip.String() != "" {
				line += ": " + step.Skip.String()
			}
			say("%s", line)
		}
	}
	if s.Question != nil {
		say("question: %s", s.Question.Text)
	}
	fmt.Fprint(out, renderTrouble(s.Problem))
}
