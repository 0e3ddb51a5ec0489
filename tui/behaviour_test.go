package tui

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestWalk goes from the first page to the report as a person would.
func TestWalk(t *testing.T) {
	b := newBench(t, 80, 24)
	b.shows("Hardware check")
	b.press("enter")
	b.shows("Base domain")
	b.press("tab", "'example.com", "enter", "enter", "enter", "enter")
	b.shows("Network port")
	b.press("tab", "tab", "enter")
	b.shows("To start, type sno-042")
	b.press("enter")
	b.shows("Network port") // the default goes back
	b.press("tab", "tab", "enter", "tab", "'SNO-042", "enter")
	b.shows("Running for")
	if got := b.fake.actions[len(b.fake.actions)-1]; got.Verb != session.Start || got.Fingerprint != "f00d" {
		t.Errorf("the work was started with %+v", got)
	}
	b.fake.change(asking)
	b.refresh()
	b.shows("(default)")
	b.press("enter")
	b.shows("(default)") // the key may have been meant for the page before
	b.now = b.now.Add(2 * time.Second)
	b.press("1", "enter")
	b.shows("Running for")
	b.fake.change(failed)
	b.refresh()
	b.shows("RLT-DNS")
	b.press("r", "enter")
	b.shows("Running for")
	b.fake.change(finished)
	b.refresh()
	b.shows("This node has landed")
	b.press("enter")
	b.shows("HAND-OVER REPORT")
}

// TestEnterNeverStarts presses Enter, Space and letters on every page for a long time.
func TestEnterNeverStarts(t *testing.T) {
	for _, k := range []string{"enter", "space", "y", "c", "s", "right"} {
		b := newBench(t, 80, 24)
		b.press("c", "tab", "'example.com", "tab", "tab", "tab", "enter", "c")
		for range 150 {
			b.press(k, "enter")
		}
		if slices.Contains(b.fake.verbs(), session.Start) {
			t.Errorf("pressing %s and Enter started the work", k)
		}
		if len(b.fake.verbs()) == 0 && k != "space" {
			t.Logf("%s never reached the review", k)
		}
	}
}

// TestTypingQ: a letter that is a key elsewhere is text in every text field.
func TestTypingQ(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "ctrl+u", "'qT?bl", "tab", "'qT?bl", "tab", "'qT?bl", "tab", "'q", "enter", "'.", "enter", "tab")
	want := []string{"spec.clusterName=qT?bl", "spec.baseDomain=qT?bl", "spec.pullSecret=qT?bl", "spec.apiCert.cert=q\n"}
	if !reflect.DeepEqual(b.fake.sets, want) {
		t.Errorf("set %q, want %q", b.fake.sets, want)
	}
	if strings.Contains(b.screen(), "******") || strings.Contains(b.screen(), "[q ") {
		t.Errorf("a secret is on the screen:\n%s", b.screen())
	}
}

// TestBackKeepsValues goes back from every page, by letter and by button, and finds what was typed.
func TestBackKeepsValues(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "ctrl+u", "'store0042", "tab", "'example.com", "tab", "tab", "tab", "enter")
	b.press("right", "tab", "left", "tab", "c")
	b.shows("To start, type")
	b.press("b")
	b.shows("eno2, no link")
	b.shows("< static >")
	b.press("b")
	b.shows("store0042")
	b.shows("[example.com")
	b.press("down", "'-half", "shift+tab", "enter") // a half-typed value is kept too
	b.shows("Hardware check")
	b.press("c")
	b.shows("store0042-half")
}

func TestProblemClearsWithTheKeystroke(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "tab", "'a_b", "tab")
	b.shows("! a name has letters")
	b.press("up", "backspace")
	b.shows("! a name has letters")
	b.press("backspace")
	if strings.Contains(b.screen(), "! a name has letters") {
		t.Errorf("the message stays:\n%s", b.screen())
	}
	b.press("tab", "tab", "tab", "enter")
	b.shows("Network port")
}

