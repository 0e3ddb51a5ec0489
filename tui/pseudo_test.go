package tui

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Marks at both ends of each text of the pseudo-locale: of a text that is whole on the screen both are there.
const (
	beginMark = '\u00bf'
	endMark   = '\u00a1'
)

// accents are letters with accents, for each letter that has such a one in Latin-1.
var accents = func() *strings.Replacer {
	var pairs []string
	const plain, accented = "aceinouyACEINOUY", "\u00e0\u00e7\u00e9\u00ef\u00f1\u00f6\u00fc\u00fd\u00c0\u00c7\u00c9\u00cf\u00d1\u00d6\u00dc\u00dd"
	letters := []rune(accented)
	for i, r := range plain {
		pairs = append(pairs, string(r), string(letters[i]))
	}
	return strings.NewReplacer(pairs...)
}()

// longer is a format in the pseudo-locale: its letters with accents, its verbs as they are, and longer by 30 %, with the marks.
func longer(format string) string {
	if strings.TrimSpace(format) == "" {
		return format
	}
	var out strings.Builder
	out.WriteRune(beginMark)
	rest := format
	for _, at := range verb.FindAllStringIndex(format, -1) {
		done := len(format) - len(rest)
		out.WriteString(accents.Replace(format[done:at[0]]) + format[at[0]:at[1]])
		rest = format[at[1]:]
	}
	out.WriteString(accents.Replace(rest))
	more := (3*utf8.RuneCountInString(format) + 9) / 10
	for n := 2; n < more; n++ { // less the marks
		out.WriteString(map[bool]string{true: " ", false: "\u00f8"}[n%7 == 0])
	}
	out.WriteRune(endMark)
	return out.String()
}

// speakPseudo has the console speak the pseudo-locale.
func speakPseudo(t *testing.T, b *bench) {
	t.Helper()
	all := catalogue{Console: map[string]string{}, Help: map[string]string{}, Engine: map[string]string{}}
	for key, text := range texts {
		all.Console[key] = longer(text)
	}
	for page, text := range helps {
		var lines []string
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, accents.Replace(line))
		}
		all.Help[page] = strings.Join(lines, "\n") // its lines are made for 76 columns, in each language by hand
	}
	for id := range messages(t) {
		all.Engine[id] = longer(id)
	}
	language, err := all.speech("en-x-pseudo", false)
	if err != nil {
		t.Fatal(err)
	}
	here.Store(language)
	t.Cleanup(func() { here.Store(nil) })
	b.app.keys = newKeys()
}

// TestPseudo: the pseudo-locale is what it says.
func TestPseudo(t *testing.T) {
	for format := range messages(t) {
		is := longer(format)
		if !maps.Equal(verbs(is), verbs(format)) {
			t.Errorf("%q has other verbs: %q", format, is)
		}
		if short, long := utf8.RuneCountInString(format), utf8.RuneCountInString(is); 10*long < 13*short {
			t.Errorf("%q is not 30 %% longer: %q", format, is)
		}
	}
	if got, want := longer("Retry: %s is 5 %% full"), "\u00bfR\u00e9tr\u00fd: %s \u00efs 5 %% f\u00fcll\u00f8\u00f8\u00f8\u00f8\u00f8\u00a1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLongLanguages draws every scene in each language and in the pseudo-locale: no line is too long, no sentence is clipped, every
// button is whole, the footer has its first keys.
func TestLongLanguages(t *testing.T) {
	for _, code := range append(Languages()[1:], "pseudo") {
		var all strings.Builder
		for _, s := range scenes() {
			t.Run(code+"-"+s.name, func(t *testing.T) {
				b := newBench(t, 80, 24, s.edits...)
				if code == "pseudo" {
					speakPseudo(t, b)
				} else {
					b.app.speak(code)
					t.Cleanup(func() { here.Store(nil) })
				}
				b.press(s.keys...)
				b.whole()
				fmt.Fprintf(&all, "== %s\n%s", s.name, b.screen())
			})
		}
		if code == "pseudo" {
			compare(t, "pseudo-80x24", all.String())
		}
	}
}

// whole holds the picture to what a person needs of it.
func (b *bench) whole() {
	b.t.Helper()
	f, screen := b.app.frame(b.app.top(), b.app.w, b.app.h), b.screen()
	if len(f.lines) != b.app.h {
		b.t.Errorf("%d lines", len(f.lines))
	}
	for _, line := range f.lines {
		if w := ansi.StringWidth(line); w > b.app.w {
			b.t.Errorf("a line of %d columns: %q", w, ansi.Strip(line))
		}
	}
	for _, x := range buttonsOf(b.app.top()) {
		if b.app.top().typing() && b.app.top().name() == "log" { // the word to be found stands in their place
			break
		}
		if !strings.Contains(screen, x.label) {
			b.t.Errorf("%q is not on the screen:\n%s", x.label, screen)
		}
	}
	footer := ansi.Strip(f.lines[len(f.lines)-1])
	for i, k := range b.app.top().keys() {
		if i < 2 && !strings.Contains(footer, k.Help().Key+" "+k.Help().Desc) {
			b.t.Errorf("%s is not in the footer: %q", k.Help().Desc, footer)
		}
	}
	if strings.Contains(screen, "%!") {
		b.t.Errorf("a broken text:\n%s", screen)
	}
	b.unclipped(screen)
}

// unclipped finds texts of the pseudo-locale whose end is not on the screen, where neither two dots nor the line that tells of
// more say so.
func (b *bench) unclipped(screen string) {
	b.t.Helper()
	scrolled, _, _ := strings.Cut(t("scroll.where"), "%d")
	if strings.Contains(screen, scrolled) {
		return
	}
	open := strings.Count(screen, string(beginMark)) - strings.Count(screen, string(endMark))
	if dots := strings.Count(screen, ".."); open > 2*dots { // a text within a text ends with it
		b.t.Errorf("%d sentences are clipped, %d say so:\n%s", open, dots, screen)
	}
}
