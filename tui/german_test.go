package tui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

var germanASCII = strings.NewReplacer("\u00e4", "ae", "\u00f6", "oe", "\u00fc", "ue", "\u00c4", "Ae", "\u00d6", "Oe", "\u00dc", "Ue", "\u00df", "ss")

// germanBench is a console in German: basic in ASCII, as on a serial line, or rich in its own letters.
func germanBench(t *testing.T, rich bool, edits ...func(*view.Snapshot)) *bench {
	t.Helper()
	t.Cleanup(func() { here.Store(nil) })
	b := newBenchIn(t, "de", 80, 24, edits)
	b.fake.spell = inGerman(!rich)
	b.refresh()
	if rich {
		b.app.switchMode()
	}
	return b
}

// TestGoldenGerman draws every scene in German: in ASCII on a serial line, and with its own letters in the rich theme.
func TestGoldenGerman(t *testing.T) {
	for _, rich := range []bool{false, true} {
		name := map[bool]string{false: "german-80x24", true: "german-rich-80x24"}[rich]
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			for _, s := range scenes() {
				b := germanBench(t, rich, s.edits...)
				b.press(s.keys...)
				b.whole()
				b.speaksGerman()
				fmt.Fprintf(&all, "== %s\n%s", s.name, b.screen())
			}
			compare(t, name, all.String())
		})
	}
}

// englishWord is a word that every English sentence of some length has, and no German one.
var englishWord = regexp.MustCompile(`(?i)\b(the|of|is|are|and|with|not|no|for|this|that|to|from|by|has|have|cannot|found|typed)\b`)

// documents are the pages whose text is English in every language, and what is on the screen beside it.
var documents = []string{"log", "report", "inventory"}

// notEnglish is what may look like it: what other programs wrote, and words that are cut off.
var notEnglish = regexp.MustCompile(`technische Meldung: .*|no such host|not known|  found$|\S*\.\.$`)

// speaksGerman finds English on the screen: a text of the catalogue in the original, or a word that German does not have.
func (b *bench) speaksGerman() {
	b.t.Helper()
	if slices.Contains(documents, b.app.top().name()) {
		return
	}
	english(b.t, b.screen())
}

// english fails for English in what a person reads, where it is not data.
func english(t *testing.T, screen string) {
	t.Helper()
	for line := range strings.SplitSeq(screen, "\n") {
		if word := englishWord.FindString(notEnglish.ReplaceAllString(line, "")); word != "" {
			t.Errorf("%q is English in: %s", word, line)
		}
	}
}

// TestWalkInGerman goes the whole way in German, from the first page to the hand-over, and reads each page.
func TestWalkInGerman(t *testing.T) {
	for _, rich := range []bool{false, true} {
		b := germanBench(t, rich, realSite)
		at := func(text string) {
			t.Helper()
			if !rich {
				text = germanASCII.Replace(text)
			}
			b.shows(text)
			b.whole()
			b.speaksGerman()
		}
		becomes := func(edit func(*view.Snapshot)) {
			t.Helper()
			b.fake.change(edit)
			b.refresh()
			b.now = b.now.Add(2 * time.Second)
		}
		at("Hardware-Prüfung")
		b.press("w")
		at("Sie übernehmen die Verantwortung")
		b.press("'Kim", "tab", "'am Telefon vereinbart", "tab", "tab", "enter")
		b.press("t")
		at("Schließen")
		b.press("b", "c")
		at("Die Buchse, in der das Kabel")
		b.press("?")
		at("Vor der Durchsicht")
		b.press("b", "enter")
		at("enp2s0")
		b.press("b")
		b.app.page.(*form).focus("")
		b.press("c")
		at("Basis-Domain")
		b.app.page.(*form).focus("spec.baseDomain")
		b.press("'example.com", "tab")
		at("getippt, neu")
		b.app.page.(*form).focus("")
		b.press("o")
		at("Die Seite zurücksetzen")
		b.press("esc")
		for range 5 {
			if f, ok := b.app.page.(*form); ok {
				f.focus("")
			}
			b.press("c")
		}
		becomes(func(s *view.Snapshot) { s.Review = reviewView() })
		at("Durchsicht: bisher wurde nichts geändert")
		b.press("tab", "enter")
		at("Zuerst sno-042 eintippen.")
		b.press("'sno-042", "enter")
		becomes(working)
		at("Läuft seit")
		b.press("l")
		at("Suchen")
		b.press("b", "x", "enter")
		at("Die Arbeit anhalten?")
		b.press("esc")
		becomes(asking)
		at("Ohne Antwort gilt")
		b.press("1", "enter")
		becomes(failed)
		at("Code für das Telefon: RLT-DNS")
		b.press("p", "enter")
		at("Support-Paket: /var/tmp")
		at("SHA-256 vollständig:")
		b.press("enter")
		b.press("u", "enter")
		at("Alles rückgängig machen?")
		b.press("esc")
		becomes(finished)
		at("Dieser Knoten ist gelandet.")
		b.press("g")
		at("Zugangsdaten des Clusters")
		b.press("b", "h", "enter")
		at("Die Übergabe annehmen?")
		b.press("tab", "'sno-042", "enter")
		at("Die Übergabe ist angenommen.")
		b.press("ctrl+c")
		at("Diese Konsole verlassen?")
		want := []session.Verb{session.Waive, session.Review, session.Start, session.Hold, session.Reply, session.HandOver}
		if got := b.fake.verbs(); !slices.Equal(got, want) {
			t.Errorf("did %v, want %v", got, want)
		}
	}
}