// TestFoundWhileInFocus: a value that the machine tells while someone stands on its empty field stays when they go on.
func TestFoundWhileInFocus(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "tab")
	b.fake.change(func(s *view.Snapshot) {
		for i, stage := range s.Stages {
			for j, step := range stage.Steps {
				for k, f := range step.Fields {
					if f.Path == "spec.baseDomain" {
						s.Stages[i].Steps[j].Fields[k].Value = "found.example.com"
					}
				}
			}
		}
	})
	b.refresh()
	b.press("tab")
	b.shows("[found.example.com ")
	for _, set := range b.fake.sets {
		if strings.HasPrefix(set, "spec.baseDomain=") {
			t.Errorf("%s was set by nobody", set)
		}
	}
}

// TestEmptiedToTypeAgain: a field with a mistake is emptied, and what the machine tells does not come back beneath the hand.
func TestEmptiedToTypeAgain(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "'_", "tab")
	b.shows("! a name has letters")
	b.press("up", "ctrl+u")
	b.refresh()
	b.press("'shop")
	b.shows("[shop ")
}

func TestContinueNamesWhatIsMissing(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "tab", "tab", "tab", "tab", "enter")
	b.shows("! This is needed.")
	b.press("'x")
	b.shows("[x ")
}

func TestRestore(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "'sno-0429", "tab", "up")
	b.shows("sno-0429")
	b.press("ctrl+r")
	b.shows("[sno-042 ")
}

func TestPEM(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "tab", "tab", "tab")
	for _, line := range []string{"-----BEGIN CERTIFICATE-----", "MIIB", "", "QQ==", "-----END CERTIFICATE-----", ""} {
		b.press("'"+line, "enter", "ctrl+j")
	}
	for _, line := range []string{"-----BEGIN CERTIFICATE-----", "AAAA", "-----END CERTIFICATE-----", ""} {
		b.press("'"+line, "enter", "ctrl+j")
	}
	last := b.fake.sets[len(b.fake.sets)-1]
	if strings.Count(last, "BEGIN") != 2 || strings.Contains(last, "\n\n") {
		t.Errorf("pasted %q", last)
	}
	if strings.Contains(b.screen(), "MIIB") {
		t.Errorf("the key is on the screen:\n%s", b.screen())
	}
	b.shows("set, not shown")

	file := filepath.Join(t.TempDir(), "api.pem")
	if err := os.WriteFile(file, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.press("up", "down", "'"+file, "tab")
	if last := b.fake.sets[len(b.fake.sets)-1]; last != "spec.apiCert.cert=from a file" {
		t.Errorf("set %q", last)
	}
	b.press("up", "'/tmp/no/such/file", "tab")
	b.shows("no such file")
	sets := len(b.fake.sets)
	b.press("up", "ctrl+u", "'/etc/shadow", "tab")
	if len(b.fake.sets) != sets {
		t.Errorf("set %q", b.fake.sets[sets:])
	}
	b.shows("is not read")
}

// TestControlOfConsoles: two consoles, one has control, nothing lost.
func TestControlOfConsoles(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "tab", "'half")
	if _, err := b.fake.TakeControl(t.Context(), "tty1", true); err != nil {
		t.Fatal(err)
	}
	b.refresh()
	b.shows("tty1 took control")
	b.shows("read-only: tty1 has control")
	b.press("tab", "x")
	if len(b.fake.sets) != 0 {
		t.Errorf("a console without control set %q", b.fake.sets)
	}
	b.press("ctrl+g")
	b.shows("Take control?")
	b.press("enter")
	b.shows("read-only")
	b.press("ctrl+g", "ctrl+y")
	b.shows("you have control")
	b.press("up", "up", "down", "tab")
	if !slices.Contains(b.fake.sets, "spec.baseDomain=half") {
		t.Errorf("what was typed is lost: %q", b.fake.sets)
	}
}

