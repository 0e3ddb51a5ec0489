package factory_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
)

var errKilled = errors.New("killed")

// systemd answers as systemctl does on a machine of a lab. Each command that it is given, and each thing that is said, is a point.
type systemd struct {
	*lab

	until  int    // points until something happens; negative: nothing does
	how    string // "killed": there, "once": a command fails there, "from then on": and all behind it
	busy   int    // how often there are jobs that have not ended
	logins bool   // the machine's own logins were started
	loud   bool
	ran    []string
}

// uninstalling is a lab with everything that install and a cut update leave.
func uninstalling(t *testing.T) *systemd {
	t.Helper()
	s := &systemd{lab: newLab(t, "one"), until: -1}
	s.install(t)
	for _, file := range []string{layout.PreviousProgram, layout.CandidateProgram, layout.CheckedProgram, layout.TrialDropIn, layout.Lines + "/.printk", layout.Lines + "/hvc0"} {
		s.m.File(file, "left")
	}
	s.Host = host.Open(host.Options{Root: s.m.Root(), Log: slog.New(slog.DiscardHandler), Exec: s.exec})
	s.Say = func(format string, args ...any) {
		s.said = append(s.said, fmt.Sprintf(format, args...))
		s.point()
	}
	return s
}

// point tells whether a command fails here. A process that is killed does not come back.
func (s *systemd) point() bool {
	s.until--
	switch {
	case s.until == -1 && s.how == "killed":
		panic(errKilled)
	case s.until == -1 && s.how == "once":
		return true
	}
	return s.how == "from then on" && s.until < 0
}

func (s *systemd) exec(_ context.Context, c host.Command) (out, both []byte, err error) {
	line := strings.Join(c.Argv, " ")
	s.ran = append(s.ran, line)
	if s.point() {
		return nil, nil, errors.New("exit status 5: Failed to enqueue jobs: Unit touchdown-console@ttyS0.service not loaded.")
	}
	switch {
	case strings.HasPrefix(line, "systemctl is-active"):
		return nil, nil, errors.New("exit status 3")
	case strings.HasPrefix(line, "systemctl list-jobs"):
		if s.busy--; s.busy >= 0 {
			return []byte("686 touchdown-console@ttyS0.service restart running\n"), nil, nil
		}
	case c.Argv[0] == "/usr/local/bin/touchdown-line":
		s.loud = s.loud || c.Argv[2] == "hvc0"
		if !s.m.Exists(c.Argv[0]) {
			return nil, nil, errors.New("no such file")
		}
	case strings.HasSuffix(line, "start getty.target"):
		s.logins = true
	}
	for _, unit := range c.Argv {
		if strings.HasSuffix(unit, ".service") && !strings.Contains(unit, "*") && !s.m.Exists("/etc/systemd/system/"+unit) {
			return nil, nil, errors.New("exit status 5: Unit " + unit + " not loaded.")
		}
	}
	return nil, nil, nil
}

// once is one run of uninstall, which may be killed.
func (s *systemd) once(t *testing.T) (err error) {
	t.Helper()
	defer func() {
		if killed := recover(); killed != nil {
			err = killed.(error)
		}
	}()
	return s.Uninstall(t.Context())
}

func (s *systemd) gone(t *testing.T, name string) {
	t.Helper()
	for _, pattern := range []string{"/etc/systemd/system/touchdown*", "/usr/local/bin/*", layout.Installed, layout.TrialDropIn} {
		if left, err := s.m.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("%s left %q, %v", name, left, err)
		}
	}
	if slices.Contains(s.ran, "/usr/local/bin/touchdown-line loud .printk") {
		t.Errorf("%s: the level of the kernel's messages, which the script keeps, is taken for a line", name)
	}
	if !s.logins || !s.loud {
		t.Errorf("%s: the machine's logins were started: %v; the line is loud: %v", name, s.logins, s.loud)
	}
}

// TestUninstallCutAtEveryPoint kills uninstall at each command and behind each file that it removed, has one command fail, or all from then
// on. A command that failed once is repeated in the same run; otherwise the next run does what is left.
func TestUninstallCutAtEveryPoint(t *testing.T) {
	for _, how := range []string{"killed", "once", "from then on"} {
		points := 0
		for ended := false; !ended; points++ {
			s, name := uninstalling(t), fmt.Sprintf("%s at %d", how, points)
			s.until, s.how = points, how
			err := s.once(t)
			ended = s.until >= 0
			if err == nil {
				s.gone(t, name)
				continue
			}
			if how == "once" || ended {
				t.Errorf("%s: %v", name, err)
			}
			s.until, s.how = -1, ""
			if err := s.once(t); err != nil {
				t.Errorf("%s, again: %v", name, err)
			}
			s.gone(t, name)
		}
		if t.Logf("%s: %d points", how, points-1); points < 12 {
			t.Errorf("%s: %d points only", how, points-1)
		}
	}
}

// TestUninstallBesideAnUpdate: the jobs that an update has left end first, before the engine is asked; while an update may be at work, nothing
// is removed and nothing is installed.
func TestUninstallBesideAnUpdate(t *testing.T) {
	s := uninstalling(t)
	s.busy = 3
	s.Idle = func(context.Context) error {
		if s.busy >= 0 {
			t.Error("the engine was asked while a console starts again")
		}
		return nil
	}
	if err := s.once(t); err != nil {
		t.Error(err)
	}
	s.gone(t, "after jobs")
	s = uninstalling(t)
	s.busy = 1 << 30 // a job that does not end
	if err := s.once(t); err != nil {
		t.Error(err)
	}
	s.gone(t, "beside a job that does not end")

	b := newLab(t, "one")
	b.install(t)
	b.m.On("systemctl is-active --quiet touchdown-update-end.timer", "", nil)
	b.m.Forget()
	b.Program = []byte("two")
	for name, do := range map[string]func(context.Context) error{"uninstall": b.Uninstall, "install": b.Install} {
		if err := do(t.Context()); problem.From(err).Code != "HND-UPDT" {
			t.Errorf("%s in the middle of an update: %v", name, err)
		}
	}
	if calls := b.changing(); len(calls) > 0 || b.m.Content(layout.Program) != "one" || !b.m.Exists(layout.Installed) {
		t.Errorf("in the middle of an update: %q", calls)
	}
}

// TestUninstallThatCannotRemove: the machine's logins come back also when something stays, and the next run does what is left.
func TestUninstallThatCannotRemove(t *testing.T) {
	s := uninstalling(t)
	if err := s.m.Remove(layout.PreviousProgram); err != nil {
		t.Fatal(err)
	}
	s.m.File(layout.PreviousProgram+"/in-the-way", "") // a folder with something in it is not removed
	if err := s.once(t); err == nil || !s.logins || !s.m.Exists(layout.Installed) {
		t.Errorf("%v; the machine's logins were started: %v", err, s.logins)
	}
}

// TestUninstallOfAMachineWithoutTheScript: what someone removed is no reason to end halfway.
func TestUninstallOfAMachineWithoutTheScript(t *testing.T) {
	s := uninstalling(t)
	if err := s.m.Remove("/usr/local/bin/touchdown-line"); err != nil {
		t.Fatal(err)
	}
	s.loud = true
	if err := s.once(t); err != nil {
		t.Error(err)
	}
	if s.gone(t, "without the script"); slices.ContainsFunc(s.ran, func(c string) bool { return strings.Contains(c, "touchdown-line") }) {
		t.Errorf("ran %q", s.ran)
	}
}
