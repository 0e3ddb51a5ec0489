package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/tui"
)

// forged is a line as ours are, behind each of the line breaks that there are.
const forged = "a\n12:00:00  DONE job\r\n12:00:00  DONE job\r12:00:00  DONE job\v12:00:00  DONE job\f12:00:00  DONE job\u008512:00:00  DONE job\u2028" +
	"12:00:00  DONE job\u202912:00:00  DONE job\x1e12:00:00  DONE job\n    E-CODE  Forged\n"

// TestNoTextForgesALine: with line breaks in all their texts, an event, a snapshot, a review and a command of the bench line print as many lines as without.
func TestNoTextForgesALine(t *testing.T) {
	rendered := func(text string) map[string]string {
		out := map[string]string{}
		for _, kind := range eventKinds {
			var e event.Event
			plantText(reflect.ValueOf(&e).Elem(), 8, text)
			e.Kind, e.Time = kind, time.Time{}
			out["event "+string(kind)] = renderEvent(e)
		}
		var s view.Snapshot
		plantText(reflect.ValueOf(&s).Elem(), 8, text)
		var status, review bytes.Buffer
		renderSnapshot(tui.Outlet(&status), &s)
		out["status"] = status.String()
		var r view.Review
		plantText(reflect.ValueOf(&r).Elem(), 8, text)
		for i := range r.Steps {
			r.Steps[i].Skip = message.Text{}
		}
		renderReview(tui.Outlet(&review), &r)
		out["review"] = review.String()
		var direct bytes.Buffer
		each := (&benchLine{out: tui.Outlet(&direct)}).list(steps.Bake("touchdown", "", steps.BakeOptions{Arm: true}), "Taking back: %s").Each
		each(event.Event{Kind: event.Undoing, Step: "bake-arm"})
		each(event.Event{Kind: event.Progressed, Progress: &progress.Progress{Waiting: message.Data(text)}})
		each(event.Event{Kind: event.Checked, Check: &check.Check{Status: check.Fail, Title: message.Data(text), Observed: message.Data(text), Fix: message.Data(text), Evidence: []message.Text{message.Data(text)}}})
		each(event.Event{Kind: event.Said, Text: message.Data(text)})
		out["factory"] = direct.String()
		return out
	}
	honest, hostile := rendered("a"), rendered(forged)
	for name, text := range hostile {
		lines := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\v\f\r\x1c\x1d\x1e\u0085\u2028\u2029", r) })
		if want := strings.Count(honest[name], "\n"); len(lines) != want {
			t.Errorf("%s prints %d lines instead of %d:\n%q", name, len(lines), want, text)
		}
		for _, line := range lines {
			if strings.HasPrefix(line, "12:00:00") || strings.HasPrefix(line, "    E-CODE") {
				t.Errorf("%s has a forged line: %q", name, line)
			}
		}
	}
	for text, want := range map[string]string{
		"a\nb": "a; b\n", "a \r\n  b\n": "a; b\n", "  a": "  a\n", "a\tb\n\n": "a b\n", "": "\n", "\n": "\n",
	} {
		if got := linef("%s", text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestStatusSaysControl: what the screens call control is called so here, too.
func TestStatusSaysControl(t *testing.T) {
	var out bytes.Buffer
	renderSnapshot(&out, &view.Snapshot{Control: view.Control{Holder: "tty1"}})
	if !strings.Contains(out.String(), "\ncontrol: tty1\n") {
		t.Errorf("status prints %q", out.String())
	}
	for _, err := range []error{session.ErrNoControl, session.ErrControlHeld} {
		if !strings.Contains(err.Error(), "control") || strings.Contains(err.Error(), "token") {
			t.Errorf("an error reads %q", err)
		}
	}
}
