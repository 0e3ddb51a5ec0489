package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/updates"
	"touchdown/steps/view"
)

// scene is one picture: what the engine says and what was typed to get there.
type scene struct {
	name  string
	edits []func(*view.Snapshot)
	keys  []string
}

// scenes are all screens, in the order in which a technician meets them.
func scenes() []scene {
	on := func(edits ...func(*view.Snapshot)) []func(*view.Snapshot) {
		return append([]func(*view.Snapshot){realSite}, edits...)
	}
	reviewed := func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() }
	blocked := func(s *view.Snapshot) {
		reviewed(s)
		s.Review.Problems = []message.Text{message.T("Base domain: this is needed."), message.T("Disk for the system: 60 GB, needed are 120 GB.")}
	}
	elsewhere := func(s *view.Snapshot) {
		blocked(s)
		s.Review.Page = "advanced"
		s.Review.Problems = []message.Text{message.F("%s %s", message.T("Kubeconfig lasts (days)"), message.T("is not a whole number"))}
	}
	brought := func(s *view.Snapshot) { // by a stick: a list of four lines, a proxy with a password, and a list of one line
		for path, value := range map[string]string{
			"spec.imageDigestMirrors": "- source: quay.io/a\n  mirrors:\n    - registry.example.com:5000/a\n    - registry2.example.com/a\n",
			"spec.proxy.httpsProxy":   "", "spec.sshKeys": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG a technician",
		} {
			fields := at(s, "advanced").Fields
			f := &fields[slices.IndexFunc(fields, func(f view.Field) bool { return f.Path == path })]
			f.Value, f.Found, f.Source, f.Changed, f.SecretSet = value, value, "stick SITECONFIG", false, value == ""
		}
	}
	plugged := func(s *view.Snapshot) {
		fromSticks(s)
		s.Volumes = sockets
	}
	late := func(s *view.Snapshot) {
		working(s)
		at(s, "rollouts").Progress.Usual = 60
		s.Late = message.T("operator authentication")
		s.Resumed = epoch
		s.Notices = []message.Text{message.T("disk full: the journal keeps its last entries in memory")}
	}
	tried := func(s *view.Snapshot) {
		list := &s.Stages[0].Steps[0].Checks
		*list = append(*list, check.Check{
			ID: "net-dns-1", Title: message.T("DNS server"), Status: "pass", Observed: message.T("It answers, and knows the names that were asked for."),
			Expected: message.T("an answer in less than a second"),
			Evidence: message.Lines([]string{
				"198.51.100.10/24 -> 198.51.100.53",
				"api.sno.site.example A: Success [198.51.100.10] in 0 ms", "api.sno.site.example AAAA: Success [2001:db8:51::10] in 0 ms",
				"registry.example.net A: Success [203.0.113.10 203.0.113.11 203.0.113.12 203.0.113.13 203.0.113.14] in 1 ms",
				"touchdown-8a84f877.apps.sno.site.example A: Success [198.51.100.10] in 1 ms",
			}),
		})
	}
	held := func(s *view.Snapshot) { s.Control = view.Control{Holder: "tty1", Since: epoch} }
	pem := func(s *view.Snapshot) { at(s, "credentials").Fields[0].SecretSet = true }
	sealed := func(s *view.Snapshot) { realFactory(s); finished(s); s.Life, s.Cluster = "armed", "" }
	locked := func(s *view.Snapshot) { finished(s); s.Locked = true }
	stick := func(edits ...func(*updates.Offer)) func(*view.Snapshot) {
		return func(s *view.Snapshot) {
			s.Update = aRelease()
			for _, edit := range edits {
				edit(s.Update)
			}
		}
	}
	loading := func(s *view.Snapshot) {
		s.State = view.Inspecting
		s.Stages[0].Steps[0].Inspecting = true
		s.Stages[0].Steps[0].Checks = s.Stages[0].Steps[0].Checks[:2]
	}
	return []scene{
		{"checks-looking", on(loading), nil},
		{"checks", on(), nil},
		{"checks-focus", on(), []string{"up", "up"}},
		{"checks-evidence", on(tried), []string{"up", "enter"}},
		{"checks-more", on(tried), []string{"up"}},
		{"network", on(), []string{"c"}},
		{"form", on(), []string{"c", "c"}},
		{"form-problem", on(), []string{"c", "c", "tab", "'bad_domain", "tab"}},
		{"form-secret", on(pem), []string{"c", "c", "tab", "tab", "tab", "'-----BEGIN CERTIFICATE-----", "enter", "'MIIB"}},
		{"form-advanced", on(brought), []string{"c", "c"}},
		{"advanced", on(brought), []string{"c", "c", "shift+tab", "d"}},
		{"advanced-lines", on(), []string{"c", "c", "shift+tab", "d", "tab", "tab", "tab", "'interfaces:", "enter", "'  - name: eno1"}},
		{"files", on(plugged), []string{"c", "c", "shift+tab", "d", "tab", "tab", "tab", "ctrl+o", "down"}},
		{"form-choices", on(), []string{"c", "right"}},
		{"form-readonly", on(held), []string{"c", "c"}},
		{"pick", on(), []string{"c", "enter"}},
		{"keyboard", on(), []string{"?", "k"}},
		{"keyboard-typed", on(), []string{"?", "k", "'de", "down"}},
		{"review", on(reviewed), nil},
		{"review-word", on(reviewed), []string{"tab", "'sno-0"}},
		{"review-blocked", on(blocked), nil},
		{"review-again", on(reviewed, stands), nil},
		{"review-page", on(elsewhere), nil},
		{"work", on(working), nil},
		{"work-late", on(late), nil},
		{"undoing", on(undoing), nil},
		{"question", on(asking), nil},
		{"problem", on(failed), nil},
		{"problem-readonly", on(failed, held), nil},
		{"problem-lost", on(lost), nil},
		{"problem-lost-locked", on(lost, func(s *view.Snapshot) { s.Locked = true }), nil},
		{"dashboard-moving", on(func(s *view.Snapshot) { s.Locked = true }), nil},
		{"dashboard", on(finished), nil},
		{"dashboard-locked", on(locked), nil},
		{"dashboard-live", on(locked, troubled), nil},
		{"dashboard-pause", on(locked, paused), nil},
		{"dashboard-away", on(locked, unanswered), nil},
		{"undone", on(undone), nil},
		{"undone-renamed", on(undone, renamed), nil},
		{"factory-checks", on(realFactory), nil},
		{"factory-sealed", on(sealed), nil},
		{"report", on(finished), []string{"r"}},
		{"login", on(finished), []string{"g"}},
		{"inventory", on(), []string{"t"}},
		{"fitness", on(realSite, unfit), []string{"f"}},
		{"inventory-part", on(), []string{"t", "right", "right", "right", "left"}},
		{"log", on(working), []string{"l"}},
		{"log-find", on(working), []string{"l", "/", "'names"}},
		{"help", on(), []string{"c", "?"}},
		{"confirm-undo", on(failed), []string{"u", "enter", "tab"}},
		{"confirm-undo-renamed", on(failed, renamed), []string{"u", "enter", "tab"}},
		{"confirm-leave", on(), []string{"ctrl+c"}},
		{"takeover", on(held), []string{"ctrl+g"}},
		{"update", on(stick()), nil},
		{"update-ordered", on(stick(ordered(false)), func(s *view.Snapshot) {
			s.Starts = 40
			s.Notices = []message.Text{message.F("Touchdown is updated in %d s by the order on the stick. Any key stops it.", 40)}
		}), nil},
		{"update-unordered", on(stick(ordered(true))), nil},
		{"update-refused", on(stick(unsigned)), nil},
		{"update-runs", on(stick(func(o *updates.Offer) { o.State = updates.Tries })), nil},
		{"update-failed", on(stick(notUpdated)), nil},
		{"waive", on(failed), []string{"w", "enter"}},
	}
}

