package engine

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
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
		for _, stage := range steps.Site(cfg, steps.Wiring{NodeNet: &steps.NodeNetwork{}}) {
			if stage.ID == "site" {
				stage.Steps = slices.DeleteFunc(stage.Steps, func(s steps.Step) bool { return s.ID() != "credentials" })
				return []steps.Stage{stage}
			}
		}
		return nil
	}
	r := newRig(t, w)
	until(t, r, "the form", inState(view.Collecting))
	return r, take(t, r)
}

// missing tells whether the review wants the PIN again, and names the page.
func (r *rig) missing(t *testing.T, token string) bool {
	t.Helper()
	v := reviewed(t, r, token)
	found := slices.ContainsFunc(message.English(v.Review.Problems), func(s string) bool { return strings.HasPrefix(s, "PIN again ") })
	if asked := field(v, againPath).Visible && !field(v, againPath).SecretSet; asked != found {
		t.Errorf("the page asks: %t, the review: %t, %v", asked, found, v.Review.Problems)
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	return found
}

// TestATypedPINIsRepeated: a PIN that was typed once starts no work, whichever way the page was left, whoever has control, and whatever
// restarts; the same PIN once more does, and counts until another one is typed.
func TestATypedPINIsRepeated(t *testing.T) {
	r, token := newPINRig(t)
	set := func(path, value string) error { return r.Set(t.Context(), token, path, value) }
	if err := set(againPath, testPIN); !errors.Is(err, session.ErrInvalid) || !strings.HasSuffix(err.Error(), "Fill in PIN for idle consoles first.") {
		t.Errorf("a repeat of nothing: %v", err)
	}
	must(t, set(pinPath, quickHash()))
	if !r.missing(t, token) {
		t.Error("typed once is enough")
	}
	err := set(againPath, "739216")
	if e, ok := errors.AsType[*site.Error](err); !errors.Is(err, session.ErrInvalid) || !ok || !strings.Contains(e.Says().String(), "differ") || strings.Contains(err.Error(), "739216") {
		t.Errorf("another PIN: %v", err)
	}
	r.reopen(t)
	other, err := r.TakeControl(t.Context(), "tty2", true)
	must(t, err)
	if token = other; !r.missing(t, token) {
		t.Error("after a restart, typed once is enough")
	}
	must(t, set(againPath, testPIN))
	r.reopen(t)
	if token = take(t, r); r.missing(t, token) {
		t.Error("it is wanted a third time")
	}
	must(t, set(againPath, ""))
	if !r.missing(t, token) {
		t.Error("a repeat that was taken back still counts")
	}
	must(t, set(againPath, quickHash()))
	must(t, set(pinPath, quickHash()))
	if !r.missing(t, token) {
		t.Error("the repeat of an earlier PIN counts for the next")
	}
	must(t, set(pinPath, ""))
	if r.missing(t, token) {
		t.Error("no PIN is to be repeated")
	}
}

// TestAWrongRepeatIsTold: a wrong repeat after a right one drops the review, and the other consoles are told so.
func TestAWrongRepeatIsTold(t *testing.T) {
	r, token := newPINRig(t)
	must(t, r.Set(t.Context(), token, pinPath, quickHash()))
	must(t, r.Set(t.Context(), token, againPath, quickHash()))
	reviewed(t, r, token)
	r.mu.Lock() // so that no other event comes between
	before := r.core.recorder.seq
	err := r.core.answered(r.core.draft.set(againPath, "739216"))
	told := r.core.recorder.seq - before
	r.mu.Unlock()
	if !errors.Is(err, session.ErrInvalid) || told != 1 {
		t.Errorf("another PIN: %v, and %d events", err, told)
	}
	after, err := r.Snapshot(t.Context())
	must(t, err)
	if after.State != view.Collecting || after.Review != nil || field(after, againPath).SecretSet {
		t.Errorf("the state is %s, the review %v", after.State, after.Review)
	}
	if !r.missing(t, token) {
		t.Error("the repeat from before still counts")
	}
}

// TestAPINOfADocumentIsNotRepeated: nobody typed it here. What a medium brings leaves a typed PIN, and that it was repeated.
func TestAPINOfADocumentIsNotRepeated(t *testing.T) {
	r, token := newPINRig(t)
	must(t, r.Load(t.Context(), token, map[string]string{pinPath: quickHash()}, "file site.yaml"))
	if r.missing(t, token) {
		t.Error("the PIN of a document is to be repeated")
	}
	if err := r.Set(t.Context(), token, againPath, testPIN); !errors.Is(err, session.ErrInvalid) {
		t.Errorf("a repeat of what a document brought: %v", err)
	}
}

// cutAt is the file of the checksums on a disk that takes so many more records.
type cutAt struct {
	journalFile
	room *int
}

func (c cutAt) Write(b []byte) (int, error) {
	if *c.room--; *c.room < 0 {
		return 0, syscall.ENOSPC
	}
	return c.journalFile.Write(b)
}

// TestACutSaveIsAskedAgain: wherever saving another PIN is cut off, the next engine takes none for typed twice that was typed once, nor for
// that of a document.
func TestACutSaveIsAskedAgain(t *testing.T) {
	first, next := "$2a$10$"+strings.Repeat("a", 53), "$2a$10$"+strings.Repeat("b", 53)
	for what, c := range map[string]struct {
		before, after string // sources
		repeated      string // the PIN that may count as repeated
		typed         string // the one that may not count as brought
	}{
		"typed once after typed twice":    {"typed twice", site.Typed, first, next},
		"typed twice after typed once":    {site.Typed, "typed twice", next, first}, // such as one that is restored
		"of a document after typed once":  {site.Typed, "file site.yaml", "", first},
		"typed once after of a document":  {"file site.yaml", site.Typed, "", next},
		"typed twice after of a document": {"file site.yaml", "typed twice", next, next},
	} {
		cuts := 0
		for room, saved := 0, false; !saved; room++ {
			s, cfg := newStateFolder(t), site.New()
			must(t, cfg.SetFrom(pinPath, first, c.before))
			must(t, s.saveDraft(cfg))
			must(t, cfg.SetFrom(pinPath, next, c.after))
			left := room
			s.sums.log.file = cutAt{s.sums.log.file, &left}
			if err := s.saveDraft(cfg); err != nil {
				cuts++
			} else {
				saved = true
			}
			got, lost, err := s.loadDraft()
			must(t, err)
			is := got.Spec.Console.PIN
			if len(lost) > 0 || got.Repeated(pinPath) && string(is) != c.repeated || string(is) == c.typed && !site.ByHand(got.Sources[pinPath]) {
				t.Errorf("%s, full after %d records: %.8s is %q, %q", what, room, strings.TrimPrefix(string(is), "$2a$10$"), got.Sources[pinPath], lost)
			}
			if saved && left >= 0 && (string(is) != next || got.Sources[pinPath] != c.after) {
				t.Errorf("%s: saved is %q", what, got.Sources[pinPath])
			}
		}
		if cuts < 3 {
			t.Errorf("%s: %d cuts", what, cuts)
		}
	}
}

// TestAMediumFillsWhatWasLost: a typed PIN whose file was lost does not empty the one of a medium; one that is there stays.
func TestAMediumFillsWhatWasLost(t *testing.T) {
	brought, typed := "$2a$10$"+strings.Repeat("a", 53), "$2a$10$"+strings.Repeat("b", 53)
	for kept, want := range map[string]string{"": brought, typed: typed} {
		d := newDraft(t)
		must(t, d.site.SetFrom(pinPath, typed, site.Typed))
		d.site.Spec.Console.PIN = site.New().Spec.Console.PIN
		if kept != "" {
			must(t, d.site.SetFrom(pinPath, kept, site.Typed))
		}
		must(t, d.fill(map[string]string{pinPath: brought}, &media.Taken{Source: "stick SITECONFIG", Use: func() error { return nil }}))
		if got, _ := d.site.Get(pinPath); got != want || (d.site.Sources[pinPath] == site.Typed) != (kept != "") {
			t.Errorf("with %.9q kept, the PIN is %.9q, %q", kept, got, d.site.Sources[pinPath])
		}
	}
}
