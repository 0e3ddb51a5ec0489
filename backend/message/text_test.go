package message

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"
)

var german = map[string]string{
	"%d of %d operators are well":      "%d von %d Operatoren sind gesund",
	"Port %d does not answer at %s.":   "An %[2]s antwortet Port %[1]d nicht.",
	"the disk is full":                 "die Platte ist voll",
	"Stopped: %s.":                     "Angehalten: %s.",
	"The disk is full.":                "Die Platte ist voll.",
	"%[1]s":                            "(technische Angabe) %[1]s",
	"Look at %s:%d and %q.":            "In %s:%d steht %q.",
	"It took %.1f seconds.":            "Es dauerte %.1f Sekunden.",
	"100 %% sure":                      "100 %% sicher",
	"%d image":                         "%d Abbild",
	"a byte that is not text (0x%02x)": "ein Byte, das kein Text ist (0x%02x)",
	"%d images":                        "%d Abbilder",
}

func speak(t *testing.T) *Language {
	t.Helper()
	l, err := NewLanguage("de", german)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLanguages(t *testing.T) {
	de := speak(t)
	for _, c := range []struct {
		text            Text
		english, german string
	}{
		{F("%d of %d operators are well", 33, 34), "33 of 34 operators are well", "33 von 34 Operatoren sind gesund"},
		{F("Port %d does not answer at %s.", uint16(6443), netip.MustParseAddr("192.0.2.7")), "Port 6443 does not answer at 192.0.2.7.", "An 192.0.2.7 antwortet Port 6443 nicht."},
		{F("Stopped: %s.", T("the disk is full")), "Stopped: the disk is full.", "Angehalten: die Platte ist voll."},
		{F("Stopped: %s.", Data("the disk is full")), "Stopped: the disk is full.", "Angehalten: the disk is full."},
		{F("Stopped: %s.", T("The disk is full.")), "Stopped: The disk is full.", "Angehalten: Die Platte ist voll."},
		{F("Stopped: %s.", errors.New("It said no.")), "Stopped: It said no.", "Angehalten: (technische Angabe) It said no."},
		{F("Stopped: %s.", F("Stopped: %s.", T("The disk is full."))), "Stopped: Stopped: The disk is full.", "Angehalten: Angehalten: Die Platte ist voll."},
		{F("%s: %s", T("The disk is full."), "eno1."), "The disk is full: eno1.", "Die Platte ist voll: eno1."},
		{F("Look at %s:%d and %q.", "example.com.", 53, "a."), `Look at example.com.:53 and "a.".`, `In example.com.:53 steht "a.".`},
		{F("Stopped: %s.", "..."), "Stopped: ....", "Angehalten: ...."},
		{Data("The disk is full.."), "The disk is full..", "The disk is full.."},
		{F("It took %.1f seconds.", 2.0), "It took 2.0 seconds.", "Es dauerte 2,0 Sekunden."},
		{F("It took %s.", 2*time.Second), "It took 2s.", "It took 2s."},
		{Join([]Text{T("the disk is full"), Data("x%d")}, " 5% "), "the disk is full 5% x%d", "die Platte ist voll 5% x%d"},
		{T("100 % sure"), "100 % sure", "100 % sicher"},
		{N(1, "%d image", "%d images"), "1 image", "1 Abbild"},
		{N(6443, "%d image", "%d images"), "6443 images", "6443 Abbilder"},
		{F("a byte that is not text (0x%02x)", byte(7)), "a byte that is not text (0x07)", "ein Byte, das kein Text ist (0x07)"},
		{Text{}, "", ""},
	} {
		if c.text.String() != c.english {
			t.Errorf("English: %q, want %q", c.text, c.english)
		}
		if got := de.Show(c.text); got != c.german {
			t.Errorf("German: %q, want %q", got, c.german)
		}
		if got := (*Language)(nil).Show(c.text); got != c.english {
			t.Errorf("no language: %q", got)
		}
	}
}

// TestMessagesCrossTheWire writes texts as JSON, English beside their messages, and reads them back.
func TestMessagesCrossTheWire(t *testing.T) {
	type inner struct {
		Text Text `json:"text,omitzero"`
	}
	type doc struct {
		Inner *inner `json:"inner"`
		List  []Text `json:"list"`
		No    Text   `json:"no,omitzero"`
	}
	in := doc{Inner: &inner{F("Stopped: %s.", F("%d of %d operators are well", 1, 2))}, List: []Text{T("the disk is full"), Data("eno1"), F("It took %.1f seconds.", 2.0)}}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"inner":{"text":"Stopped: 1 of 2 operators are well."},"list":["the disk is full","eno1","It took 2.0 seconds."]}`; string(data) != want {
		t.Errorf("JSON: %s, want %s", data, want)
	}
	messages, err := json.Marshal(Of(&in))
	if err != nil {
		t.Fatal(err)
	}
	var out doc
	var found Messages
	if json.Unmarshal(data, &out) != nil || json.Unmarshal(messages, &found) != nil {
		t.Fatal("cannot be read back")
	}
	if de := speak(t); de.Show(out.Inner.Text) != in.Inner.Text.String() {
		t.Errorf("a text without its message is not data: %q", de.Show(out.Inner.Text))
	}
	Restore(&out, found)
	if *out.Inner != *in.Inner || out.List[0] != in.List[0] || out.List[1] != in.List[1] || out.List[2] != in.List[2] {
		t.Errorf("read back: %+v, want %+v", out, in)
	}
	if de := speak(t); de.Show(out.Inner.Text) != "Angehalten: 1 von 2 Operatoren sind gesund." {
		t.Errorf("German: %q", de.Show(out.Inner.Text))
	}
}

// TestAForeignMessageIsIgnored reads messages that say something else than their text, or nothing that can be read.
func TestAForeignMessageIsIgnored(t *testing.T) {
	for _, m := range []string{
		`{"/text": {"id": "Press Enter to wipe the node."}}`,
		`{"/text": {"id": "The node has %s.", "args": ["failed"]}}`,
		`{"/text": {"id": "The node has landed.", "args": ["more"]}}`,
		`{"/other": {"id": "The node has landed."}}`,
	} {
		var found Messages
		if err := json.Unmarshal([]byte(m), &found); err != nil {
			t.Fatal(err)
		}
		doc := struct {
			Text Text `json:"text"`
		}{Data("The node has landed.")}
		Restore(&doc, found)
		if doc.Text != Data("The node has landed.") {
			t.Errorf("%s made %+v", m, doc.Text)
		}
	}
	for _, m := range []string{`{"/text": {"args": {"a": 1}}}`, `{"/text": {"args": [null]}}`, `{"/text": {"args": [true]}}`, `{"/text": {"args": [{"args": [[]]}]}}`} {
		if err := json.Unmarshal([]byte(m), &Messages{}); err == nil {
			t.Errorf("%s was read", m)
		}
	}
}

// TestMessagesInEachOther: reading and writing them takes no longer with each level, and far more levels than a program writes are not read.
func TestMessagesInEachOther(t *testing.T) {
	for _, levels := range []int{deepest - 1, 10_000 / 3} {
		text := `"x"`
		for range levels {
			text = `{"id":"%s","args":[` + text + `]}`
		}
		var found Messages
		if err := json.Unmarshal([]byte(`{"/text":`+text+`}`), &found); err != nil {
			t.Fatal(err)
		}
		doc := struct {
			Text Text `json:"text"`
		}{Data("x")}
		Restore(&doc, found)
		if read := doc.Text != Data("x"); read != (levels < deepest) {
			t.Errorf("of %d levels it is %.100v", levels, doc.Text)
		}
		again, err := json.Marshal(Of(&doc))
		if want := `{"/text":` + text + `}`; err != nil || levels < deepest && string(again) != want {
			t.Errorf("%v: written again: %s", err, again)
		}
	}
}

// TestSecretsLeaveTheArguments masks a secret that JSON writes in another form than the text.
func TestSecretsLeaveTheArguments(t *testing.T) {
	secret := `a"b\c`
	mask := func(s string) string { return strings.ReplaceAll(s, secret, "<secret>") }
	got := F("Stopped: %s.", F("It took %s.", secret)).Map(mask)
	if got.String() != "Stopped: It took <secret>." || got != F("Stopped: %s.", F("It took %s.", "<secret>")) {
		t.Errorf("masked: %+v", got)
	}
	// A secret that stands across an argument and the sentence cannot be taken out of the arguments alone.
	whole := func(s string) string { return strings.ReplaceAll(s, "took "+secret, "<secret>") }
	if got := F("It took %s.", secret).Map(whole); got != Data("It <secret>.") {
		t.Errorf("masked across: %+v", got)
	}
}
