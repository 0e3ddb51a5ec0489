package message

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

type kept struct {
	Name    string `json:"name"`
	Damage  []Text `json:"damage,omitempty"`
	Trouble Text   `json:"trouble,omitzero"`
}

// TestFilesKeepTheirMessages writes a document and reads it back; one of an earlier release has technical details.
func TestFilesKeepTheirMessages(t *testing.T) {
	in := kept{"eno1", []Text{F("Stopped: %s.", T("the disk is full"))}, T("the disk is full")}
	data, err := Marshal(&in)
	if err != nil {
		t.Fatal(err)
	}
	var out kept
	if err := Unmarshal(data, &out); err != nil || out.Damage[0] != in.Damage[0] || out.Trouble != in.Trouble || out.Name != "eno1" {
		t.Errorf("read back: %+v, %v\n%s", out, err, data)
	}
	if data, err := Marshal(&kept{}); err != nil || string(data) != "{\n  \"name\": \"\"\n}\n" {
		t.Errorf("without texts: %s, %v", data, err)
	}
	var old kept
	if err := Unmarshal([]byte(`{"name": "eno1", "damage": ["the disk is full"]}`), &old); err != nil || old.Damage[0] != Verbatim("the disk is full") || old.Trouble != (Text{}) {
		t.Errorf("of an earlier release: %+v, %v", old, err)
	}
	for _, bad := range []string{`{`, `{"messages": 1}`, `{"messages": {"/trouble": {"args": [null]}}}`} {
		if err := Unmarshal([]byte(bad), &kept{}); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// TestMessagesAreBounded: a few bytes never become a long text.
func TestMessagesAreBounded(t *testing.T) {
	inner := `"` + strings.Repeat("x", 100) + `"`
	for range 40 {
		inner = `{"id": "%[1]s%[1]s%[1]s%[1]s", "args": [` + inner + `]}`
	}
	for _, m := range []string{
		inner, `{"id": "%999999d", "args": [1]}`, `{"id": "%*d", "args": [900000, 1]}`,
		`{"id": "` + strings.Repeat("%[1]999d", 8000) + `", "args": [1]}`, `{"id": "` + strings.Repeat("%[1]99d", 9000) + `", "args": [1]}`, `{"id": "%.99999f", "args": [1.5]}`,
	} {
		var found Message
		if err := json.Unmarshal([]byte(m), &found); err != nil {
			t.Fatal(err)
		}
		if got := found.text().String(); len(got) > maxText {
			t.Errorf("%.60s became %d bytes", m, len(got))
		}
	}
}

// TestReasons: an error with what was being done is a message where the reason is one, and says what fmt.Errorf would.
func TestReasons(t *testing.T) {
	is := errors.New("EIO")
	err := Doing(T("the disk is full"), is)
	if err.Error() != "the disk is full: EIO" || !errors.Is(err, is) || Detail(err) != F("%s: %s", T("the disk is full"), Verbatim("EIO")) {
		t.Errorf("%v is %+v", err, Detail(err))
	}
	for text, want := range map[Text]string{T("the disk is full"): "the disk is full.", T("100 % sure."): "100 % sure.", {}: ""} {
		if got := Sentence(text).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
