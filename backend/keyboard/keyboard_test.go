package keyboard

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/problem"
	"touchdown/test/wait"
)

const listed = "us\nde\nde-latin1-nodeadkeys\nde\n-x\n../de\nfr@euro\ndefkeymap_V1.0\n"

func machine(t *testing.T) (*hosttest.Fake, Machine) {
	f := hosttest.New(t)
	f.On("localectl --no-pager list-keymaps", listed, nil)
	return f, Machine{f.Machine}
}

// starts are the units that were started.
func starts(f *hosttest.Fake) []string {
	return slices.DeleteFunc(f.Calls(), func(c string) bool { return !strings.HasPrefix(c, "systemctl") })
}

// TestLayouts: what cannot be part of a unit's name, or would be an option, is not offered.
func TestLayouts(t *testing.T) {
	_, m := machine(t)
	got, err := m.Layouts(t.Context())
	if want := []string{"de", "de-latin1-nodeadkeys", "defkeymap_V1.0", "us"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestNoLayouts: a machine without the program has none, which is not an error; one whose program fails says why.
func TestNoLayouts(t *testing.T) {
	f := hosttest.New(t)
	f.On("localectl", "", exec.ErrNotFound)
	if got, err := (Machine{f.Machine}).Layouts(t.Context()); len(got) > 0 || err != nil {
		t.Errorf("without the program: %q, %v", got, err)
	}
	broken := errors.New("exit status 1")
	f.On("localectl", "Couldn't find any console keymaps.\n", broken)
	if got, err := (Machine{f.Machine}).Layouts(t.Context()); len(got) > 0 || !errors.Is(err, broken) {
		t.Errorf("with a broken one: %q, %v", got, err)
	}
}

// TestUse: only a layout that the machine has is loaded, by the unit with its name.
func TestUse(t *testing.T) {
	f, m := machine(t)
	if err := m.Use(t.Context(), "de-latin1-nodeadkeys"); err != nil {
		t.Fatal(err)
	}
	want := []string{"systemctl start touchdown-keyboard@de-latin1-nodeadkeys.service"}
	if got := starts(f); !slices.Equal(got, want) {
		t.Errorf("called %q, want %q", got, want)
	}
	f.Forget()
	for _, bad := range []string{"", "-x", "../de", "fr", "fr@euro", "de us", "/etc/passwd", "de\nus"} {
		p, ok := errors.AsType[*problem.Problem](m.Use(t.Context(), bad))
		if !ok || p.Code != "KEY-LACK" {
			t.Errorf("%q: %v", bad, p)
		}
	}
	if got := starts(f); len(got) > 0 {
		t.Errorf("called %q", got)
	}
	f.On("systemctl start", "", errors.New("exit status 1"))
	p, ok := errors.AsType[*problem.Problem](m.Use(t.Context(), "us"))
	if !ok || p.Code != "KEY-SET" || !strings.Contains(p.Fix.String(), "touchdown-keyboard@us") {
		t.Errorf("a unit that fails: %v", p)
	}
}

// TestAt: a serial line or a window brings its own keyboard.
func TestAt(t *testing.T) {
	for name, want := range map[string]bool{
		"tty1": true, "tty12": true, "ttyS0": false, "tty": false, "tty0": false, "hvc0": false, "pts/3": false, "tty1 (ssh)": false, "process 12": false,
	} {
		if At(name) != want || (Machine{}).Types(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}

// TestLoadkeysTakesWhatTheUnitSays runs the real loadkeys with the options of the unit: it finds layouts by
// their names and refuses others. It only parses: what it would do then needs the kernel's keyboard.
func TestLoadkeysTakesWhatTheUnitSays(t *testing.T) {
	loadkeys := wait.Program(t, "loadkeys")
	unit, err := os.ReadFile("../../iso-overlay/etc/systemd/system/touchdown-keyboard@.service")
	if err != nil {
		t.Fatal(err)
	}
	_, line, found := strings.Cut(string(unit), "\nExecStart=/usr/bin/loadkeys ")
	line, _, _ = strings.Cut(line, "\n")
	if !found || !strings.HasSuffix(line, " -- %i") {
		t.Fatalf("the unit runs %q", line)
	}
	parses := func(layout string) error {
		argv := append([]string{"--parse"}, strings.Fields(strings.ReplaceAll(line, "%i", layout))...)
		out, err := exec.Command(loadkeys, argv...).CombinedOutput()
		t.Logf("%s: %v %s", layout, err, out)
		return err
	}
	if parses("no-such-layout") == nil {
		t.Error("a layout that there is not is taken")
	}
	if parses("us") != nil {
		wait.Unable(t, "kbd has no layouts here")
	}
	if parses("de") != nil || parses("fr") != nil {
		t.Error("a layout is refused")
	}
}
