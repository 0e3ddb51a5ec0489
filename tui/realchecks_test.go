package tui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gopkg.in/yaml.v3"

	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/health"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/images"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/message"
	"touchdown/steps/view"
)

// realChecks are checks as the backend makes them: of a machine that tells nothing, of a cluster of which nothing can be read, and of
// an image store with each kind of damage.
func realChecks(t *testing.T) []check.Check {
	t.Helper()
	machine := hardware.Inspect(t.Context(), hosttest.New(t).Machine, hardware.Options{All: true})
	all := hardware.Checks(machine, hardware.For("4.21"))
	_, cluster := kubetest.New(t)
	all = append(all, (&health.Looker{}).Look(t.Context(), cluster, health.Options{})...)
	damage := []message.Text{
		images.Damage{File: "overlay/0f3a/diff/usr/bin/oc", What: message.T("it is missing"), Images: []string{"registry.example/oc:1", "registry.example/cli:1"}}.Text(),
		images.Damage{File: "overlay/0f3a/diff/etc/passwd", What: message.F("it has %d bytes instead of %d", 7, 900)}.Text(),
		images.Damage{File: "overlay/0f3a/link", What: message.F("it cannot be read: %s", message.Detail(errors.New("input/output error")))}.Text(),
	}
	s := images.Status{Generation: 3, Mounted: true, Named: true, Images: 61, Layers: 170, Listed: 61, Damage: damage, Unrepaired: []message.Text{message.T("there is nothing to repair it with")}}
	all = append(all, s.Checks()...)
	s = images.Status{Generation: 3, Named: true, Images: 61, Listed: 59, Unlisted: []string{"a:1", "b:1"}, Repaired: damage}
	all = append(all, s.Checks()...)
	all = append(all, images.Moved{Failed: message.T("CRI-O has been started already")}.Check())
	all = append(all, images.Rehearsal{Why: message.T("It is not known that CRI-O's own store was covered and every registry blocked.")}.Check())
	return append(all, images.Rehearsal{Finished: true, NotReady: []message.Text{message.F("%s: %s", "plant/app", message.F("container %s waits: %s", "app", "ErrImagePull"))}}.Check())
}

// identifier is a name of other programs: a setting of assisted-service, an annotation, a command.
var identifier = regexp.MustCompile(`[\w./]+-[\w./-]+`)

// TestRealChecksInEachLanguage: the texts of each check that realChecks makes have no English in German. Each is drawn on its page and
// whole, at 80x24, in each language and in the pseudo-locale, which is longer by 30 %: no sentence is clipped and does not say so.
func TestRealChecksInEachLanguage(t *testing.T) {
	all := realChecks(t)
	if len(all) < 40 {
		t.Fatalf("there are only %d checks", len(all))
	}
	for _, code := range append(Languages()[1:], "pseudo") {
		for n, c := range all {
			t.Run(fmt.Sprintf("%s-%s-%d", code, c.ID, n), func(t *testing.T) {
				only := func(s *view.Snapshot) { at(s, "hardware").Checks = []check.Check{c} }
				b := newBench(t, 80, 24, only)
				if code == "pseudo" {
					speakPseudo(t, b)
				} else {
					b.app.speak(code)
					t.Cleanup(func() { here.Store(nil) })
				}
				if code == "de" {
					for _, text := range append([]message.Text{c.Title, c.Observed, c.Expected, c.Source, c.Fix}, c.Evidence...) {
						english(t, identifier.ReplaceAllString(show(text), ""))
					}
				}
				b.press("up")
				for _, key := range []string{"enter", "enter"} {
					b.whole()
					b.press(key)
				}
			})
		}
	}
}

