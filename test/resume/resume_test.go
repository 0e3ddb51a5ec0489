package resume_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/test/resume"
)

// open opens the results as a separate run would, and closes them at its end.
func open(t *testing.T, file, of string, seed uint64, fresh bool) *resume.Plays {
	t.Helper()
	p, err := resume.OpenPlays(file, of, seed, fresh)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	return p
}

func add(t *testing.T, p *resume.Plays, number int, play resume.Play) {
	t.Helper()
	if err := p.Add(number, play); err != nil {
		t.Fatal(err)
	}
}

// TestWhatWentWrongStays: a scene that went wrong is told by every later run of the same program and seed, and by no other.
func TestWhatWentWrongStays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "cuts.json")
	first := open(t, file, "c1", 7, false)
	add(t, first, 0, resume.Play{Scene: "land", Counts: map[string]int{"cut": 5}})
	add(t, first, 1, resume.Play{Scene: "undo", Wrong: "the journal is torn"})
	again := open(t, file, "c1", 7, false)
	if !again.Over(0, "land") || !again.Over(1, "undo") || again.Over(1, "land") || again.Over(2, "land") {
		t.Errorf("%v", again.Seeds)
	}
	// Another scene under the same number, as after a change of what an undisturbed landing does, ends right.
	add(t, again, 1, resume.Play{Scene: "land"})
	again = open(t, file, "c1", 7, false)
	if got := again.Wrong(); !strings.Contains(got, "the journal is torn") {
		t.Errorf("what went wrong is forgotten: %q", got)
	}
	if got := again.String(); !strings.Contains(got, "2 scenes, 1 wrong, in the others map[cut:5]") {
		t.Error(got)
	}
	for _, other := range []*resume.Plays{
		open(t, file, "c1", 8, false), open(t, file, "c2", 7, false), open(t, file, "c1", 7, true),
	} {
		if other.Wrong() != "" || other.Over(0, "land") {
			t.Errorf("%s knows of what others did", other)
		}
	}
}

// TestSeedsAddUp: another seed keeps what the first one came to.
func TestSeedsAddUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cuts.json")
	add(t, open(t, file, "c1", 7, false), 0, resume.Play{Scene: "land"})
	add(t, open(t, file, "c1", 8, false), 0, resume.Play{Scene: "land"})
	if !open(t, file, "c1", 7, false).Over(0, "land") {
		t.Error("seed 8 threw away what seed 7 came to")
	}
}

// TestScenesAreDrawnFromTheFirstRun: a run that goes on draws the scenes of the first one, though its own events differ a little; another
// seed, another program and a run that begins again draw from their own.
func TestScenesAreDrawnFromTheFirstRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cuts.json")
	drawn := func(of string, seed uint64, fresh bool, events ...string) string {
		t.Helper()
		got, err := open(t, file, of, seed, fresh).Draw(events, nil)
		if err != nil || len(got) != 2 {
			t.Fatalf("%v, %v", got, err)
		}
		return strings.Join(got[0], " ")
	}
	if got := drawn("c1", 7, false, "a", "b") + ", " + drawn("c1", 7, false, "a", "x", "b"); got != "a b, a b" {
		t.Errorf("two runs draw from %s", got)
	}
	if got := drawn("c1", 8, false, "c") + ", " + drawn("c1", 7, true, "d") + ", " + drawn("c1", 8, false, "x"); got != "c, d, c" {
		t.Errorf("another seed, and one that begins again, draw from %s", got)
	}
	if got := drawn("c2", 7, false, "e"); got != "e" {
		t.Errorf("another program draws from %s", got)
	}
}

// TestFreshIsOneSeed: to begin a seed again takes nothing from another one.
func TestFreshIsOneSeed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cuts.json")
	add(t, open(t, file, "c1", 7, false), 0, resume.Play{Scene: "land", Wrong: "torn"})
	add(t, open(t, file, "c1", 8, false), 0, resume.Play{Scene: "land", Wrong: "torn"})
	again := open(t, file, "c1", 8, true)
	add(t, again, 1, resume.Play{Scene: "undo"})
	if again.Wrong() != "" || again.Over(0, "land") {
		t.Errorf("the seed does not begin again: %s", again)
	}
	if open(t, file, "c1", 7, false).Wrong() == "" {
		t.Error("what went wrong with seed 7 is forgotten")
	}
}

// TestOneRunAtATime: a second one would replace what the first one adds, also with another seed.
func TestOneRunAtATime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cuts.json")
	first, err := resume.OpenPlays(file, "c1", 7, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resume.OpenPlays(file, "c1", 8, true); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("a second run begins beside it: %v", err)
	}
	add(t, first, 0, resume.Play{Scene: "land"})
	first.Close()
	if !open(t, file, "c1", 7, false).Over(0, "land") {
		t.Error("what the first run added is gone")
	}
}

// TestAProgramThatIsReplacedIsFound: what is added behind that would be of two programs.
func TestAProgramThatIsReplacedIsFound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "program")
	if _, err := resume.Note(file); err == nil {
		t.Error("a program that is not there is noted")
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	program, err := resume.Note(file)
	if err != nil {
		t.Fatal(err)
	}
	write("one")
	if err := program.Check(); err != nil {
		t.Errorf("the same program, built again: %v", err)
	}
	write("two")
	if err := program.Check(); err == nil || !strings.Contains(err.Error(), "was replaced") {
		t.Errorf("another program: %v", err)
	}
}

// TestWhatHasNoNameBeginsAgain: nothing says that it is the same; nor does the commit of a tree with changes, which may be others a minute later.
func TestWhatHasNoNameBeginsAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cuts.json")
	add(t, open(t, file, "", 7, false), 0, resume.Play{Scene: "land"})
	if open(t, file, "", 7, false).Over(0, "land") {
		t.Error("it is gone on with")
	}
	for commit, want := range map[string]bool{"v1-3-gabc": true, "v1-3-gabc-dirty": false, "dev": false, "": false} {
		if got := resume.Clean(commit); got != want {
			t.Errorf("%q stands for one content: %v", commit, got)
		}
	}
}

// TestATornFileCountsAsNone: and the run goes on and replaces it.
func TestATornFileCountsAsNone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "cuts.json")
	if err := os.WriteFile(file, []byte(`{"of": "c1", "se`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, file, "c1", 7, false)
	add(t, p, 0, resume.Play{Scene: "land"})
	if !open(t, file, "c1", 7, false).Over(0, "land") {
		t.Error("the torn file was not replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 { // with its lock
		t.Errorf("left behind: %v", left)
	}
}

// TestWhatCannotBeKeptIsTold: a folder in the place of the file stands in for a disk that is full.
func TestWhatCannotBeKeptIsTold(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cuts.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := resume.Save(filepath.Join(dir, "cuts.json"), 1); err == nil {
		t.Error("no error")
	}
}