// TestTheQuestionForControlEndsWithItsConsole: who has control now may be nobody, or someone else than the question names.
func TestTheQuestionForControlEndsWithItsConsole(t *testing.T) {
	for _, next := range []string{"", "pts/3"} {
		b := newBench(t, 80, 24)
		token, err := b.fake.TakeControl(t.Context(), "tty1", true)
		if err != nil {
			t.Fatal(err)
		}
		b.refresh()
		b.press("ctrl+g")
		b.refresh()
		b.shows("Take control?")
		if err := b.fake.ReleaseControl(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		if next != "" {
			if _, err := b.fake.TakeControl(t.Context(), next, true); err != nil {
				t.Fatal(err)
			}
		}
		b.refresh()
		if text := b.screen(); strings.Contains(text, "Take control?") {
			t.Errorf("control is with %q, and the question stands:\n%s", next, text)
		}
		b.press("ctrl+g")
		if next != "" {
			b.shows("Take control?")
			b.press("ctrl+y")
		}
		b.shows("you have control")
	}
}

func TestEngineGone(t *testing.T) {
	b := newBench(t, 80, 24, working)
	b.refresh()
	before := b.app.heart()
	b.refresh()
	if b.app.heart() == before {
		t.Error("the heart does not beat")
	}
	b.fake.gone = true
	b.refresh()
	b.shows("engine not answering, trying again; work goes on when it answers")
	b.shows("engine: not answering")
	b.fake.gone = false
	b.fake.change(func(s *view.Snapshot) { s.Control = view.Control{} }) // it was started again
	b.refresh()
	b.refresh()
	b.shows("you have control")
}

// TestFlood: any number of events cost one look at the engine.
func TestFlood(t *testing.T) {
	b := newBench(t, 80, 24, working)
	l := b.app.link
	go l.follow()
	for range 500 {
		b.fake.change(func(*view.Snapshot) {})
	}
	before := b.fake.looks
	if msg, ok := l.wait().(eventMsg); !ok || msg.err != nil {
		t.Fatalf("got %v", msg)
	}
	if n := b.fake.looks - before; n != 1 {
		t.Errorf("%d looks", n)
	}
}

// TestOvertaking: an answer that was asked for earlier does not undo a newer one.
func TestOvertaking(t *testing.T) {
	b := newBench(t, 80, 24)
	old := b.app.link.look()
	b.press("c", "'x", "tab")
	b.app.Update(snapshotMsg{old})
	b.shows("[x ")
}

func TestRefusalsStayBesideTheField(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c")
	b.app.pending++
	b.app.Update(setMsg{snapshot: b.app.link.look(), path: "spec.baseDomain", typed: "2x", failed: fmt.Errorf("%w: 2x is not a duration", session.ErrInvalid)})
	b.shows("! 2x is not a duration")
	b.app.Update(actMsg{snapshot: b.app.link.look(), failed: errors.New("reading the disk: no space left")})
	b.shows("no space left")
}

// TestRefusedTextCanBeEmptied: in a field whose text is wrong, what is typed goes behind it, so that the footer names the key that empties
// the field.
func TestRefusedTextCanBeEmptied(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "'x_1", "tab", "shift+tab")
	b.shows("Ctrl-U empty")
	b.press("ctrl+u", "'x1")
	b.shows("[x1 ")
	if strings.Contains(b.screen(), "Ctrl-U") {
		t.Errorf("nothing is wrong any more:\n%s", b.screen())
	}
}

// TestLongSentenceIsWhole: a sentence above the keys that is longer than a row stands on several; nothing else tells an error.
func TestLongSentenceIsWhole(t *testing.T) {
	b := newBench(t, 80, 24)
	b.app.Update(actMsg{snapshot: b.app.link.look(), failed: errors.New(strings.Repeat("a long error ", 12) + "ends")})
	b.shows("ends")
	if f := b.app.frame(b.app.top(), 80, 24); len(f.lines) != 24 {
		t.Errorf("%d rows:\n%s", len(f.lines), b.screen())
	}
	b.shows("Continue")
}

