package tui

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"touchdown/backend/message"
)

// TestLanguagesAreComplete: each language has every text of the console, every page's help and every message of the program, no
// other, and each with the verbs of its English format.
func TestLanguagesAreComplete(t *testing.T) {
	english := map[string]string{}
	for id := range messages(t) {
		english[id] = id
	}
	for _, code := range Languages()[1:] {
		all, err := load(code)
		if err != nil {
			t.Fatal(err)
		}
		complete(t, code, "console", texts, all.Console)
		complete(t, code, "help", helps, all.Help)
		complete(t, code, "engine", english, all.Engine)
		for _, ascii := range []bool{false, true} {
			if _, err := all.speech(code, ascii); err != nil {
				t.Error(err)
			}
		}
	}
}

// complete holds a part of a catalogue to its English texts. What is missing is shown as it stands in a file, ready to be filled in.
func complete(t *testing.T, code, part string, english, translated map[string]string) {
	t.Helper()
	var missing, more strings.Builder
	for _, key := range slices.Sorted(maps.Keys(english)) {
		text, ok := translated[key]
		if !ok {
			fmt.Fprintf(&missing, "  %s: \"\"", quoted(key))
			if english[key] != key {
				fmt.Fprintf(&missing, " # %s", quoted(english[key]))
			}
			missing.WriteByte('\n')
			continue
		}
		if text == "" || strings.TrimSpace(text) == "" && strings.TrimSpace(english[key]) != "" {
			t.Errorf("%s, %s: %q is translated to nothing", code, part, key)
		}
		if is, want := verbs(text), verbs(english[key]); part != "help" && !maps.Equal(is, want) {
			t.Errorf("%s, %s: %q has the verbs %v, %q has %v", code, part, text, is, english[key], want)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(translated)) {
		if _, ok := english[key]; !ok {
			fmt.Fprintf(&more, "  %s\n", quoted(key))
		}
	}
	if missing.Len() > 0 {
		t.Errorf("languages/%s lacks, to be filled in:\n%s:\n%s", code, part, missing.String())
	}
	if more.Len() > 0 {
		t.Errorf("languages/%s has what nothing says any more, in %s:\n%s", code, part, more.String())
	}
}

// quoted is a text as YAML has it in double quotes.
func quoted(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string
	return strings.TrimSpace(out.String())
}

// verb is a verb of a format, with the argument that it names, if it does.
var verb = regexp.MustCompile(`%([-+# 0]*)(?:\[(\d+)\])?([0-9.]*)([a-zA-Z%])`)

// verbs are the verbs of a format, each by the number of its argument. "%%" has none.
func verbs(format string) map[int]string {
	found := map[int]string{}
	n := 0
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		if m[4] == "%" {
			continue
		}
		n++
		if m[2] != "" {
			_, _ = fmt.Sscan(m[2], &n) // digits
		}
		found[n] += "%" + m[1] + m[3] + m[4]
	}
	return found
}

// TestVerbs: what TestLanguagesAreComplete holds translations to.
func TestVerbs(t *testing.T) {
	for _, c := range []struct {
		english, translated string
		same                bool
	}{
		{"%s of %d", "%s von %d", true},
		{"%s of %d", "%[2]d von %[1]s", true},
		{"%s of %d", "%d von %s", false},
		{"%s", "", false},
		{"%.1f %%", "%.1f %%", true},
		{"%.1f", "%f", false},
		{"15 %% free", "15 %% frei", true},
		{"U+%04X", "U+%04x", false},
	} {
		if got := maps.Equal(verbs(c.english), verbs(c.translated)); got != c.same {
			t.Errorf("%q and %q: %v", c.english, c.translated, got)
		}
	}
}

// TestTranslatedHelps: each help fits its page, in ASCII too, and has its example.
func TestTranslatedHelps(t *testing.T) {
	for _, code := range Languages()[1:] {
		for _, ascii := range []bool{false, true} {
			all, err := load(code)
			if err != nil {
				t.Fatal(err)
			}
			language, err := all.speech(code, ascii)
			if err != nil {
				t.Fatal(err)
			}
			for page, text := range language.helps {
				lines := strings.Split(text, "\n")
				if len(lines) > 16 {
					t.Errorf("%s: the help of %s has %d lines", code, page, len(lines))
				}
				for _, line := range lines {
					if w := ansi.StringWidth(line); w > 76 {
						t.Errorf("%s: the help of %s has a line of %d columns: %s", code, page, w, line)
					}
				}
			}
		}
	}
}

// TestLanguageOfTheEnvironment: what was asked for comes first, then the variables in their order; an unknown one is not an error.
func TestLanguageOfTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		asked              string
		all, message, lang string
		want               string
	}{
		{"", "", "", "", "en"},
		{"", "", "", "de_DE.UTF-8", "de"},
		{"", "", "", "de", "de"},
		{"", "", "C", "de_DE.UTF-8", "en"},
		{"", "C.UTF-8", "de_AT", "de_DE.UTF-8", "en"},
		{"", "de_CH@euro", "", "C", "de"},
		{"", "", "", "xx_XX.UTF-8", "en"},
		{"", "", "", "../de", "en"},
		{"en", "de_DE", "", "", "en"},
		{"de", "", "", "C", "de"},
	} {
		t.Setenv("LC_ALL", c.all)
		t.Setenv("LC_MESSAGES", c.message)
		t.Setenv("LANG", c.lang)
		got, err := Language(c.asked)
		if err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	for _, bad := range []string{"xx", "de_DE.UTF-8", "../de", "DE"} {
		if got, err := Language(bad); err == nil || !strings.Contains(err.Error(), "en, de") {
			t.Errorf("%q gave %q, %v", bad, got, err)
		}
	}
}

