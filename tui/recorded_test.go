package tui

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/idle"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// secretWord is typed wherever something can be typed. No text of the console has four of its letters in a row.
const secretWord = "Qzk7Wxj9Vqp"

// told is all that a console told the engine of what it showed.
func (b *bench) told() string {
	b.t.Helper()
	b.app.View()
	b.app.seen.send(b.t.Context(), time.Minute)
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	return strings.Join(b.fake.shown, "\n")
}

// leaks tells whether a text has a part of a secret by which it could be guessed.
func leaks(text, secret string) bool {
	for i := range len(secret) - 3 {
		if strings.Contains(text, secret[i:i+4]) {
			return true
		}
	}
	return false
}

// tellsNo fails when a record has a part of a secret, or tells how long one is.
func tellsNo(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if leaks(text, secret) {
			t.Errorf("the record has a part of %q:\n%s", secret, text)
		}
	}
	if stars := regexp.MustCompile(`\*{2,}`).FindString(text); stars != "" {
		t.Errorf("the record tells how long a secret is: %q", stars)
	}
}

// TestTheRecordTellsWhatHappened: which pages were shown, what was pressed, in this order; a key that changes nothing costs a word.
func TestTheRecordTellsWhatHappened(t *testing.T) {
	b := newBench(t, 80, 24, failed)
	b.press("down", "p", "enter", "enter", "l", "z")
	b.now = b.now.Add(time.Second)
	text := b.told()
	last := 0
	for _, want := range []string{"page problem, ", "The disk", "key down", "key p: Support bundle", "key enter", "page bundle, ", "/var/tmp/touchdown-support.tar.gz", "key enter", "key l: ", "page log, ", "another key"} {
		if want == "The disk" {
			want = show(failure(&b.fake.snap).Summary)[:20]
		}
		at := strings.Index(text[last:], want)
		if at < 0 {
			t.Fatalf("%q is not told behind the others:\n%s", want, text)
		}
		last += at
	}
	if strings.Contains(text, "key z") || strings.Contains(text, "UTC") {
		t.Errorf("a key that does nothing is named, or the clock is told:\n%s", text)
	}
	b.fake.shown = nil
	b.app.seen.page = "" // whole again
	for range 50 {
		b.press("down")
	}
	if n := strings.Count(b.told(), "key down"); n == 0 {
		t.Error("keys are not told")
	}
}

// TestTheRecordHasNoSecret: nothing that is typed anywhere is in it, also while it is being typed.
func TestTheRecordHasNoSecret(t *testing.T) {
	b := newBench(t, 80, 24, realSite)
	kinds := map[steps.Kind]int{}
	for _, stage := range b.app.snap.Stages {
		for _, v := range stageFields(stage) {
			if !v.Visible || !isText(v.Kind) {
				continue
			}
			b.app.goTo(stage.ID)
			b.app.followJob()
			page, ok := b.app.top().(*form)
			if !ok {
				t.Fatalf("%s: the page is %s", v.Path, b.app.top().name())
			}
			page.focus(v.Path)
			b.app.View()
			kinds[v.Kind]++
			b.press("'" + secretWord)
			b.paste(secretWord)
			b.app.View()
			switch v.Kind {
			case steps.Secret:
				b.press("tab")
			case steps.PEM:
				b.press("enter", "'"+secretWord, "enter", "enter")
			case steps.Lines:
				b.press("enter", "'"+secretWord)
			}
			b.press("ctrl+u", "ctrl+u")
			page.refused, page.unsent = map[string]string{}, map[string]string{}
		}
	}
	if kinds[steps.Secret] == 0 || kinds[steps.PEM] == 0 || kinds[steps.Lines] == 0 || kinds[steps.Text] == 0 {
		t.Errorf("typed into %v", kinds)
	}
	text := b.told()
	tellsNo(t, text, secretWord)
	if !strings.Contains(text, "page form, ") || !strings.Contains(text, "types") || !strings.Contains(text, "several keys at once") {
		t.Errorf("the record is\n%s", text)
	}
}