// TestHelpLeadsBack: who closes help, or does not leave after all, is where the key was pressed, with what was typed.
func TestHelpLeadsBack(t *testing.T) {
	b := newBench(t, 80, 24, withStickAndPorts)
	b.app.goTo("network")
	b.app.followJob()
	b.in("spec.network.interface")
	b.press("enter")
	before := b.screen()
	for _, keys := range [][]string{{"?", "b"}, {"ctrl+c", "enter"}, {"?", "ctrl+c", "enter"}} {
		b.press(keys...)
		if b.screen() != before {
			t.Errorf("%v leads to\n%s", keys, b.screen())
		}
	}
	if b.press("b"); b.app.over != nil || len(b.app.beneath) > 0 {
		t.Errorf("the list does not close:\n%s", b.screen())
	}
}

// TestWaiveLeadsToWhatIsMissing: a waiver without a name or a reason leads to the one that is missing.
func TestWaiveLeadsToWhatIsMissing(t *testing.T) {
	b := newBench(t, 80, 24, failed)
	b.press("w", "enter")
	b.press("tab", "tab", "tab", "enter")
	b.shows("> Your name")
	b.press("'Kim", "enter", "tab", "tab", "enter")
	b.shows("> Reason")
}

// TestReviewWithoutChanges: there is no heading with nothing below it.
func TestReviewWithoutChanges(t *testing.T) {
	for problems, want := range map[bool]string{true: "", false: "(none)"} {
		b := newBench(t, 80, 24, func(s *view.Snapshot) {
			s.State, s.Review = view.Reviewed, &view.Review{Fingerprint: "1"}
			if problems {
				s.Review.Problems = []message.Text{message.T("Proxy for https: the port is missing.")}
			}
		})
		if screen := b.screen(); strings.Contains(screen, "Changes, in this order") == problems || !strings.Contains(screen, want) {
			t.Errorf("with problems %t:\n%s", problems, screen)
		}
	}
}

// TestMethodsAreNamed: what a method of the network means is in its name and in the help of its field.
func TestMethodsAreNamed(t *testing.T) {
	b := newBench(t, 80, 24, realSite)
	b.app.goTo("network")
	b.app.followJob()
	b.in("spec.network.ipv6.method")
	b.shows("Router: it announces the addresses.")
	b.press("enter")
	for _, want := range []string{"no IPv6", "router (SLAAC)", "DHCP"} {
		b.shows(want)
	}
}

// TestNoExampleOfAChoice: nobody types what is chosen.
func TestNoExampleOfAChoice(t *testing.T) {
	b := opened(t)
	b.in("spec.policy.allowHostnameChange")
	if screen := b.screen(); strings.Contains(screen, "false") {
		t.Errorf("an example of yes or no:\n%s", screen)
	}
}

func TestIdleRepaints(t *testing.T) {
	b := newBench(t, 80, 24)
	wipe := b.app.wipe
	b.press("tab")
	if b.app.wipe != wipe {
		t.Error("repainted at once")
	}
	b.now = b.now.Add(31 * time.Second)
	b.press("tab")
	if b.app.wipe != wipe+1 {
		t.Error("not repainted after 30 s")
	}
	b.press("ctrl+l")
	if b.app.wipe != wipe+2 {
		t.Error("Ctrl-L does not repaint")
	}
}

// TestHelp: every screen explains itself, on one page.
func TestHelp(t *testing.T) {
	for _, s := range scenes() {
		b := newBench(t, 80, 24, s.edits...)
		b.press(s.keys...)
		text, ok := helps[b.app.top().name()]
		if !ok {
			t.Errorf("%s has no help", s.name)
		}
		lines := strings.Split(text, "\n")
		if len(lines) > 16 {
			t.Errorf("the help of %s has %d lines", s.name, len(lines))
		}
		// Two pages are only read.
		if page := b.app.top().name(); !strings.Contains(text, "Example: ") && page != "help" && page != "report" {
			t.Errorf("the help of %s has no example", s.name)
		}
		for _, line := range lines {
			if ansi.StringWidth(line) > 76 {
				t.Errorf("the help of %s has a line of %d columns", s.name, len(line))
			}
		}
	}
}

