package site

import (
	"strings"
	"testing"
)

// TestPullSecretTwice: which of two entries counts depends on the program that reads them, so that none is taken; the error says where, and
// has nothing of the values. A registry with a port is another registry, and so is a repository below it.
func TestPullSecretTwice(t *testing.T) {
	const one, two = `{"auth":"dXNlcjpzZXNhbWU="}`, `{"auth":"dXNlcjpvdGhlcg=="}`
	for text, want := range map[string]string{
		`{"auths":{"quay.io":` + one + `,"quay.io":` + two + `}}`:                       "the same key twice, the second time in its line 1, column 49",
		"{\"auths\":{\n \"quay.io\":" + one + ",\n  \"Quay.IO\":" + two + "}}":          "the same key twice, the second time in its line 3, column 3",
		`{"auths":{"quay.io":` + one + `,"quay.\u0069o":` + two + `}}`:                  "the same key twice, the second time in its line 1, column 49",
		`{"auths":{"a.example":` + one + `},"auths":{"b.example":` + two + `}}`:         "the same key twice, the second time in its line 1, column 52",
		`{"auths":{"a.example":{"auth":"dXNlcjpzZXNhbWU=","Auth":"eDp5"}}}`:             "the same key twice, the second time in its line 1, column 50",
		`{"auths":{"quay.io":` + one + `,"https://quay.io":` + two + `}}`:               "one registry twice, as \"https://quay.io\" and \"quay.io\"",
		`{"auths":{"quay.io":` + one + `,"https://Quay.io/v2/":` + two + `}}`:           "one registry twice, as \"https://Quay.io/v2/\" and \"quay.io\"",
		`{"auths":{"quay.io:8443":` + one + `,"quay.io:8443/":` + two + `}}`:            "one registry twice",
		`{"auths":{"quay.io":` + one + `,"quay.io:443":` + two + `}}`:                   "",
		`{"auths":{"quay.io":` + one + `,"quay.io/org":` + two + `}}`:                   "",
		`{"auths":{"quay.io/v2":` + one + `,"quay.io":` + two + `}}`:                    "",
		`{"auths":{"docker.io":` + one + `,"https://index.docker.io/v1/":` + two + `}}`: "one registry twice",
		`{"HttpHeaders":{"a":"b","A":"c"},"auths":{"quay.io":` + one + `}}`:             "",
		`{"auths":{"quay.io":` + one + `},"Auths":{}}`:                                  "the same key twice",
		`{"auths":{"quay.io":` + one + `,"registry.redhat.io":` + one + `}}`:            "",
	} {
		err := PullSecret(text)
		if want == "" && err == nil {
			continue
		}
		if err == nil || want == "" || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "keep one of them") {
			t.Errorf("%s: %v, want %q", text, err, want)
		} else if strings.Contains(err.Error(), "dXNl") {
			t.Errorf("it has a value: %v", err)
		}
	}
}