// TestTheRecordHasNothingUnsent: what a person left in a field is not in it before the engine has it, which may know that it is a secret.
func TestTheRecordHasNothingUnsent(t *testing.T) {
	b := newBench(t, 80, 24, realSite)
	b.fake.gone = true // it takes nothing
	for _, stage := range b.app.snap.Stages {
		for _, v := range stageFields(stage) {
			if v.Path == "spec.clusterName" || v.Path == "spec.network.ipv4.address" || strings.HasPrefix(v.Path, "spec.proxy.http") {
				b.app.goTo(stage.ID)
				b.app.followJob()
				b.app.top().(*form).focus(v.Path)
				b.press("ctrl+u", "'"+secretWord, "shift+tab") // the next field may be on the next page
				b.shows(secretWord)
			}
		}
	}
	b.fake.gone = false
	tellsNo(t, b.told(), secretWord)
}

// quoting is an engine that quotes what it was given: it takes the value and says what is wrong with it, refuses it, or has nothing against it.
func quoting(how, path string) func(*view.Snapshot) {
	return func(s *view.Snapshot) {
		for i := range s.Stages {
			for j := range s.Stages[i].Steps {
				for k := range s.Stages[i].Steps[j].Fields {
					v := &s.Stages[i].Steps[j].Fields[k]
					if v.Path != path || v.Source != "typed" || v.Value == "" {
						continue
					}
					switch why := message.Data(fmt.Sprintf("%q is wrong", v.Value)); how {
					case "problem":
						v.Problem = why
					case "together":
						v.Together = why
					}
				}
			}
		}
	}
}

// TestTheRecordHasNoAnswer: what was typed into a text field and has left it, with whatever the engine says of it. Pages show it meanwhile.
func TestTheRecordHasNoAnswer(t *testing.T) {
	const path = "spec.baseDomain"
	for _, how := range []string{"problem", "together", "refused", "valid"} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t, 80, 24)
			b.fake.spell = quoting(how, path)
			b.fake.refuses = how == "refused"
			for _, stage := range b.app.snap.Stages {
				for _, v := range stageFields(stage) {
					if v.Path == path {
						b.app.goTo(stage.ID)
					}
				}
			}
			b.app.followJob()
			page := b.app.top().(*form)
			page.focus(path)
			b.press("'"+secretWord, "tab")
			page.entry.tried = true
			b.press("tab")
			b.shows(secretWord)
			text := b.told()
			tellsNo(t, text, secretWord)
			if strings.Contains(text, untoldProblem) != (how != "valid") || !strings.Contains(text, untold) {
				t.Errorf("the record is\n%s", text)
			}
		})
	}
}

// TestLineModeTellsNoAnswer: neither beside the question that comes again nor in what is said about it.
func TestLineModeTellsNoAnswer(t *testing.T) {
	for _, how := range []string{"problem", "together", "refused"} {
		t.Run(how, func(t *testing.T) {
			f := newFake()
			f.spell, f.refuses = quoting(how, "spec.baseDomain"), how == "refused"
			p, done := startPlain(t, f)
			p.after(t, "Type control to take control:", "control")
			p.after(t, "Cluster name [sno-042]:", "")
			p.after(t, "Base domain []:", secretWord)
			if how == "together" {
				p.after(t, "Pull secret", "")
				p.after(t, "API certificate", "")
				p.after(t, goesOn, "back")
			}
			if how == "refused" {
				p.printed(t, secretWord)
				p.printed(t, "Base domain []:")
			} else {
				p.printed(t, "Base domain ["+secretWord+"]:")
			}
			_ = p.in.Close()
			if err := <-done; !errors.Is(err, ErrHungUp) {
				t.Fatal(err)
			}
			f.mu.Lock()
			text := strings.Join(f.shown, "\n")
			f.mu.Unlock()
			tellsNo(t, text, secretWord)
			for _, want := range []string{"Cluster name [...]:", "Base domain []:", untoldProblem} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not told:\n%s", want, text)
				}
			}
		})
	}
}

// TestTheReviewsProblemsAreNotTold: they quote answers; how many there are is told. Files on sticks have no names.
func TestTheReviewsProblemsAreNotTold(t *testing.T) {
	b := newBench(t, 80, 24, func(s *view.Snapshot) {
		s.State, s.Review = view.Reviewed, reviewView()
		s.Review.Problems = []message.Text{message.Data("Base domain " + secretWord + " is wrong")}
		s.Review.Files = []message.Text{message.Data("Pull secret: from " + secretWord)}
	})
	b.shows(secretWord)
	b.press("pgdown")
	text := b.told()
	tellsNo(t, text, secretWord)
	if !strings.Contains(text, untoldProblem) {
		t.Errorf("%s", text)
	}
}

