package tui

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/view"
)

// sockets are two volumes, one of which is not read.
var sockets = []chosen.Volume{
	{ID: "a", Name: "TOUCHDOWN (sdb1)", More: true, Files: []chosen.File{{Path: "ca.pem", Bytes: 1846}, {Path: "site/server.key", Bytes: 1704}}},
	{ID: "b", Name: "sdc1", Why: message.F("%s %s (%s)", message.F("The volume %s.", message.T("has the file system NTFS, which is not read")), message.T("Use a stick with FAT (vfat) or an ISO9660 image: touchdown media write makes both."), "MED-KND")},
}

// fromSticks lets the values of a list come from files.
func fromSticks(s *view.Snapshot) {
	for i := range s.Stages {
		for j := range s.Stages[i].Steps {
			for k := range s.Stages[i].Steps[j].Fields {
				v := &s.Stages[i].Steps[j].Fields[k]
				v.Files = isPasted(v.Kind) || v.Kind == steps.Secret
			}
		}
	}
}

// TestFilesOnSticks: Ctrl-O in a field lists the files on sticks with their volumes and sizes. A wrong one is refused where the list is,
// a right one becomes the value, with its source beside it, and what was typed before is forgotten.
func TestFilesOnSticks(t *testing.T) {
	b := newBench(t, 80, 24, realSite, fromSticks)
	b.press("c", "c", "shift+tab", "d")
	b.in("spec.additionalTrustBundle")
	b.shows("Ctrl-O file on a stick")
	b.press("ctrl+o")
	b.shows("There is no file on any stick.")
	b.fake.mu.Lock()
	b.fake.volumes = sockets
	b.fake.mu.Unlock()
	b.press("enter", "i")
	for _, want := range []string{"Trusted CAs of the site: choose a file", "TOUCHDOWN (sdb1)", "> ca.pem           1846 bytes", "site/server.key  1704 bytes", "There are more files", "NTFS"} {
		b.shows(want)
	}
	b.press("down", "enter")
	b.shows("! The file site/server.key is not taken: it holds a private key. Choose the")
	b.press("down", "enter") // round and round
	b.shows("Taken from the file ca.pem.")
	b.shows("ca.pem, stick TOUC")
	if top := b.app.top().name(); top != "form" {
		t.Errorf("the page is %s", top)
	}
	b.press("ctrl+o", "b")
	b.shows("ca.pem, stick TOUC")
}

// TestAFilesNameIsWhole: the column of the sources has room for few words; the name of the file is told whole, the volume's where it fits.
func TestAFilesNameIsWhole(t *testing.T) {
	for file, want := range map[string]string{
		"ca.pem": "  ca.pem, stick TOUC..", "mirrors.yaml": "  mirrors.yaml\n", "registry-cas.yaml": "  registry-cas.yaml\n", "a-very-long-name-of.pem": "  a-very-long-name-o..",
	} {
		b := newBench(t, 80, 24, realSite, fromSticks, func(s *view.Snapshot) {
			for i, v := range at(s, "advanced").Fields {
				if v.Path == "spec.additionalTrustBundle" {
					at(s, "advanced").Fields[i].Value, at(s, "advanced").Fields[i].Source = "a certificate", chosen.From("TOUCHDOWN", file)
				}
			}
		})
		b.press("c", "c", "shift+tab", "d")
		b.shows(want)
	}
}

// TestARefusedFileNamesTheField: a reason may name another answer, by its path; a person at a console knows it by its label.
func TestARefusedFileNamesTheField(t *testing.T) {
	b := newBench(t, 80, 24, realSite, fromSticks)
	b.fake.volumes = []chosen.Volume{{ID: "a", Name: "TOUCHDOWN (sdb1)", Files: []chosen.File{{Path: "bundle.key", Bytes: 7}}}}
	b.fake.fix = message.T("To use the file, take it as spec.additionalTrustBundle.")
	b.press("c", "c", "shift+tab", "d")
	b.in("spec.registryCerts")
	b.press("ctrl+o", "enter")
	b.shows("take it as \"Trusted CAs of the site\".")
}

