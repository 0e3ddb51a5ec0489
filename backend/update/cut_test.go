package update_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/backend/update"
)

const (
	dropIn   = "/run/systemd/system/touchdown-engine.service.d/zz-touchdown-update.conf"
	endTimer = "touchdown-update-end.timer"
	restarts = "systemctl restart touchdown-engine.service"
)

var (
	errCut = errors.New("the power is cut")
	errOne = errors.New("this alone fails")
)

// box is a node with a model of systemd. A program is the text of its file: the engine of "dead" does not answer, that of "once" does so in
// a trial alone, and "wrong" is not even a program. Each write, removal and command is a point at which the power is cut.
type box struct {
	*hosttest.Fake

	until    int          // operations until the cut; negative: none comes
	instead  func() error // comes there in place of the cut, and the operations behind it go on
	same     bool         // all programs tell the same version
	untried  bool         // a program came into place before its engine had answered
	engine   bool
	timer    string          // the script that it runs
	loaded   string          // the drop-in that systemd has read
	running  string          // the program of the engine
	file     string          // where it was started from
	answered map[string]bool // programs whose engine has answered here
}

func newBox(t *testing.T, program, previous string) *box {
	b := &box{Fake: hosttest.New(t), until: -1, engine: true, answered: map[string]bool{program: true, previous: true}}
	b.File(layout.Program, program)
	if previous != "" {
		b.File(layout.PreviousProgram, previous)
	}
	b.start()
	return b
}

// point fails from the cut on.
func (b *box) point() error {
	if b.until == 0 && b.instead == nil {
		return errCut
	}
	b.until--
	if b.until == -1 && b.instead != nil {
		return b.instead()
	}
	return nil
}

// version is what a program tells of itself.
func (b *box) version(program string) string {
	if b.same {
		return "v1"
	}
	return program
}

func (b *box) WriteFile(path string, data []byte, perm fs.FileMode) error {
	if err := b.point(); err != nil {
		return err
	}
	b.untried = b.untried || path == layout.Program && !b.answered[string(data)]
	return b.Machine.WriteFile(path, data, perm)
}

func (b *box) Remove(path string) error {
	if err := b.point(); err != nil {
		return err
	}
	return b.Machine.Remove(path)
}

func (b *box) Run(_ context.Context, argv ...string) (string, error) {
	if err := b.point(); err != nil {
		return "", err
	}
	switch line := strings.Join(argv, " "); {
	case argv[len(argv)-1] == "version":
		if program := b.Content(argv[0]); program != "wrong" {
			return "touchdown " + b.version(program) + "\n", nil
		}
		return "", errors.New("exec format error")
	case argv[0] == "systemd-run" && b.timer == "":
		b.timer = argv[len(argv)-1]
		return "", nil
	case line == "systemctl is-active --quiet "+endTimer && b.timer != "":
		return "", nil
	case line == "systemctl stop "+endTimer && b.timer != "": // one that has elapsed is gone, and systemctl says so
		b.timer = ""
		return "", nil
	case line == "systemctl daemon-reload":
		b.loaded = b.Content(dropIn)
		return "", nil
	case line == restarts:
		b.start()
		return "", nil
	default:
		return "", errors.New("exit status 1: " + line)
	}
}

// start starts the engine as systemd does: the last line of the drop-in that it has read comes before the unit's own.
func (b *box) start() {
	b.file = layout.Program
	for line := range strings.Lines(b.loaded) {
		if file, is := strings.CutPrefix(strings.TrimSuffix(line, " engine\n"), "ExecStart="); is && file != "" {
			b.file = file
		}
	}
	b.running = b.Content(b.file)
}

func (b *box) works() bool {
	return b.running != "" && b.running != "dead" && (b.running != "once" || b.file != layout.Program)
}

func (b *box) answer(context.Context) (string, error) {
	if err := b.point(); err != nil || !b.works() {
		return "", errors.Join(err, errors.New("no engine"))
	}
	b.answered[b.running] = true
	return b.version(b.running), nil
}

// boot is the next one: what lies below /run and in the memory of systemd is gone.
func (b *box) boot(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(b.Path("/run")); err != nil {
		t.Fatal(err)
	}
	b.until, b.timer, b.loaded = -1, "", ""
	b.start()
}