// TestFormHelpNamesTheFolders: the folders that ReadGiven reads are those of the help.
func TestFormHelpNamesTheFolders(t *testing.T) {
	_, err := session.ReadGiven("/etc/key.pem")
	if err == nil {
		t.Fatal("/etc was read")
	}
	_, folders, _ := strings.Cut(err.Error(), "below ")
	for folder := range strings.SplitSeq(folders, ", ") {
		if !strings.Contains(helps["form"], folder) {
			t.Errorf("the help of a form does not name %s", folder)
		}
	}
}

// TestKeyMap: no key that a browser, a terminal program or flow control swallows, and none that only a function key is.
func TestKeyMap(t *testing.T) {
	v := reflect.ValueOf(newKeys())
	for i := range v.NumField() {
		b := v.Field(i)
		name := v.Type().Field(i).Name
		var keys []string
		for j := range b.FieldByName("keys").Len() {
			keys = append(keys, b.FieldByName("keys").Index(j).String())
		}
		plain := false
		for _, k := range keys {
			if slices.Contains([]string{"ctrl+w", "ctrl+t", "ctrl+n", "ctrl+q", "ctrl+s", "ctrl+a", "ctrl+z"}, k) {
				t.Errorf("%s is bound to %s", name, k)
			}
			plain = plain || len(k) == 1 || !strings.HasPrefix(k, "f") && k != "esc" && !strings.HasPrefix(k, "alt")
		}
		if !plain {
			t.Errorf("%s has no plain key: %v", name, keys)
		}
	}
	for _, s := range scenes() {
		b := newBench(t, 80, 24, s.edits...)
		b.press(s.keys...)
		seen := map[string]string{}
		for _, x := range buttonsOf(b.app.top()) {
			for _, k := range x.key.Keys() {
				if other, ok := seen[k]; ok && other != x.label {
					t.Errorf("%s: %q is both %s and %s", s.name, k, other, x.label)
				}
				seen[k] = x.label
			}
		}
	}
}

func buttonsOf(s screen) []button {
	if v, ok := s.(interface{ buttons() []button }); ok {
		return v.buttons()
	}
	return nil
}

// TestOneFileEach: key names live in keys.go, colours and glyphs in theme.go.
func TestOneFileEach(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for word, home := range map[string]string{"NewStyle(": "theme.go", "Foreground": "theme.go", "Border(": "theme.go", "WithKeys(\"": "keys.go", "\"enter\"": "keys.go", "'#'": "theme.go", "\\u25": "theme.go"} {
			if strings.Contains(string(data), word) && file != home {
				t.Errorf("%s contains %s, which belongs into %s", file, word, home)
			}
		}
	}
}

// TestTexts: every text that is asked for exists, and every one that exists is asked for.
func TestTexts(t *testing.T) {
	used := map[string]bool{}
	packages, err := parser.ParseDir(token.NewFileSet(), ".", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range packages["tui"].Files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil {
					used[s] = true
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			fun, ok := call.Fun.(*ast.Ident)
			arg, lit := call.Args[0].(*ast.BasicLit)
			if ok && lit && (fun.Name == "t" || fun.Name == "bind") {
				if key, err := strconv.Unquote(arg.Value); err == nil {
					if _, ok := texts[key]; !ok && !strings.HasSuffix(key, ".") {
						t.Errorf("%s: there is no text %q", name, key)
					}
				}
			}
			return true
		})
	}
	for key := range texts {
		prefix, rest, _ := strings.Cut(key, ".")
		if used[key] || used[rest] || prefix == "verdict" || slices.Contains([]string{"title", "text"}, rest) {
			continue
		}
		t.Errorf("the text %q is not used", key)
	}
}

// TestWaive: the check that was chosen is the one waived, also by way of Tab, and only with a name and a reason.
func TestWaive(t *testing.T) {
	b := newBench(t, 80, 24, func(s *view.Snapshot) { s.Stages[0].Steps[0].Checks[1].Status = "fail" })
	b.press("down", "down", "tab", "right", "right", "right", "enter")
	b.shows("Waive: Clock")
	b.press("tab", "tab", "tab", "enter")
	b.shows("needs a name and a reason")
	b.press("'Q. Technician", "tab", "'agreed", "tab", "tab", "enter")
	last := b.fake.actions[len(b.fake.actions)-1]
	if last.Verb != session.Waive || last.Check != "hw-clock" || last.By != "Q. Technician" || last.Reason != "agreed" {
		t.Errorf("did %+v", last)
	}
}