// TestFilesInTheReview: the review tells which answers come from files.
func TestFilesInTheReview(t *testing.T) {
	b := newBench(t, 80, 40, func(s *view.Snapshot) {
		s.State, s.Review = view.Reviewed, reviewView()
		s.Review.Files = []message.Text{message.F("%s: from %s on stick %s", message.T("Pull secret"), "pull.json", "TOUCHDOWN")}
	})
	b.shows("Answers from files on sticks")
	b.shows("Pull secret: from pull.json on stick TOUCHDOWN")
}

// TestPlainFilesOnSticks: the same in line mode, by number or name, for a secret too, whose echo is off.
func TestPlainFilesOnSticks(t *testing.T) {
	f := newFake()
	f.volumes = []chosen.Volume{}
	fromSticks(&f.snap)
	p, done := startPlain(t, f)
	p.after(t, "take control", "control")
	p.after(t, "Cluster name [sno-042]:", "")
	p.after(t, "Base domain []:", "example.com")
	p.printed(t, "To take it from a file on a stick, type stick.")
	p.after(t, "Pull secret []:", "stick")
	p.printed(t, "wait a moment, then type stick again.")
	f.mu.Lock()
	f.volumes = sockets
	f.mu.Unlock()
	p.after(t, "Pull secret []:", "stick")
	p.printed(t, "TOUCHDOWN (sdb1)")
	p.printed(t, "2  site/server.key  1704 bytes")
	p.printed(t, "There are more files")
	p.printed(t, "NTFS")
	p.after(t, "Number or name of the file", "site/server.key")
	p.printed(t, "it holds a private key")
	p.after(t, "Pull secret []:", "stick")
	p.after(t, "Number or name of the file", "1")
	p.printed(t, "Taken from the file ca.pem.")
	p.after(t, "Pull secret [set, not shown]:", "")
	p.after(t, "API certificate []:", "stick")
	p.after(t, "Number or name of the file", "ca.pem")
	p.printed(t, "Taken from the file ca.pem.")
	p.printed(t, "API certificate [set, not shown]:")
	_ = p.in.Close()
	if err := <-done; !errors.Is(err, ErrHungUp) {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	told := strings.Join(f.shown, "\n")
	for _, want := range []string{"prints what is not recorded: that a file is taken", "prints what is not recorded: why a file is not taken"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told:\n%s", want, told)
		}
	}
	if strings.Contains(told, "ca.pem") || strings.Contains(told, "server.key") || strings.Contains(told, "TOUCHDOWN") {
		t.Errorf("a file of a stick is told:\n%s", told)
	}
	if set := strings.Join(f.sets, " "); set != "spec.baseDomain=example.com" {
		t.Errorf("typed as a value: %s", set)
	}
}

// TestFilesBehindAnotherPage: what the engine answers while the help is in front of the list, or after it was closed, is not lost.
func TestFilesBehindAnotherPage(t *testing.T) {
	b := newBench(t, 80, 24, realSite, fromSticks)
	b.fake.volumes = sockets
	b.press("c", "c", "shift+tab", "d")
	b.in("spec.additionalTrustBundle")
	later := func(key string) tea.Cmd {
		b.app.View()
		_, cmd := b.app.Update(keyPress(key))
		return cmd
	}
	listed := later("ctrl+o")
	b.shows("Looking at the sticks")
	b.press("?")
	b.run(listed)
	b.press("b", "ctrl+o")
	b.shows("> ca.pem           1846 bytes")
	for _, away := range []string{"b", "?"} {
		b.press("down")
		wrong := later("enter")
		b.press(away)
		b.run(wrong)
		if away == "?" {
			b.press("b")
		} else {
			b.shows("The file site/server.key is not taken")
		}
		b.press("ctrl+o")
		b.app.unsent["spec.additionalTrustBundle"] = "half a line"
		right := later("enter")
		b.shows("Reading ca.pem ...")
		b.press(away)
		b.run(right)
		if text, typed := b.app.unsent["spec.additionalTrustBundle"]; typed {
			t.Errorf("what was typed stays in front of the file: %q", text)
		}
		if away == "?" {
			b.press("b")
		} else {
			b.shows("Taken from the file ca.pem.")
		}
		b.shows("ca.pem, stick TOUC")
		b.press("ctrl+o")
		b.shows("> ca.pem           1846 bytes")
	}
}