// TestSlowTypingTellsNoLength: one letter at a time, each told at once, with a page that changes meanwhile.
func TestSlowTypingTellsNoLength(t *testing.T) {
	r := newRecord(nil)
	var got []string
	r.tell = func(_ context.Context, text string) error { got = append(got, text); return nil }
	for n := range 6 {
		r.note(epoch, someTyping)
		r.shows(epoch, epoch, epoch, "work", []string{strings.Repeat("x", n)})
		r.send(t.Context(), time.Minute)
	}
	r.note(epoch, "key enter")
	r.note(epoch, someTyping)
	r.send(t.Context(), time.Minute)
	if n := strings.Count(strings.Join(got, "\n"), someTyping); n != 2 {
		t.Errorf("%d of 2: %q", n, got)
	}
}

// TestOtherPagesTellNoSecret: words of confirmations, names, searches, PINs, the password at the hand-over, and letters typed where none
// belong.
func TestOtherPagesTellNoSecret(t *testing.T) {
	review := func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() }
	for name, at := range map[string]struct {
		edits []func(*view.Snapshot)
		keys  []string
	}{
		"word of the review":       {[]func(*view.Snapshot){review}, []string{"tab", "tab"}},
		"word of a confirmation":   {[]func(*view.Snapshot){failed}, []string{"u", "enter", "tab"}},
		"search of the log":        {[]func(*view.Snapshot){finished}, []string{"l", "/"}},
		"password at the end":      {[]func(*view.Snapshot){finished}, []string{"g"}},
		"a page with buttons only": {[]func(*view.Snapshot){working}, nil},
		"a PIN":                    {[]func(*view.Snapshot){finished, lockable}, nil},
		"a layout of the keyboard": {[]func(*view.Snapshot){finished}, []string{"?", "k"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 80, 24, at.edits...)
			if name == "a PIN" {
				b.now = b.now.Add(20 * time.Minute)
				b.lockOf(idle.View{After: 600})
				b.press("'" + fakePIN)
				b.app.View()
			}
			b.press(at.keys...)
			for _, letter := range secretWord {
				if !strings.ContainsRune("q", letter) {
					b.press(string(letter))
				}
				b.app.View()
			}
			if name == "search of the log" {
				b.press("enter")
				b.shows("Qzk"[1:])
				b.app.View()
			}
			b.press("tab", "tab")
			b.now = b.now.Add(time.Minute)
			tellsNo(t, b.told(), secretWord, shownPassword, fakePIN)
		})
	}
}

// TestAFileListIsNotTold: a person's files are nobody's business.
func TestAFileListIsNotTold(t *testing.T) {
	b := newBench(t, 80, 24)
	b.app.over = &fileList{base: base{b.app.desk}, form: newForm(b.app.desk)}
	b.fake.change(func(s *view.Snapshot) { s.Volumes = sockets })
	b.refresh()
	b.shows(sockets[0].Name)
	if text := b.told(); strings.Contains(text, sockets[0].Name) || !strings.Contains(text, "page files") {
		t.Errorf("%s", text)
	}
}

// TestAFileThatIsTakenIsNotNamed: neither where it was taken nor where it was refused, on the page of its field.
func TestAFileThatIsTakenIsNotNamed(t *testing.T) {
	b := newBench(t, 80, 24, realSite, fromSticks)
	b.fake.volumes = sockets
	b.press("c", "c", "shift+tab", "d")
	b.in("spec.additionalTrustBundle")
	for _, one := range []struct {
		keys []string
		says string
	}{{nil, "Taken from the file ca.pem."}, {[]string{"down"}, "The file site/server.key is not taken"}} {
		b.press(append([]string{"ctrl+o"}, one.keys...)...)
		b.app.View()
		_, taking := b.app.Update(keyPress("enter"))
		b.press("b") // the list is closed before the engine answers
		b.run(taking)
		b.shows(one.says)
		text := b.told()
		for _, name := range []string{"ca.pem", "server.key", sockets[0].Name} {
			if strings.Contains(text, name) {
				t.Errorf("%q is told:\n%s", name, text)
			}
		}
		if !strings.Contains(text, "page files") || !strings.Contains(text, "page form, ") {
			t.Errorf("the record is\n%s", text)
		}
	}
}

