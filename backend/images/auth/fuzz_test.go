package auth

import (
	"strings"
	"testing"
)

// FuzzLogins reads a file of registry credentials and masks a text that a registry wrote.
func FuzzLogins(f *testing.F) {
	f.Add([]byte(`{"auths":{"https://quay.io/v1/":{"auth":"bWU6aHVudGVyMg=="},"r.example/a":{"username":"u","password":"pass"}}}`), "hunter2 said quay.io")
	f.Add([]byte(`{"auths":{"":{"auth":"Og=="}}}`), "")
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		l, ok := parse(file)
		if !ok {
			return
		}
		l.For(text)
		masked := l.Mask(text)
		for _, login := range l.by {
			if len(login.Password) >= 4 && !strings.Contains("********", login.Password) && strings.Contains(masked, login.Password) && !strings.Contains(login.Password, "*") {
				t.Errorf("a password is left in %q", masked)
			}
		}
	})
}
