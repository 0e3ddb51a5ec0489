package site

import (
	"strings"
	"testing"
	"time"
)

// TestMonitor: what would send a token in the clear, or hold one where it is shown, is refused, and no error repeats a secret.
func TestMonitor(t *testing.T) {
	const url, token = "spec.monitor.url", "spec.monitor.token"
	for _, c := range []struct {
		values map[string]string
		path   string // of the error; "": there is none
	}{
		{map[string]string{}, ""},
		{map[string]string{url: "https://monitor.example.com/touchdown", token: planted}, ""},
		{map[string]string{url: "https://198.51.100.7:8443"}, ""},
		{map[string]string{url: "https://[2001:db8::7]:8443/x"}, ""},
		{map[string]string{url: "http://monitor.example.com"}, ""},
		{map[string]string{url: "http://monitor.example.com", token: planted}, url},
		{map[string]string{token: planted}, url},
		{map[string]string{"spec.monitor.ca": "x"}, url},
		{map[string]string{url: "https://u:" + planted + "@monitor.example.com"}, url},
		{map[string]string{url: "https://monitor.example.com/?token=" + planted}, url},
		{map[string]string{url: "https://monitor.example.com/#x"}, url},
		{map[string]string{url: "https://monitor.example.com:99999"}, url},
		{map[string]string{url: "https://"}, url},
		{map[string]string{url: "https://localhost/x"}, url},
		{map[string]string{url: "ftp://monitor.example.com"}, url},
		{map[string]string{url: "https://monitor.example.com", token: planted + "\u00e9"}, token},
		{map[string]string{url: "https://monitor.example.com", token: "Bearer " + planted}, token},
		{map[string]string{url: "https://monitor.example.com", "spec.monitor.key": planted}, "spec.monitor.key"},
	} {
		cfg := New()
		for path, value := range c.values {
			if err := cfg.Set(path, value); err != nil {
				t.Fatal(err)
			}
		}
		errs, _ := cfg.Validate(time.Now())
		if got := errs.At(c.path); (got == nil) != (c.path == "") {
			t.Errorf("%q: %v", c.values, errs)
		}
		for _, path := range []string{url, token, "spec.monitor.ca", "spec.monitor.cert", "spec.monitor.key"} {
			if e := errs.At(path); e != nil && (c.path == "" || strings.Contains(e.Error(), planted)) {
				t.Errorf("%s: %v", path, e)
			}
		}
	}
}
