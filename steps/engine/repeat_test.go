package engine

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/site"
)

const (
	pinPath   = "spec.console.pin"
	againPath = "console.pinAgain"
)

// quickHash is the hash of testPIN that is computed fastest of those that are taken.
var quickHash = sync.OnceValue(func() string {
	made, err := bcrypt.GenerateFromPassword([]byte(testPIN), 10)
	if err != nil {
		panic(err)
	}
	return string(made)
})

// newPINRig has the page that asks for the PIN in its list.
func newPINRig(t *testing.T) (*rig, string) {
	t.Helper()
	w := newWorld()
	w.asks = func(cfg *site.Config) []steps.Stage {
		return []steps.Stage{{ID: "site", Title: message.T("Names and credentials"), Steps: []steps.Step{&steps.Credentials{Site: cfg}}}}
	}
	r := newRig(t, w)
	until(t, r, "the form", inState(Collecting))
	return r, take(t, r)
}

// missing tells whether the review wants the PIN again, and names the page.
func (r *rig) missing(t *testing.T, pen string) bool {
	t.Helper()
	v := reviewed(t, r, pen)
	found := slices.ContainsFunc(message.English(v.Review.Problems), func(s string) bool { return strings.HasPrefix(s, "PIN again ") })
	if asked := field(v, againPath).Visible && !field(v, againPath).SecretSet; asked != found {
		t.Errorf("the page asks: %t, the review: %t, %v", asked, found, v.Review.Problems)
	}
	must(t, r.Do(t.Context(), pen, Action{Verb: Edit}))
	return found
}

// TestATypedPINIsRepeated: a PIN that was typed once starts no work, whichever way the page was left, whoever has control, and whatever
// restarts; the same PIN once more does, and counts until another one is typed.
func TestATypedPINIsRepeated(t *testing.T) {
	r, pen := newPINRig(t)
	set := func(path, value string) error { return r.Set(t.Context(), pen, path, value) }
	if err := set(againPath, testPIN); !errors.Is(err, ErrInvalid) {
		t.Errorf("a repeat of nothing: %v", err)
	}
	must(t, set(pinPath, quickHash()))
	if !r.missing(t, pen) {
		t.Error("typed once is enough")
	}
	err := set(againPath, "739216")
	if e, ok := errors.AsType[*site.Error](err); !errors.Is(err, ErrInvalid) || !ok || !strings.Contains(e.Says().String(), "differ") || strings.Contains(err.Error(), "739216") {
		t.Errorf("another PIN: %v", err)
	}
	r.reopen(t)
	other, err := r.TakePen(t.Context(), "tty2", true)
	must(t, err)
	if pen = other; !r.missing(t, pen) {
		t.Error("after a restart, typed once is enough")
	}
	must(t, set(againPath, testPIN))
	r.reopen(t)
	if pen = take(t, r); r.missing(t, pen) {
		t.Error("it is wanted a third time")
	}
	must(t, set(againPath, ""))
	if !r.missing(t, pen) {
		t.Error("a repeat that was taken back still counts")
	}
	must(t, set(againPath, quickHash()))
	must(t, set(pinPath, quickHash()))
	if !r.missing(t, pen) {
		t.Error("the repeat of an earlier PIN counts for the next")
	}
	must(t, set(pinPath, ""))
	if r.missing(t, pen) {
		t.Error("no PIN is to be repeated")
	}
}

// TestAPINOfADocumentIsNotRepeated: nobody typed it here. What a medium brings leaves a typed PIN, and that it was repeated.
func TestAPINOfADocumentIsNotRepeated(t *testing.T) {
	r, pen := newPINRig(t)
	must(t, r.Load(t.Context(), pen, map[string]string{pinPath: quickHash()}, "file site.yaml"))
	if r.missing(t, pen) {
		t.Error("the PIN of a document is to be repeated")
	}
	if err := r.Set(t.Context(), pen, againPath, testPIN); !errors.Is(err, ErrInvalid) {
		t.Errorf("a repeat of what a document brought: %v", err)
	}
}
