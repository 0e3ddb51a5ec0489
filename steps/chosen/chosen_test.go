package chosen_test

import (
	"testing"

	"touchdown/steps/chosen"
	"touchdown/steps/site"
)

// TestOrigin: what From wrote is read again, whatever the file is called, and no other origin is taken for one.
func TestOrigin(t *testing.T) {
	for _, file := range []string{"ca.pem", "a folder/b/ca on stick.pem"} {
		origin := chosen.From("MY STICK", file)
		if volume, got, ok := chosen.Of(origin); !ok || volume != "MY STICK" || got != file || !chosen.ByPerson(origin) {
			t.Errorf("%q: %q, %q, %t", origin, volume, got, ok)
		}
	}
	for origin, person := range map[string]bool{site.Typed: true, site.Default: false, "stick chosen/x": false, "file site.yaml": false, "": false} {
		if _, _, ok := chosen.Of(origin); ok || chosen.ByPerson(origin) != person {
			t.Errorf("%q: %t, %t", origin, ok, chosen.ByPerson(origin))
		}
	}
}