// TestPagesThatAreDrawnOnce: a page that is not drawn again for the record has nothing that the record must not have. Most pages are.
func TestPagesThatAreDrawnOnce(t *testing.T) {
	once := 0
	for _, s := range scenes() {
		b := newBench(t, 80, 24, s.edits...)
		b.press(s.keys...)
		b.app.View()
		if b.app.hides || b.app.top().private() {
			continue
		}
		once++
		drawn := b.app.frame(b.app.top(), 80, 24)
		b.app.blind = true
		if recorded := b.app.frame(b.app.top(), 80, 24); !slices.Equal(recorded.lines, drawn.lines) {
			t.Errorf("%s: drawn\n%s\nrecorded\n%s", s.name, strings.Join(drawn.lines, "\n"), strings.Join(recorded.lines, "\n"))
		}
	}
	if once < 30 {
		t.Errorf("only %d pages are drawn once", once)
	}
}

// TestTheRecordOutlivesTheEngine: what the engine did not take is told to the next one, its end at least, and nothing waits for it.
func TestTheRecordOutlivesTheEngine(t *testing.T) {
	away, got := true, []string(nil)
	r := newRecord(func(_ context.Context, text string) error {
		if away {
			return errors.New("no engine")
		}
		got = append(got, text)
		return nil
	})
	r.note(epoch, "first")
	r.send(t.Context(), time.Minute)
	r.note(epoch, "second")
	r.note(epoch, "second")
	away = false
	r.send(t.Context(), time.Minute)
	if want := "02:13:07 first\n02:13:07 second"; len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
	for range 1000 {
		r.note(epoch, "a"+strings.Repeat("x", 100))
		r.note(epoch, "b"+strings.Repeat("x", 100))
	}
	r.send(t.Context(), time.Minute)
	if len(got[1]) > mostUntold+100 || !strings.HasPrefix(got[1], "... what was before is lost\n") {
		t.Errorf("%d bytes, %.40q", len(got[1]), got[1])
	}
	r.send(t.Context(), time.Minute)
	if len(got) != 2 {
		t.Error("nothing is told")
	}
}

// TestAPageThatOnlyMoves: is recorded less and less often while nobody presses a key.
func TestAPageThatOnlyMoves(t *testing.T) {
	b := newBench(t, 80, 24, working)
	b.told()
	b.fake.shown = nil
	for n := range 24 * 60 {
		b.now = b.now.Add(time.Minute)
		b.fake.change(func(s *view.Snapshot) { s.Worked, s.Notices = float64(n), nil })
		b.refresh()
		b.app.View()
		if n%2 == 0 {
			b.app.seen.shows(b.now, b.now, b.app.lastAct, b.app.seen.page, []string{b.now.String()})
		}
	}
	if n := strings.Count(b.told(), " page "); n < 2 || n > 16 {
		t.Errorf("%d times in a day", n)
	}
}

// TestLineModeTells: what was printed and asked, in its order; not what was typed, what cannot be a choice included, and no password.
func TestLineModeTells(t *testing.T) {
	f := newFake()
	finished(&f.snap)
	p, done := startPlain(t, f)
	p.after(t, "Type", "control")
	p.after(t, "Number:", secretWord)
	p.printed(t, "is not a choice")
	ways := []string{}
	wait.Until(t, "the ways on", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		ways = regexp.MustCompile(`(\d+)\s+Credentials`).FindStringSubmatch(p.out.String())
		return len(ways) > 1
	})
	p.after(t, "Number:", ways[1])
	p.printed(t, shownPassword)
	_ = p.in.Close()
	if err := <-done; !errors.Is(err, ErrHungUp) {
		t.Fatal(err)
	}
	f.mu.Lock()
	text := strings.Join(f.shown, "\n")
	f.mu.Unlock()
	tellsNo(t, text, secretWord, shownPassword)
	for _, want := range []string{"types a line", "prints what is not recorded: that no such way exists", "chooses Credentials", "prints what is not recorded: the login"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told:\n%s", want, text)
		}
	}
}