func TestGolden(t *testing.T) {
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			b := newBench(t, 80, 24, s.edits...)
			b.press(s.keys...)
			b.golden(s.name)
		})
	}
}

// TestGoldenSizes draws every scene at every other size; the pictures of a size are one file.
func TestGoldenSizes(t *testing.T) {
	for _, size := range [][2]int{{100, 37}, {132, 43}, {79, 23}, {80, 25}} {
		name := fmt.Sprintf("all-%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			for _, s := range scenes() {
				b := newBench(t, size[0], size[1], s.edits...)
				b.press(s.keys...)
				fmt.Fprintf(&all, "== %s\n%s", s.name, b.screen())
			}
			compare(t, name, all.String())
		})
	}
}

// TestGoldenRich draws every scene in the rich theme: it is the basic one in other marks, column for column.
func TestGoldenRich(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {160, 50}} {
		name := fmt.Sprintf("rich-%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			for _, s := range scenes() {
				b := newBench(t, size[0], size[1], s.edits...)
				b.press(s.keys...)
				basic := b.screen()
				b.app.switchMode()
				rich := b.screen()
				code := b.app.theme.code
				b.app.theme.code = nil // a code stands where nothing else does
				if basicGlyphs.Replace(b.screen()) != basic {
					t.Errorf("%s is laid out in another way:\n%s", s.name, rich)
				}
				b.app.theme.code = code
				for _, line := range b.app.frame(b.app.top(), size[0], size[1]).lines {
					if w := ansi.StringWidth(line); w > size[0] {
						t.Errorf("%s: a line of %d columns: %q", s.name, w, line)
					}
				}
				fmt.Fprintf(&all, "== %s\n%s", s.name, rich)
			}
			compare(t, name, all.String())
		})
	}
}