// TestLettersWithoutUTF8: where only ASCII can be shown, a language is written in it.
func TestLettersWithoutUTF8(t *testing.T) {
	for _, code := range Languages()[1:] {
		all, err := load(code)
		if err != nil {
			t.Fatal(err)
		}
		language, err := all.speech(code, true)
		if err != nil {
			t.Fatal(err)
		}
		for part, list := range map[string]map[string]string{"console": language.texts, "help": language.helps, "engine": all.Engine} {
			for key, text := range list {
				if i := strings.IndexFunc(text, func(r rune) bool { return r > 0x7e }); i >= 0 {
					t.Errorf("%s, %s: %q has a letter that ASCII does not: %q", code, part, key, text)
				}
			}
		}
	}
	speakTest(t, "de", true)
	if got := tr("button.back"); got != "Zurueck" {
		t.Errorf("Back is %q", got)
	}
	if got := unaccented("crème brûlée, Ångström"); got != "creme brulee, Angstrom" {
		t.Errorf("without accents: %q", got)
	}
}

// tr is t where a test has that name.
var tr = t

// speakTest sets the language for the rest of a test. The tests that do so are not parallel.
func speakTest(t *testing.T, code string, ascii bool) {
	t.Helper()
	if err := speak(code, ascii); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Store(nil) })
}

// TestSentencesAboveTheKeys: each sentence that stands in the one line above the keys fits it, with a short name in it.
func TestSentencesAboveTheKeys(t *testing.T) {
	said := regexp.MustCompile(`(?:lash = |return 1, nil, )t\("([^"]+)"`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range said.FindAllStringSubmatch(string(data), -1) {
			if !strings.HasSuffix(file, "_test.go") && m[1] != "bundle.saved" && m[1] != "review.blocked" { // which has a path; which stands on the page too
				keys = append(keys, m[1])
			}
		}
	}
	if len(keys) < 10 {
		t.Fatalf("only %v were found", keys)
	}
	for _, code := range Languages() {
		speakTest(t, code, true)
		for _, key := range keys {
			text := verb.ReplaceAllString(tr(key), "eight888")
			if w := ansi.StringWidth(text); w > 80 {
				t.Errorf("%s: %s is %d columns wide: %s", code, key, w, text)
			}
		}
	}
}

func BenchmarkSpeak(b *testing.B) {
	defer here.Store(nil)
	for b.Loop() {
		spokenBefore.Clear()
		if err := speak("de", true); err != nil {
			b.Fatal(err)
		}
	}
}

// TestEveryMessageIsShown sends each message over the wire, with an argument for each verb, and shows it in each language: it reads
// as its translation formatted with the same arguments.
func TestEveryMessageIsShown(t *testing.T) {
	for _, code := range Languages()[1:] {
		speakTest(t, code, false)
		all, err := load(code)
		if err != nil {
			t.Fatal(err)
		}
		for id := range messages(t) {
			args := []any{}
			for n := 1; n <= len(verbs(id)); n++ {
				switch v := verbs(id)[n]; v[len(v)-1] {
				case 's', 'v', 'q':
					args = append(args, fmt.Sprintf("word%d", n))
				case 'f':
					args = append(args, 7.0)
				default:
					args = append(args, 40+n)
				}
			}
			sent := map[string]any{"id": id, "args": slices.Clone(args)}
			if len(args) == 0 { // made by message.T, or as good as
				sent = map[string]any{"id": strings.ReplaceAll(id, "%%", "%")}
			}
			if got, want := shownOf(t, sent, fmt.Sprintf(id, args...)), fmt.Sprintf(all.Engine[id], args...); got != decimal(want, args) {
				t.Errorf("%s: %q is shown as %q, want %q", code, id, got, want)
			}
		}
	}
}

// decimal writes the number 7 of TestEveryMessageIsShown as German does; other languages of the kind do too.
func decimal(text string, args []any) string {
	if slices.Contains(args, any(7.0)) {
		return strings.ReplaceAll(text, "7.0", "7,0")
	}
	return text
}

// shownOf is a message of the wire, whose English text is known, in the language of this console.
func shownOf(t *testing.T, sent map[string]any, english string) string {
	t.Helper()
	if args, ok := sent["args"].([]any); ok {
		for i, a := range args {
			if f, is := a.(float64); is {
				args[i] = json.RawMessage(fmt.Sprintf("%.1f", f))
			}
		}
	}
	data, err := json.Marshal(map[string]any{"/text": sent})
	if err != nil {
		t.Fatal(err)
	}
	var found message.Messages
	if err := json.Unmarshal(data, &found); err != nil {
		t.Fatal(err)
	}
	doc := struct {
		Text message.Text `json:"text"`
	}{message.Data(english)}
	message.Restore(&doc, found)
	if doc.Text == message.Data(english) && english != "" {
		t.Errorf("%s is not a message", data)
	}
	return show(doc.Text)
}
