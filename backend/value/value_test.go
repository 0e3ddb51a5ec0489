package value

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestDecodeAuth(t *testing.T) {
	for plain, want := range map[string]string{
		"a:word": "word", "a:with:colon": "with:colon", "a:ends\x00\x00": "ends", "bc:paddedtwice": "paddedtwice",
		"": "", "a": "", "a:": "", ":word": "",
	} {
		for name, encoding := range map[string]*base64.Encoding{"padded": base64.StdEncoding, "not padded": base64.RawStdEncoding} {
			_, password, err := DecodeAuth(encoding.EncodeToString([]byte(plain)))
			if password != want || (err == nil) != (want != "") {
				t.Errorf("%q, %s: %q, %q", plain, name, password, err)
			}
		}
	}
	if _, _, err := DecodeAuth("%%secret%%"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("not base64: %v", err)
	}
}

func TestNotForScripts(t *testing.T) {
	for s, at := range map[string]int{
		"http://user:p%40ss@[2001:db8::1]:3128": -1, ".example.com,10.0.0.0/8": -1, "a b": 1, "x$(id)": 1, "a;b": 1, "~": 0, "a`b": 1, "é": 0, "a\nb": 1, `a"b`: 1, "a&b": 1,
	} {
		if got := NotForScripts(s); got != at {
			t.Errorf("%q: %d, want %d", s, got, at)
		}
	}
}