// TestEnterAfterTheReasonWaives: who fills both fields and presses Enter again has waived; with one of them missing, Enter goes back.
func TestEnterAfterTheReasonWaives(t *testing.T) {
	failed := func(s *view.Snapshot) { s.Stages[0].Steps[0].Checks[1].Status = "fail" }
	b := newBench(t, 80, 24, failed)
	b.press("w", "'Q. Technician", "enter", "'agreed", "enter", "enter")
	if n := len(b.fake.actions); n == 0 || b.fake.actions[n-1].Verb != session.Waive || b.fake.actions[n-1].Reason != "agreed" {
		t.Errorf("did %+v", b.fake.actions)
	}
	b = newBench(t, 80, 24, failed)
	b.press("w", "enter", "'agreed", "enter", "enter")
	b.shows("Stage 1 of")
	if slices.ContainsFunc(b.fake.actions, func(a session.Action) bool { return a.Verb == session.Waive }) {
		t.Errorf("without a name: %+v", b.fake.actions)
	}
}

// TestFieldOnAnotherScreen: what a small screen showed of a long value does not keep a larger one from showing all of it.
func TestFieldOnAnotherScreen(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "down", "'a.long.domain.example.com")
	b.shows("[a.long.domain.example.com")
	b.took(tea.WindowSizeMsg{Width: 30, Height: 8})
	b.press("'x")
	b.took(tea.WindowSizeMsg{Width: 80, Height: 24})
	b.shows("[a.long.domain.example.comx ")
}

// TestLimitsAreRound: a limit or a guess is said without its zeros, what runs keeps them so that it does not jump.
func TestLimitsAreRound(t *testing.T) {
	for d, want := range map[time.Duration]string{
		10 * time.Second: "10 s", 90 * time.Second: "1 min 30 s", 4 * time.Minute: "4 min", time.Hour: "1 h", 65 * time.Minute: "1 h 05 min",
		10*time.Minute + 400*time.Millisecond: "10 min", 20 * time.Minute: "20 min",
	} {
		if got := limit(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

// TestWaiverOffersTheName: the second waiver of a console begins with the name of the first, at the reason.
func TestWaiverOffersTheName(t *testing.T) {
	b := newBench(t, 80, 24, func(s *view.Snapshot) {
		s.Stages[0].Steps[0].Checks[0].Status, s.Stages[0].Steps[0].Checks[1].Status = "fail", "fail"
	})
	b.press("w", "'Q. Technician", "tab", "'agreed", "tab", "tab", "enter", "w")
	b.shows("[Q. Technician ")
	b.press("'agreed too", "tab", "tab", "enter")
	if last := b.fake.actions[len(b.fake.actions)-1]; last.Verb != session.Waive || last.By != "Q. Technician" || last.Reason != "agreed too" {
		t.Errorf("did %+v", last)
	}
	b.press("w", "up", "'B. Else", "tab", "'so", "tab", "tab", "enter")
	if last := b.fake.actions[len(b.fake.actions)-1]; last.By != "B. Else" {
		t.Errorf("did %+v", last)
	}
}

// TestTypingReplacesWhatWasFound: what nobody typed goes with the first character; other keys edit it; what was typed is never lost so.
func TestTypingReplacesWhatWasFound(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"'x"}, "[x "},
		{[]string{"'xy"}, "[xy "},
		{[]string{"backspace", "'x"}, "[sno-04x "},
		{[]string{"left", "'x"}, "[sno-04x2 "},
		{[]string{"home", "'x"}, "[xsno-042 "},
		{[]string{"end", "'x"}, "[sno-042x "},
		{[]string{"'x", "tab", "up", "'y"}, "[xy "},
		{[]string{"'x", "ctrl+r", "'y"}, "[y "},
	} {
		b := newBench(t, 80, 24)
		b.press(append([]string{"c"}, c.keys...)...)
		b.shows(c.want)
	}
	b := newBench(t, 80, 24)
	b.press("c")
	b.stream("pasted")
	b.shows("[pasted ")
}

