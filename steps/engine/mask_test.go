package engine

import (
	"strings"
	"testing"
)

// TestMaskOfAProxy holds that the password of a proxy's URL is hidden by itself too, as it is written and decoded.
func TestMaskOfAProxy(t *testing.T) {
	var m Masker
	m.Hide([]string{"http://user:PLANTED%40s3cret@proxy.example.com:3128"})
	for _, text := range []string{
		"dialing http://user:PLANTED%40s3cret@proxy.example.com:3128: refused",
		"dialing user:PLANTED%40s3cret@proxy.example.com: refused",
		"407 for user with PLANTED@s3cret",
	} {
		if got := m.Mask(text); strings.Contains(got, "PLANTED") || !strings.Contains(got, "<secret>") {
			t.Errorf("%q is masked as %q", text, got)
		}
	}
	if text := "proxy.example.com:3128 is silent"; m.Mask(text) != text {
		t.Errorf("%q is masked as %q", text, m.Mask(text))
	}
}
