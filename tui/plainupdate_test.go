package tui

import (
	"strings"
	"testing"
	"time"

	"touchdown/steps/idle"
	"touchdown/steps/updates"
	"touchdown/steps/view"
)

// TestPlainToldOfAStick: a prompt hears of a release on a stick, and that an empty line leads to more of it only where that is true.
func TestPlainToldOfAStick(t *testing.T) {
	const (
		only  = "There is a release of Touchdown on a stick."
		asks  = only + " An empty line leads to the question about it."
		title = "The release of Touchdown on the stick TOUCHDOWN (sdb) is not used."
		why   = " An empty line leads to the reason."
	)
	refused := func(s *view.Snapshot) { unsigned(s.Update) }
	for name, c := range map[string]struct {
		edit func(*view.Snapshot)
		want string
	}{
		"with control":    {func(*view.Snapshot) {}, asks},
		"with a PIN":      {func(s *view.Snapshot) { s.Idle = &idle.View{After: 60, Left: 30} }, asks},
		"locked":          {func(s *view.Snapshot) { s.Idle = &idle.View{After: 60} }, only},
		"without control": {func(s *view.Snapshot) { s.Control = view.Control{} }, only},
		"another console": {func(s *view.Snapshot) { s.Control.Holder = "tty1" }, only},
		"work":            {working, only},
		"question":        {asking, only},
		"problem":         {failed, only},
		"landed":          {finished, asks},
		"refused":         {refused, title + why},
		"refused at work": {func(s *view.Snapshot) { working(s); refused(s) }, title},
		"failed":          {func(s *view.Snapshot) { notUpdated(s.Update) }, "Touchdown was not updated from the stick TOUCHDOWN (sdb)." + why},
		"runs":            {func(s *view.Snapshot) { s.Update.State = updates.Reads }, "Touchdown is being updated to v1.9.0"},
		"done":            {func(s *view.Snapshot) { s.Update.State = updates.Done }, ""},
		"none":            {func(s *view.Snapshot) { s.Update = nil }, ""},
	} {
		p := &prompts{desk: newDesk(newLink(t.Context(), newFake(), "ttyS0", time.Hour), Options{Name: "ttyS0", Mode: Basic, Clock: time.Now})}
		s := newFake().snap
		s.Update, s.Control.Holder = aRelease(), "ttyS0"
		c.edit(&s)
		if got := unasked(p, &s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		p.busy.Store(true)
		if got := unasked(p, &s); got != "" {
			t.Errorf("%s, in an answer of several lines: %q", name, got)
		}
	}
}

// TestPlainUpdate: an empty line leads from a question to the release on a stick, its numbers alone start nothing, and why one is not used
// is told.
func TestPlainUpdate(t *testing.T) {
	f, p := holding(t, realSite, finished, func(s *view.Snapshot) { s.Update = aRelease() })
	p.printed(t, "Touchdown v1.9.0 is on the stick TOUCHDOWN (sdb)")
	p.after(t, "Number:", "2")
	p.printed(t, "Update Touchdown to v1.9.0?")
	p.printed(t, "The cluster and its users notice nothing.")
	p.after(t, "Type "+f.snap.Hostname, "sno")
	p.printed(t, "Number:")
	if verbs := f.verbs(); len(verbs) > 0 {
		t.Fatalf("%v without the name", verbs)
	}
	f.change(func(s *view.Snapshot) { unsigned(s.Update); s.Update.Volume = "" })
	p.after(t, "", "")
	p.printed(t, "No release of Touchdown on a stick is used\r\n")
	p.printed(t, "UPD-SGN")
	p.after(t, "Number:", "1")
	f.did(t, "update")
}

// TestTheTitleOfARelease: the name of a volume may be long, and none may be known; the title tells that the release is not used.
func TestTheTitleOfARelease(t *testing.T) {
	b := pluggedIn(t)
	b.fake.change(func(s *view.Snapshot) { s.Update.Volume = strings.Repeat("LONG", 8) + " (sdb)"; unsigned(s.Update) })
	b.refresh()
	b.shows(strings.Repeat("LONG", 8))
	b.shows("used\n")
	for state, want := range map[updates.State]string{updates.Refused: "No release of Touchdown on a stick is used", updates.Failed: "Touchdown was not updated\n"} {
		b = pluggedIn(t)
		b.fake.change(func(s *view.Snapshot) { unsigned(s.Update); s.Update.Volume, s.Update.State = "", state })
		b.refresh()
		b.shows(want)
	}
}