// TestFailIsToldBeforeThePageIsLeft: Continue tells what failed, once, and then goes on; what is waived or only warns goes on at once.
func TestFailIsToldBeforeThePageIsLeft(t *testing.T) {
	for _, c := range []struct {
		status check.Status
		told   bool
	}{{check.Fail, true}, {check.Warn, false}, {check.Waived, false}} {
		b := newBench(t, 80, 24, func(s *view.Snapshot) { s.Stages[0].Steps[0].Checks[0].Status = c.status })
		b.press("c")
		if told := strings.Contains(b.screen(), "press Continue again: Processors"); told != c.told {
			t.Errorf("%s: told: %v\n%s", c.status, told, b.screen())
		}
		if c.told {
			b.shows("Hardware check")
			b.press("c")
		}
		b.shows("Base domain")
	}
}

// TestWhatDoesNotFitTogether stands beside its field when the page is left, and goes with the keystroke that fixes it, in another field
// too. It holds the page once: what it is about may stand on another.
func TestWhatDoesNotFitTogether(t *testing.T) {
	const fault = "is outside of the subnet"
	b := newBench(t, 80, 24)
	b.fake.spell = func(s *view.Snapshot) {
		list := s.Stages[1].Steps[0].Fields
		if list[0].Value != "good" {
			list[1].Together = message.T(fault)
		}
	}
	b.refresh()
	b.press("c", "tab", "'example.com", "tab")
	if strings.Contains(b.screen(), fault) {
		t.Errorf("told before the page is left:\n%s", b.screen())
	}
	b.press("tab", "tab", "enter")
	b.shows("! " + fault)
	b.shows("Fix this first: Base domain.")
	b.press("up", "'goo")
	b.shows("! " + fault)
	b.press("'d")
	if strings.Contains(b.screen(), fault) {
		t.Errorf("it outlives its cause:\n%s", b.screen())
	}
	b.press("backspace", "tab", "tab", "tab", "tab", "enter")
	b.shows("Network port")
}

// TestStopIsNoFailure: work that a person stopped has not failed, and while it goes on nothing says that it has.
func TestStopIsNoFailure(t *testing.T) {
	b := newBench(t, 80, 24, func(s *view.Snapshot) {
		s.State, s.Problem = view.HasFailed, &event.Trouble{Code: view.Halted, Summary: message.T("The work was stopped by a person.")}
	})
	if b.shows(": STOPPED"); strings.Contains(b.screen(), "FAILED") {
		t.Errorf("a stop is shown as a failure:\n%s", b.screen())
	}
	again := view.Stage{Steps: []view.Step{{Status: view.Running}, {Status: view.StepFailed}, {Status: view.Pending}}}
	if _, status := tallied(again); status != view.Running {
		t.Errorf("a stage at work is marked as %s", status)
	}
}

// TestRestoreKeys: on a field to choose from, Ctrl-R is about the field and o about the page, as it is on the button.
func TestRestoreKeys(t *testing.T) {
	b := newBench(t, 80, 24, realSite)
	b.press("c")
	b.in("spec.network.ipv4.method")
	b.shows("Ctrl-R restore")
	b.press("o")
	b.shows("Restore the page: Network")
}

