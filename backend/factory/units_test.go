package factory_test

import (
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/test/wait"
)

// unitFiles are the units of all MachineConfigs: name to the values of each "Section.Key".
func unitFiles(t *testing.T) map[string]map[string][]string {
	t.Helper()
	all, err := factory.Manifests(host.DefaultOwn)
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]map[string][]string{}
	for _, m := range all {
		for _, f := range m.Files {
			if path.Dir(f.Path) == "/etc/systemd/system" {
				units[path.Base(f.Path)] = parseUnit(string(f.Data))
			}
		}
	}
	return units
}

func parseUnit(text string) map[string][]string {
	values, section := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
		}
		if key, value, found := strings.Cut(line, "="); found && !strings.HasPrefix(line, "#") {
			values[section+"."+key] = append(values[section+"."+key], value)
		}
	}
	return values
}

// heard collects what a program writes to a line.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// TestNoiseKeepsTheSpeedOfTheLine runs agetty as the login's unit does, on a line at 115200 baud that carries NULs, which is how
// breaks, noise and the keep-alive of a Serial-over-LAN arrive.
func TestNoiseKeepsTheSpeedOfTheLine(t *testing.T) {
	t.Parallel()
	unit := unitFiles(t)["touchdown-login@.service"]
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	fd := int(slave.Fd())
	settings, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	settings.Cflag = settings.Cflag&^unix.CBAUD | unix.B115200
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, settings); err != nil {
		t.Fatal(err)
	}
	words := strings.NewReplacer("$SPEED", "115200", "$TERM", "vt220", "%I", strings.TrimPrefix(slave.Name(), "/dev/"))
	argv := strings.Fields(words.Replace(unit["Service.ExecStart"][0]))
	wait.Program(t, argv[0])
	wait.Root(t)
	agetty := exec.Command(argv[0], argv[1:]...)
	agetty.Stdin, agetty.Stdout, agetty.Stderr = slave, slave, slave
	agetty.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := agetty.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = agetty.Process.Kill(); _ = agetty.Wait() }()
	var out heard
	go func() { _, _ = io.Copy(&out, master) }()
	wait.Soon(t, 5*time.Second, "a prompt", func() error {
		if text := out.String(); !strings.Contains(text, "login:") {
			return fmt.Errorf("none from %q: %q", argv, text)
		}
		return nil
	})
	// agetty drops what comes in the second after a change of speed, so the noise has to last.
	for range 12 {
		if _, err := master.Write([]byte{0}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		if settings, err = unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
			t.Fatal(err)
		}
		if settings.Cflag&unix.CBAUD != unix.B115200 {
			t.Fatalf("noise changed the speed of the line to that with the code %#o", settings.Cflag&unix.CBAUD)
		}
	}
}

// TestUnitsWithoutTheProgram: units that are on the node before the program is do not try to run it for ever, and take no
// login away.
func TestUnitsWithoutTheProgram(t *testing.T) {
	const condition = "Unit.ConditionFileIsExecutable"
	units := unitFiles(t)
	users := 0
	for name, unit := range units {
		uses := slices.ContainsFunc(unit["Service.ExecStart"], func(line string) bool {
			program, _, _ := strings.Cut(strings.TrimLeft(line, "-+!@:"), " ")
			return program == layout.Program
		})
		if !uses {
			continue
		}
		users++
		if !strings.Contains(strings.Join(unit["Unit.Conflicts"], " "), "getty@") {
			if !slices.Contains(unit[condition], layout.Program) {
				t.Errorf("%s runs the program and does not ask whether it is there", name)
			}
			continue
		}
		// A unit's conflicts are ended before its conditions are looked at.
		if !strings.Contains(strings.Join(unit["Service.RestartPreventExitStatus"], " "), "EXEC") || !slices.Contains(unit["Unit.OnFailure"], "touchdown-login@%i.service") {
			t.Errorf("%s takes the login from a line and does not give it back when the program is not there", name)
		}
	}
	if users < 4 {
		t.Errorf("only %d units run the program", users)
	}
	if !slices.Contains(units["touchdown-consoles.service"][condition], layout.Program) {
		t.Error("the consoles are opened whether the program is there or not")
	}
}

// TestAProgramThatDiesLeavesALogin: a unit that took the login from a line gives up after a few starts, as OnFailure= waits for that. What
// dies is slow to start on a busy machine, and is still counted; the login's end finds the count over.
func TestAProgramThatDiesLeavesALogin(t *testing.T) {
	const slow = 10 // seconds that a start may take
	units, seen := unitFiles(t), 0
	one := func(unit map[string][]string, key string) int {
		n, err := strconv.Atoi(strings.Join(unit[key], " "))
		if err != nil {
			t.Errorf("%s: %v", key, err)
		}
		return n
	}
	login := strings.Fields(units["touchdown-login@.service"]["Service.ExecStart"][0])
	waits, err := strconv.Atoi(login[slices.Index(login, "--timeout")+1])
	if err != nil {
		t.Fatal(err)
	}
	for name, unit := range units {
		if !strings.Contains(strings.Join(unit["Unit.Conflicts"], " "), "getty@") || len(unit["Unit.OnFailure"]) == 0 {
			continue
		}
		seen++
		within, starts := one(unit, "Unit.StartLimitIntervalSec"), one(unit, "Unit.StartLimitBurst")
		if least := starts * (one(unit, "Service.RestartSec") + slow); within < least || starts < 1 || within > waits {
			t.Errorf("%s gives up after %d starts within %d s; that must be %d s at least, and %d at most", name, starts, within, least, waits)
		}
	}
	if seen == 0 {
		t.Error("no unit takes a line from its login")
	}
}

// TestUnitsThatStartAgainAskForTheirPrograms: a unit that starts again whenever it fails would do so for ever where a program that the same
// MachineConfig lays is missing.
func TestUnitsThatStartAgainAskForTheirPrograms(t *testing.T) {
	asked := 0
	for name, unit := range unitFiles(t) {
		if strings.Contains(strings.Join(unit["Service.RestartPreventExitStatus"], " "), "EXEC") || !slices.Contains(unit["Service.Restart"], "always") && !slices.Contains(unit["Service.Restart"], "on-failure") {
			continue
		}
		for _, line := range append(unit["Service.ExecStartPre"], unit["Service.ExecStart"]...) {
			program, _, _ := strings.Cut(strings.TrimLeft(line, "+!@:"), " ")
			if !strings.HasPrefix(program, "/usr/local/") { // what fails is ignored, or it belongs to the system
				continue
			}
			asked++
			if !slices.Contains(unit["Unit.ConditionFileIsExecutable"], program) {
				t.Errorf("%s starts again for ever where %s is missing", name, program)
			}
		}
	}
	if asked < 3 {
		t.Errorf("only %d programs are asked for", asked)
	}
}
