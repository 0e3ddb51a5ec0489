package auth

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/problem"
)

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestLogins(t *testing.T) {
	m := hosttest.New(t)
	if l, err := Read(m.Machine); err != nil || len(l.by) != 0 {
		t.Errorf("a node without the file: %v, %d credentials", err, len(l.by))
	}
	m.File(File, `{"auths":{"quay.io":{"auth":"`+b64("a:whole-registry")+`"},"quay.io/team":{"auth":"`+b64("b:only-team")+`"},
		"https://old.example/v1/":{"auth":"`+b64("c:old:colon")+`"},"plain.example:5000":{"username":"d","password":"by-field"},"broken":{"auth":"%%"},
		"short.example":{"auth":"`+base64.RawStdEncoding.EncodeToString([]byte("e:unpadded"))+`"}}}`)
	l, err := Read(m.Machine)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"quay.io/other/x": "whole-registry", "quay.io/team/x/y": "only-team", "quay.io/teamster/x": "whole-registry",
		"old.example/x": "old:colon", "plain.example:5000/x": "by-field", "plain.example/x": "", "broken/x": "",
		"short.example/x": "unpadded", // the site config takes it
	} {
		if got, _ := l.For(name); got.Password != want {
			t.Errorf("the credentials for %s are others", name)
		}
	}
	login, _ := l.For("quay.io/x")
	asJSON, _ := json.Marshal(login)
	for _, shown := range []string{fmt.Sprint(login), fmt.Sprintf("%+v %#v", login, login), fmt.Sprint(l), fmt.Sprintf("%+v %#v %v", l, l, []any{l, &l}), string(asJSON), l.Mask("bad: " + b64("a:whole-registry") + " or only-team")} {
		if strings.Contains(shown, "whole") || strings.Contains(shown, "only-team") || strings.Contains(shown, b64("a:whole-registry")) {
			t.Errorf("credentials are shown: %s", shown)
		}
	}
}

func TestDamagedFileIsNotQuoted(t *testing.T) {
	m := hosttest.New(t)
	for _, content := range []string{`{"auths":{"quay.io":{"auth":hunter2`, `["hunter2"]`, `{"auths":{"quay.io":"hunter2"}}`, `{"auths":{"quay.io":{"auth":["hunter2"]}}}`, strings.Repeat(" ", limit) + `{"auths":{}}`} {
		m.File(File, content)
		_, err := Read(m.Machine)
		if err == nil || problem.From(err).Code != "PUL-LGNS" || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%.20s...: %v", content, err)
		}
	}
}

// TestAFileThatCannotBeRead is told: credentials that are there and were not read are not "none".
func TestAFileThatCannotBeRead(t *testing.T) {
	m := hosttest.New(t)
	m.File(File+"/in the file's place", "")
	if l, err := Read(m.Machine); !errors.Is(err, host.ErrNotRegular) || len(l.by) > 0 {
		t.Errorf("%d credentials, %v", len(l.by), err)
	}
}

// TestTwoKeysForOneRegistry: of several spellings of a registry the plain one counts, else the first by the alphabet, however often it is
// read: which one a pull uses must not change from run to run.
func TestTwoKeysForOneRegistry(t *testing.T) {
	for text, want := range map[string]string{
		`{"https://index.docker.io/v1/":{"auth":"` + b64("a:by-https") + `"},"docker.io":{"auth":"` + b64("a:plain") + `"},"registry-1.docker.io":{"auth":"` + b64("a:by-host") + `"}}`: "plain",
		`{"https://r.example/v2/":{"auth":"` + b64("a:second") + `"},"http://r.example":{"auth":"` + b64("a:first") + `"}}`:                                                             "first",
		`{"https://r.example":{"auth":"` + b64("a:only") + `"},"r.example":{}}`:                                                                                                         "only",
	} {
		for range 100 {
			l, _ := parse([]byte(`{"auths":` + text + `}`))
			for name := range l.by {
				if login, _ := l.For(name + "/x"); login.Password != want {
					t.Fatalf("%s: the credentials are %q", text, login.Password)
				}
			}
		}
	}
}

// TestNoRestOfACredentialIsLeft: a password that another one begins with is taken out after it, and base64 without padding, too.
func TestNoRestOfACredentialIsLeft(t *testing.T) {
	for range 100 {
		l, _ := parse([]byte(`{"auths":{"a.example":{"auth":"` + b64("a:hunter2") + `"},"b.example":{"auth":"` + b64("b:hunter2-and-more") + `"}}}`))
		said := "sent hunter2-and-more and " + base64.RawStdEncoding.EncodeToString([]byte("b:hunter2-and-more"))
		if got := l.Mask(said); got != "sent <secret> and <secret>" {
			t.Fatal(got)
		}
	}
}