// TestClosedLeadsBack: what was opened from the list of a form's checks or from the log leads back there, and those to the page.
func TestClosedLeadsBack(t *testing.T) {
	b := newBench(t, 80, 24, func(s *view.Snapshot) {
		s.Stages[1].Steps[0].Checks = []check.Check{{ID: "gateway", Title: message.T("Gateway"), Status: check.Fail, Observed: message.T("silent")}}
	})
	b.press("c")
	b.app.over = func() screen { c := newChecks(b.app.desk, b.app.opened); c.over = true; return c }()
	top := func(keys, want string) {
		t.Helper()
		if b.press(strings.Fields(keys)...); b.app.top().name() != want {
			t.Errorf("%s leads to %s, want %s", keys, b.app.top().name(), want)
		}
	}
	top("down enter", "evidence")
	top("b", "checks")
	top("w", "waive")
	top("esc esc", "checks")
	top("?", "help")
	top("ctrl+c", "confirm")
	top("b", "checks")
	top("b", "form")
	top("tab tab tab tab tab tab l", "log")
	top("?", "help")
	top("b", "log")
	top("b", "form")
}

// TestAnswersByTheirLabels: a sentence that the rules of the site config say names an answer as its field does, on its page and on the review.
func TestAnswersByTheirLabels(t *testing.T) {
	fault := message.T("does not go with spec.baseDomain. Set spec.policy.allowReboot")
	const want = `does not go with "Base domain". Set spec.policy.allowReboot` // which has no page here
	b := newBench(t, 80, 24, func(s *view.Snapshot) { s.Stages[1].Steps[0].Fields[0].Problem = fault })
	b.press("c")
	b.shows(want)
	b = newBench(t, 80, 24, func(s *view.Snapshot) {
		s.State, s.Review = view.Reviewed, &view.Review{Problems: []message.Text{fault}, Warnings: []message.Text{fault}}
	})
	b.shows("- " + want)
}

// basicGlyphs are the marks of the rich theme as the basic one has them.
var basicGlyphs = strings.NewReplacer("\u2500", "-", "\u2502", "|", "\u2588", "#", "\u2591", ".")

func TestColoursCanBeSwitched(t *testing.T) {
	b := newBench(t, 80, 24)
	coloured := func() bool {
		lines := strings.Join(b.app.frame(b.app.top(), 80, 24).lines, "")
		return strings.Contains(lines, "\x1b[92m") || strings.Contains(lines, "\x1b[93m") // green, yellow
	}
	plain := b.screen()
	if coloured() {
		t.Fatal("a basic console has colours")
	}
	b.press("m")
	if !coloured() {
		t.Error("m turned no colours on")
	}
	if now := basicGlyphs.Replace(b.screen()); now != plain {
		t.Errorf("without its colours the page is another one:\n%s", now)
	}
	b.press("m")
	if coloured() {
		t.Error("m did not turn the colours off")
	}
	b.press("c", "'m")
	b.shows("[m ") // where text is typed, m is an m
}

// TestInventoryPage: every part of the machine can be reached, and what the engine cannot tell is said.
func TestInventoryPage(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("t")
	b.shows("Acme Edge 100")
	b.press("right", "right")
	b.shows("DIMM_B1     empty")
	b.press("end")
	b.shows("USB           1 device")
	b.press("left")
	b.shows("PCI           82 devices")
	b.press("home")
	b.shows("SN-4711")
	b.press("b")
	b.shows("Continue")
	b.fake.mu.Lock()
	b.fake.gone = true
	b.fake.mu.Unlock()
	b.press("t")
	b.shows("engine not answering")
}

// TestLogOfWarningsAndJournal: w leaves out what is not a warning, j shows the node's own journal, whose warnings come first; both come back.
func TestLogOfWarningsAndJournal(t *testing.T) {
	b := newBench(t, 80, 24)
	b.fake.log = []string{"03:04:00 INFO  all quiet", "03:04:01 WARN  the disk is slow"}
	b.fake.journal = []string{"kernel: INFO  hello", "kernel: WARN  a link went down"}
	hidden := func(text string) {
		t.Helper()
		if strings.Contains(b.screen(), text) {
			t.Errorf("the screen shows %q:\n%s", text, b.screen())
		}
	}
	b.press("l")
	b.shows("all quiet")
	b.press("w")
	b.shows("the disk is slow")
	hidden("all quiet")
	b.press("j")
	b.shows("a link went down")
	hidden("the disk is slow")
	hidden("hello")
	b.press("w")
	b.shows("hello")
	b.press("j")
	b.shows("all quiet")
}
