package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"touchdown/steps/engine"
)

var germanASCII = strings.NewReplacer("\u00e4", "ae", "\u00f6", "oe", "\u00fc", "ue", "\u00c4", "Ae", "\u00d6", "Oe", "\u00dc", "Ue", "\u00df", "ss")

// germanBench is a console in German: basic in ASCII, as on a serial line, or rich in its own letters.
func germanBench(t *testing.T, rich bool, edits ...func(*engine.Snapshot)) *bench {
	t.Helper()
	t.Cleanup(func() { here.Store(nil) })
	b := newBenchIn(t, "de", 80, 24, append(slices.Clone(edits), inGerman(!rich)))
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
				b.fake.change(inGerman(!rich)) // what it says to a mistake
				b.refresh()
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
var notEnglish = regexp.MustCompile(`no such host|not known|  found$|\S*\.\.$`)

// speaksGerman finds English on the screen: a text of the catalogue in the original, or a word that German does not have.
func (b *bench) speaksGerman() {
	b.t.Helper()
	if slices.Contains(documents, b.app.top().name()) {
		return
	}
	english(b.t, b.screen())
}

// english fails for English in what a person reads, where it is no data.
func english(t *testing.T, screen string) {
	t.Helper()
	for line := range strings.SplitSeq(screen, "\n") {
		if word := englishWord.FindString(notEnglish.ReplaceAllString(line, "")); word != "" {
			t.Errorf("%q is English in: %s", word, line)
		}
	}
}
