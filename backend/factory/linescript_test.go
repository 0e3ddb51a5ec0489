package factory_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lineScript is touchdown-line in a folder, where it finds its files and where programs note how they were called.
type lineScript struct {
	t   *testing.T
	dir string
}

func newLineScript(t *testing.T) *lineScript {
	t.Helper()
	text, err := os.ReadFile("../../iso-overlay/usr/local/bin/touchdown-line")
	if err != nil {
		t.Fatal(err)
	}
	s := &lineScript{t, t.TempDir()}
	in := string(text)
	for _, path := range []string{"/run/touchdown", "/proc/sys/kernel/printk", "/sys/class/tty/console/active", "/dev/$line"} {
		if !strings.Contains(in, path) {
			t.Fatalf("touchdown-line does not name %s", path)
		}
		in = strings.ReplaceAll(in, path, s.dir+path)
	}
	in = strings.ReplaceAll(in, "kill -s", "signal")
	s.write("touchdown-line", in)
	for _, program := range []string{"signal", "systemctl"} {
		s.write("bin/"+program, "#!/bin/sh\necho "+program+" \"$@\" >>"+s.dir+"/calls\n")
	}
	s.write("bin/stty", "#!/bin/sh\n")
	s.write("proc/sys/kernel/printk", "7\t4\t1\t7\n")
	return s
}

func (s *lineScript) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// run runs it and returns which programs it called.
func (s *lineScript) run(args ...string) []string {
	s.t.Helper()
	calls := filepath.Join(s.dir, "calls")
	_ = os.Remove(calls)
	cmd := exec.Command("bash", append([]string{filepath.Join(s.dir, "touchdown-line")}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	text, _ := os.ReadFile(calls)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// level is what the kernel writes to its consoles.
func (s *lineScript) level() string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "proc/sys/kernel/printk"))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Fields(string(text))[0]
}

// TestLinesAreQuietForAsLongAsOneIsOpen: kernel and systemd are kept from the lines while a console is open, and are as before
// when the last one has ended. The unit says so for every end, SIGKILL too: ExecStopPost runs after each.
func TestLinesAreQuietForAsLongAsOneIsOpen(t *testing.T) {
	s := newLineScript(t)
	for _, step := range []struct{ verb, line, level, call string }{
		{"quiet", "tty1", "1", "signal SIGRTMIN+21 1"},
		{"quiet", "ttyS0", "1", "signal SIGRTMIN+21 1"},
		{"loud", "tty1", "1", ""},
		{"quiet", "tty1", "1", "signal SIGRTMIN+21 1"}, // started again after a crash
		{"loud", "ttyS0", "1", ""},
		{"loud", "tty1", "7", "signal SIGRTMIN+20 1"},
		{"loud", "tty1", "7", ""},
	} {
		calls := s.run(step.verb, step.line)
		if got := s.level(); got != step.level || !slices.Equal(calls, []string{step.call}) {
			t.Errorf("%s %s: level %s, called %q", step.verb, step.line, got, calls)
		}
	}
	unit, err := os.ReadFile("../../iso-overlay/etc/systemd/system/touchdown-console@.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"\nExecStartPre=+-/usr/local/bin/touchdown-line quiet %i\n", "\nExecStopPost=+-/usr/local/bin/touchdown-line loud %i\n"} {
		if !strings.Contains(string(unit), line) {
			t.Errorf("the console's unit has no line %q", line)
		}
	}
}

// TestEachConsoleOfTheKernelIsOpened: the first screen, the first serial port and whatever else the kernel writes to.
func TestEachConsoleOfTheKernelIsOpened(t *testing.T) {
	s := newLineScript(t)
	s.write("sys/class/tty/console/active", "tty0 hvc0 ttyS1\n")
	for _, line := range []string{"tty0", "tty1", "ttyS0", "hvc0"} { // ttyS1 has no device
		s.write("dev/"+line, "")
	}
	var want []string
	for _, line := range []string{"hvc0", "tty1", "ttyS0"} {
		want = append(want, "systemctl --no-block start touchdown-console@"+line+".service")
	}
	got := s.run("open")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("called %q", got)
	}
}