// expire is the timer's end, where the command alone was killed.
func (b *box) expire(t *testing.T) {
	t.Helper()
	b.until = -1
	script := "rm -f " + dropIn + "; systemctl daemon-reload; systemctl restart touchdown-engine.service"
	if b.timer != "" && b.timer != script {
		t.Errorf("the timer runs %q", b.timer)
	}
	if b.timer != "" {
		if err := b.Machine.Remove(dropIn); err != nil {
			t.Fatal(err)
		}
		b.loaded = ""
		b.start()
	}
	b.timer = ""
}

func (b *box) change() *update.Change {
	return &update.Change{Node: b, Engine: b.engine, Answer: b.answer, Say: func(string, ...any) {}}
}

// changeCase is an update or a way back of a node with the program "old", and what comes of it.
type changeCase struct {
	previous string
	do       func(*update.Change) error
	code     string // of the end without a cut
	then     string // the program then
}

// changes are to programs with an engine and without.
func changes(t *testing.T) map[string]changeCase {
	t.Helper()
	trust, sign := signer(t)
	to := func(program string) func(*update.Change) error {
		r, err := update.Read(release(t, program, sign), trust)
		if err != nil {
			t.Fatal(err)
		}
		return func(c *update.Change) error { return c.To(t.Context(), r) }
	}
	back := func(c *update.Change) error { return c.Back(t.Context()) }
	return map[string]changeCase{
		"update":                    {"older", to("new"), "", "new"},
		"update without an engine":  {"older", to("dead"), "UPD-BACK", "old"},
		"update that does not run":  {"older", to("wrong"), "UPD-STRT", "old"},
		"back":                      {"older", back, "", "older"},
		"back to a program that is": {"dead", back, "UPD-BACK", "old"},
	}
}

// TestACutAtEveryPoint cuts the power, or kills the command, at each write, removal, command and answer of an update and of a way back,
// to programs with an engine and without. What follows, a boot or the timer's end, has an engine that works: of the old program, or of
// the new one if that has answered. From there the same command comes to its end.
func TestACutAtEveryPoint(t *testing.T) {
	for name, c := range changes(t) {
		for way, next := range map[string]func(*box, *testing.T){"boot": (*box).boot, "timer": (*box).expire} {
			points := 0
			for ended := false; !ended; points++ {
				b := newBox(t, "old", c.previous)
				b.until = points
				err := c.do(b.change())
				if ended = b.until > 0; ended {
					b.ends(t, name, err, c.code, c.then)
					continue
				}
				next(b, t)
				b.good(t, fmt.Sprintf("%s, cut at %d, %s", name, points, way), c)
			}
			t.Logf("%s, %s: %d points", name, way, points-1)
			if points < 4 {
				t.Errorf("%s: only %d points", name, points-1)
			}
		}
	}
}

// good judges what a boot or the timer's end has left, and has the same command come to its end from there.
func (b *box) good(t *testing.T, name string, c changeCase) {
	t.Helper()
	program := b.Content(layout.Program)
	if !b.works() || b.running != program || b.file != layout.Program || !b.answered[program] || program == "dead" || b.untried {
		t.Errorf("%s: the engine is of %q (%s), the program is %q, answered: %v, untried: %v", name, b.running, b.file, program, b.answered, b.untried)
	}
	if program != c.then || c.then != "older" { // the same command would go forth again
		b.ends(t, name+", again", c.do(b.change()), c.code, c.then)
	}
}

// ends judges an end without a cut.
func (b *box) ends(t *testing.T, name string, err error, code, then string) {
	t.Helper()
	if code == "" && err != nil || code != "" && problem.From(err).Code != code {
		t.Errorf("%s: %v, want %q", name, err, code)
	}
	if b.running != then || b.Content(layout.Program) != then || b.file != layout.Program {
		t.Errorf("%s: the engine is of %q (%s), the program is %q, want %q", name, b.running, b.file, b.Content(layout.Program), then)
	}
	left, globErr := filepath.Glob(b.Path("/usr/local/bin/*"))
	for _, file := range left {
		if at := filepath.Base(file); at != "touchdown" && at != "touchdown.previous" {
			t.Errorf("%s left %s", name, at)
		}
	}
	if globErr != nil || b.timer != "" || b.Exists(dropIn) {
		t.Errorf("%s left a timer %q, or its drop-in", name, b.timer)
	}
}
