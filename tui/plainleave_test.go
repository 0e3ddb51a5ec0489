package tui

import (
	"slices"
	"strings"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

const goesOn = "To correct this, type back; to go on, press Enter:"

// TestPlainTellsWhatDoesNotFitTogether at the end of the page, once; who corrects it goes through the page from there.
func TestPlainTellsWhatDoesNotFitTogether(t *testing.T) {
	f := newFake()
	f.spell = func(s *view.Snapshot) {
		if list := s.Stages[1].Steps[0].Fields; list[0].Value != "good" {
			list[1].Together = message.T("is outside of the subnet")
		}
	}
	p, _ := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	page := func(names ...string) { // answers the questions of the page with what stands in brackets
		for _, name := range names {
			if said := p.printed(t, name); strings.Contains(said, "! ") {
				t.Errorf("told before %s: %s", name, said)
			}
			p.after(t, "]:", "")
		}
	}
	page("Cluster name")
	p.after(t, "Base domain []:", "example.com")
	page("Pull secret", "API certificate")
	p.after(t, "Base domain [example.com]\r\n! is outside of the subnet\r\n"+goesOn, "what")
	p.after(t, goesOn, "back")
	p.after(t, "Base domain [example.com]:", "back")
	p.after(t, "Cluster name [sno-042]:", "better")
	page("Base domain", "Pull secret", "API certificate", "Network port", "IPv4 method") // held once
	p.after(t, "To start, type", "back")
	p.after(t, "Cluster name [better]:", "good")
	page("Base domain", "Pull secret", "API certificate")
	p.after(t, "Network port [eno1]:", "back")
	p.after(t, "API certificate []:", "back")
	p.after(t, "Pull secret []:", "back")
	p.after(t, "Base domain [example.com]:", "back")
	p.after(t, "Cluster name [good]:", "bad") // the same words as before: told already
	page("Base domain", "Pull secret", "API certificate", "Network port", "IPv4 method")
	p.printed(t, "To start, type")
}

// TestPlainTellsWhatFailed before the page of the check is left, be it one without a question or the last, as the screens do.
func TestPlainTellsWhatFailed(t *testing.T) {
	for _, c := range []struct {
		status check.Status
		held   bool
	}{{check.Fail, true}, {check.Warn, false}, {check.Waived, false}} {
		t.Run(string(c.status), func(t *testing.T) {
			f, p := holding(t, func(s *view.Snapshot) {
				hardware := s.Stages[0].Steps[0].Checks
				hardware[0].Status, hardware[0].Fix = c.status, message.T("Use another machine.")
				at(s, "network-settings").Checks = []check.Check{hardware[0]}
			})
			p.printed(t, "removes the answer.")
			if !c.held {
				if said := p.printed(t, "Cluster name [sno-042]:"); said != "\r\n" {
					t.Errorf("told: %s", said)
				}
				return
			}
			p.printed(t, "FAIL  Processors")
			p.printed(t, "Try: Use another machine.")
			p.after(t, "To look at the machine again, type look.\r\n"+goesOn, "look")
			p.after(t, goesOn, "back") // it still fails
			f.did(t, session.Inspect)
			p.printed(t, "This is the first page.")
			p.after(t, "Cluster name [sno-042]:", "")
			p.after(t, "Base domain []:", "example.com")
			p.after(t, "Pull secret []:", "")
			p.after(t, "API certificate []:", "")
			p.after(t, "Network port [eno1]:", "")
			p.after(t, "IPv4 method [dhcp]:", "")
			p.printed(t, "FAIL  Processors")
			f.change(func(s *view.Snapshot) { at(s, "network-settings").Checks = nil })
			p.after(t, goesOn, "look") // nothing fails any more
			p.printed(t, "To start, type")
		})
	}
}

// TestPlainKeepsNoMistake: Enter at a question whose answer is wrong, as a file had it, keeps it no more than Continue on the screens does.
func TestPlainKeepsNoMistake(t *testing.T) {
	f, p := holding(t, func(s *view.Snapshot) {
		name := &at(s, "names").Fields[0]
		name.Value, name.Problem = "a_b", message.T("leave out the underscore")
	})
	p.after(t, "Cluster name [a_b]:", "")
	p.printed(t, "! leave out the underscore")
	p.after(t, "Cluster name [a_b]:", "store1")
	p.printed(t, "Base domain []:")
	if !slices.Contains(f.sets, "spec.clusterName=store1") {
		t.Errorf("set %q", f.sets)
	}
}