// TestDamageInGerman: what is damaged in the image store and why a part of the inventory is missing are sentences of the language;
// what the kernel says is called a technical message.
func TestDamageInGerman(t *testing.T) {
	speakTest(t, "de", false)
	machine := hardware.Inspect(t.Context(), hosttest.New(t).Machine, hardware.Options{All: true})
	for _, c := range []struct {
		text message.Text
		want string
	}{
		{images.Damage{File: "overlay/x/diff/y", What: message.T("it is missing")}.Text(), "overlay/x/diff/y: fehlt (kein Image)"},
		{images.Damage{File: "y", What: message.F("it has %d bytes instead of %d", 7, 900)}.Text(), "y: hat 7 Byte statt 900 (kein Image)"},
		{images.Damage{File: "y", What: message.T("its content has changed"), Images: []string{"a", "b", "c"}}.Text(), "y: der Inhalt hat sich geändert (a und 2 weitere)"},
		{images.Damage{File: "y", What: message.F("it cannot be read: %s", message.Detail(errors.New("input/output error")))}.Text(), "y: nicht lesbar: technische Meldung: input/output error (kein Image)"},
		{machine.Errors["nics"], "/sys/class/net fehlt"},
		{machine.Errors["modules"], "technische Meldung: reading /sys/firmware/dmi/tables/DMI: no such file or directory"},
		{machine.Errors["chassis"], "die Firmware sagt dem Kernel nichts (/sys/class/dmi/id fehlt)"},
	} {
		if got := show(c.text); got != c.want {
			t.Errorf("%q is %q in German, want %q", c.text, got, c.want)
		}
	}
}

// TestRowSaysWhatWasSeen: a row of the page has few columns for what was seen, so what the system says stands there without the words that
// call it a technical message; they are in the detail below.
func TestRowSaysWhatWasSeen(t *testing.T) {
	machine := hardware.Checks(hardware.Inspect(t.Context(), hosttest.New(t).Machine, hardware.Options{}), hardware.For("4.21"))
	for id, row := range map[string]string{
		"hw-var": "nicht geprueft: no such file or di..", "hw-memory": "nicht geprueft: Could not determin..", "hw-rtc": "nicht geprueft: /sys/class/rtc/rtc..",
	} {
		n := slices.IndexFunc(machine, func(c check.Check) bool { return c.ID == id })
		b := newBench(t, 80, 24, func(s *view.Snapshot) { at(s, "hardware").Checks = machine[n : n+1] })
		b.app.speak("de")
		t.Cleanup(func() { here.Store(nil) })
		b.press("up")
		if screen := b.screen(); !strings.Contains(screen, row) || strings.Contains(screen, "nicht geprueft: technische Meldung: ") == (id == "hw-rtc") {
			t.Errorf("%s\n%s", id, screen)
		}
	}
}

// TestEachSentenceStandsOnce: no two files of a language have the same key, since the one that is read last would win.
func TestEachSentenceStandsOnce(t *testing.T) {
	for _, code := range Languages()[1:] {
		if found := twice(t, os.DirFS(filepath.Join("languages", code)), yamlFiles(t, code)); len(found) > 0 {
			t.Errorf("%s: %q", code, found)
		}
	}
	sample := fstest.MapFS{"a.yaml": {Data: []byte("console: {back: x}\nengine: {back: x, a: b}")}, "b.yaml": {Data: []byte("engine: {a: c, d: e}")}}
	if found := twice(t, sample, []string{"a.yaml", "b.yaml"}); !slices.Equal(found, []string{"b.yaml has a, as a.yaml"}) {
		t.Errorf("found %q in a sample", found)
	}
}

func yamlFiles(t *testing.T, code string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("languages", code, "*.yaml"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	for i, f := range files {
		files[i] = filepath.Base(f)
	}
	return files
}

// twice are the keys that a file has and one before it.
func twice(t *testing.T, folder fs.FS, files []string) (found []string) {
	t.Helper()
	first := map[[2]string]string{}
	for _, file := range files {
		data, err := fs.ReadFile(folder, file)
		if err != nil {
			t.Fatal(err)
		}
		var parts map[string]map[string]string
		if err := yaml.Unmarshal(data, &parts); err != nil {
			t.Fatal(err)
		}
		for part, texts := range parts {
			for key := range texts {
				if other, known := first[[2]string{part, key}]; known {
					found = append(found, fmt.Sprintf("%s has %s, as %s", file, key, other))
				}
				first[[2]string{part, key}] = file
			}
		}
	}
	slices.Sort(found)
	return found
}
