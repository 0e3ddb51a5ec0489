package value

import (
	"encoding/base64"
	"encoding/json"
	"testing"
)

// TestComplete: what any program of a node reads alone, all read afterwards, and nothing else changes.
func TestComplete(t *testing.T) {
	for entry, want := range map[string]string{
		`{"auth":"dTpw"}`: `{"auth":"dTpw"}`,
		`{ "auth": "dTpw", "username":"other", "password":"other" }`: `{ "auth": "dTpw", "username":"other", "password":"other" }`,
		`{"auth":"dTpwYXM","email":"e"}`:                             `{"auth":"dTpwYXM=","email":"e"}`,
		`{"auth":"dTpwYXM===="}`:                                     `{"auth":"dTpwYXM="}`,
		`{"auth":"","username":"u","password":"p"}`:                  `{"auth":"dTpw","password":"p","username":"u"}`,
		`{"username":"u","password":"<p>"}`:                          `{"auth":"dTo8cD4=","password":"<p>","username":"u"}`,
		`{"username":"u"}`:                                           `{"username":"u"}`,
		`{"auth":"%"}`:                                               `{"auth":"%"}`,
		`{"auth":1}`:                                                 `{"auth":1}`,
		`null`:                                                       `null`,
		`[]`:                                                         `[]`,
	} {
		got := Complete(json.RawMessage(entry))
		var is, should any
		if json.Unmarshal(got, &is) != nil || json.Unmarshal([]byte(want), &should) != nil {
			t.Errorf("%s became %s", entry, got)
			continue
		}
		a, _ := json.Marshal(is)
		b, _ := json.Marshal(should)
		if string(a) != string(b) || entry == want && string(got) != want {
			t.Errorf("%s became %s", entry, got)
		}
		var e Entry
		if json.Unmarshal(got, &e) == nil && e.Auth != "" && e.Auth != "%" {
			if _, err := base64.StdEncoding.DecodeString(e.Auth); err != nil {
				t.Errorf("%s: containers/image does not read %s", entry, got)
			}
		}
	}
}

// TestReadPullSecret: what is read is written again whole, and what is not a pull secret is refused without a word of it.
func TestReadPullSecret(t *testing.T) {
	for text, want := range map[string]string{
		"": `{"auths":{}}`,
		`{"auths":{"a.example":{"auth":"dTpw","email":"x"}},"credHelpers":{"b":"c"}}`: `{"auths":{"a.example":{"auth":"dTpw","email":"x"}},"credHelpers":{"b":"c"}}`,
		`{"auths":null}`:    `{"auths":{}}`,
		`{}`:                `{"auths":{}}`,
		`null`:              "",
		`[]`:                "",
		`{"auths":[]}`:      "",
		`{"auths":{}} more`: "",
		`{"auths":{"a":1}`:  "",
	} {
		p, ok := ReadPullSecret([]byte(text))
		if ok != (want != "") {
			t.Errorf("%s: read %v", text, ok)
			continue
		}
		if !ok {
			continue
		}
		if got, err := p.JSON(); err != nil || string(got) != want {
			t.Errorf("%s became %s: %v", text, got, err)
		}
	}
}
