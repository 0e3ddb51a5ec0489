package pin

import (
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

func TestHash(t *testing.T) {
	h := Make("739215")
	if h == "" || strings.Contains(string(h), "739215") || !h.Valid() {
		t.Fatalf("the hash is %q", string(h))
	}
	for typed, want := range map[string]bool{"739215": true, "739216": false, "": false, string(h): false} {
		if h.Matches(typed) != want {
			t.Errorf("%q: matches %t", typed, !want)
		}
	}
	if Make(string(h)) != h || Make("") != "" || Hash("").Matches("") {
		t.Error("a hash is not taken as it is, or nothing matches nothing")
	}
	if Make("739215") == h {
		t.Error("two hashes of one PIN are the same: whoever sees both knows")
	}
}

func TestCheck(t *testing.T) {
	costly := "$2a$31$" + strings.Repeat("a", 53) // a document with it would keep the engine busy for days
	cheap, err := bcrypt.GenerateFromPassword([]byte("739215"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	for text, fine := range map[string]bool{
		"739215": true, "correct-horse": true, strings.Repeat("12", 32): true, string(Make("739215")): true,
		"": false, "12345": false, strings.Repeat("12", 33): false, "111111": false, "73 9215": false, "73921é": false, "73921\n": false,
		costly: false, string(cheap): false, "$2a$12$short": false,
	} {
		wrong, fix := Check(text)
		if (wrong.String() == "") != fine || (fix.String() == "") != fine {
			t.Errorf("%q: %q, %q", text, wrong, fix)
		}
		if text != "" && (strings.Contains(wrong.String(), text) || strings.Contains(fix.String(), text)) {
			t.Errorf("%q is repeated: %q, %q", text, wrong, fix)
		}
	}
}