// TestLanguageIsChosenOnTheConsole: d on a help page, or Tab and Enter, speaks the next language, and the same key the first again.
func TestLanguageIsChosenOnTheConsole(t *testing.T) {
	t.Cleanup(func() { here.Store(nil) })
	b := newBench(t, 80, 24)
	english := b.screen()
	b.press("?", "d")
	b.shows("Diese Seite zeigt, was Touchdown auf der Maschine fand.")
	b.press("b")
	b.shows("[ c Weiter ]")
	b.press("m")
	b.shows("[ b Zur\u00fcck ]")
	b.press("m")
	b.shows("[ b Zurueck ]")
	b.press("?")
	b.shows("[ d English ]")
	b.press("tab", "enter")
	b.shows("This page shows what Touchdown found")
	b.press("b")
	if b.screen() != english {
		t.Errorf("back in English the page is another one:\n%s", b.screen())
	}
	b.press("c", "'d")
	b.shows("[d ") // where text is typed, d is a d
}

// TestPlainInGerman goes the whole way in line mode, in ASCII, without a byte of English.
func TestPlainInGerman(t *testing.T) {
	t.Cleanup(func() { here.Store(nil) })
	f := newFake()
	f.spell = inGerman(true)
	r, w := io.Pipe()
	p, done := &typist{in: w}, make(chan error, 1)
	var all bytes.Buffer
	o := Options{Name: "ttyS1", Clock: time.Now, Save: func([]byte) (string, error) { return "/var/tmp/x", nil }}
	go func() { done <- prompting(t.Context(), f, o, talk{in: r, out: io.MultiWriter(p, &all)}, nil) }()
	p.printed(t, "Deutsch: de")
	p.after(t, "Type control to take control:", "de")
	p.printed(t, "English: en")
	p.after(t, "Zum Uebernehmen steuern eintippen:", "steuern")
	p.after(t, "Clustername [sno-042]:", "store1")
	p.after(t, "Basis-Domain []:", "?")
	p.after(t, "Basis-Domain []:", "zurueck")
	p.after(t, "Clustername [store1]:", "")
	p.after(t, "Basis-Domain []:", "example.com")
	p.after(t, "Pull-Secret []:", "")
	p.after(t, "API-Zertifikat []:", "")
	p.after(t, "Netzwerkanschluss [eno1]:", "2")
	p.after(t, "[dhcp]:", "")
	p.printed(t, "Was die Benutzer des Clusters merken")
	p.after(t, "Zum Starten sno-042 oder store1 eintippen; zum Aendern einer Antwort zurueck:", "sno-042")
	f.did(t, session.Start)
	f.change(asking)
	p.after(t, "Nummer:", "1")
	f.did(t, session.Reply)
	f.change(failed)
	p.printed(t, "Code fuer das Telefon: RLT-DNS")
	p.after(t, "Nummer:", "1")
	f.did(t, session.Retry)
	f.change(finished)
	p.printed(t, "Dieser Knoten ist gelandet.")
	p.after(t, "Nummer:", "2")
	p.after(t, "Eintippen: sno-042", "nein")
	w.Close()
	if err := <-done; !errors.Is(err, ErrHungUp) {
		t.Errorf("ended with %v", err)
	}
	_, said, _ := strings.Cut(all.String(), "English: en\r\n") // before it spoke German
	if said == "" {
		t.Error("nothing was said in German")
	}
	english(t, strings.ReplaceAll(said, "\r\n", "\n"))
	if i := bytes.IndexFunc(all.Bytes(), func(r rune) bool { return r > 0x7e }); i >= 0 {
		t.Errorf("a byte that is not ASCII: %q", all.Bytes()[i:])
	}
}

// TestTwoConsolesTwoLanguages: two consoles on their own lines differ in language.
func TestTwoConsolesTwoLanguages(t *testing.T) {
	t.Setenv(childLanguage, "de")
	german := openLine(t, "work", "vt220", &pty.Winsize{Rows: 24, Cols: 80})
	t.Setenv(childLanguage, "")
	english := openLine(t, "work", "vt220", &pty.Winsize{Rows: 24, Cols: 80})
	german.shows("Laeuft seit")
	english.shows("Running for")
}