// TestNothingClipped draws every scene at every size: no line is too long, no button is missing, nothing panics.
func TestNothingClipped(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {80, 25}, {100, 37}, {132, 43}, {79, 23}, {40, 10}, {1, 1}} {
		for _, s := range scenes() {
			t.Run(fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), func(t *testing.T) {
				b := newBench(t, 80, 24, s.edits...)
				b.press(s.keys...)
				b.app.w, b.app.h = size[0], size[1]
				f := b.app.frame(b.app.top(), size[0], size[1])
				if size[0] < 79 {
					return
				}
				if len(f.lines) != size[1] {
					t.Errorf("%d lines", len(f.lines))
				}
				for _, line := range f.lines {
					if w := ansi.StringWidth(line); w > size[0] {
						t.Errorf("a line of %d columns: %q", w, line)
					}
				}
				screen := b.screen()
				for _, label := range labels(b.app.top()) {
					if !strings.Contains(screen, label) {
						t.Errorf("%q is not on the screen:\n%s", label, screen)
					}
				}
				if strings.Contains(screen, "%!") {
					t.Errorf("a broken text:\n%s", screen)
				}
			})
		}
	}
}

// labels are the things that can be done on a screen.
func labels(s screen) []string {
	var list []button
	switch s := s.(type) {
	case *checks:
		list = s.buttons()
	case *form:
		list = s.buttons()
	case *review:
		list = s.buttons()
	case *work:
		list = s.buttons()
	case *question:
		list = s.buttons()
	case *trouble:
		list = s.buttons()
	case *dashboard:
		list = s.buttons()
	}
	var out []string
	for _, b := range list {
		out = append(out, b.label)
	}
	return out
}

// TestFocusIsMarked: one line of every picture has the mark, whatever colours the terminal has.
func TestFocusIsMarked(t *testing.T) {
	for _, s := range scenes() {
		b := newBench(t, 80, 24, s.edits...)
		b.press(s.keys...)
		f := b.app.frame(b.app.top(), 80, 24)
		if !strings.Contains(ansi.Strip(f.lines[f.y]), marker) {
			t.Errorf("%s: the cursor's line has no mark: %q", s.name, ansi.Strip(f.lines[f.y]))
		}
		if strings.Contains(b.screen(), string(steps.Secret)+"=") {
			t.Errorf("%s shows a secret", s.name)
		}
	}
}
