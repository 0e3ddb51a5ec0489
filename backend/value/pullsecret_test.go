package value

import "testing"

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
