package media

import (
	"bytes"
	"encoding/json"
	"testing"

	"touchdown/backend/media/volume"
	"touchdown/backend/problem"
)

// TestLargeOf: what the reading process writes is a file and a reply, or nothing counts.
func TestLargeOf(t *testing.T) {
	refused, err := json.Marshal(reply{Problem: tellOf(volume.ReadOnly(volume.ISO))})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ out, want, code string }{
		"a file":           {"one\ntwo\n\n" + `{"bytes":7}` + "\n", "one\ntwo\n", ""},
		"an empty file":    {"\n" + `{"bytes":0}` + "\n", "", ""},
		"a problem":        {"half of it\n" + string(refused) + "\n", "", problem.From(volume.ReadOnly(volume.ISO)).Code},
		"nothing":          {"", "", "MED-HALT"},
		"cut in the file":  {"one\ntwo", "", "MED-HALT"},
		"cut in the reply": {"one\n" + `{"bytes":7}`, "", "MED-HALT"},
		"no reply":         {"one\ntwo\n", "", "MED-HALT"},
		"something else":   {"one\n" + `{"bytes":7,"more":1}` + "\n", "", "MED-HALT"},
		"too large":        {"0123456789\n" + `{"bytes":7}` + "\n", "", "MED-HALT"},
	} {
		data, err := largeOf([]byte(c.out), 9)
		if c.code == "" && err != nil || c.code != "" && (err == nil || problem.From(err).Code != c.code) || !bytes.Equal(data, []byte(c.want)) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}
