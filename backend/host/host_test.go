package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/problem"
	"touchdown/test/wait"
)

func TestWriteFileReplacesAsAWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for _, want := range []string{"first", "second, longer", ""} {
		if err := host.WriteFileAtomic(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("file holds %q (%v), want %q", got, err, want)
		}
		if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
			t.Errorf("mode is %v, want 0600", st.Mode().Perm())
		}
	}
}

func TestFullDiskLeavesTheOldFileAndNothingElse(t *testing.T) {
	m := hosttest.New(t)
	if err := m.WriteFile("/etc/thing/a.conf", []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for room := range 8 {
		m.Fill(room)
		err := m.WriteFile("/etc/thing/a.conf", []byte("new and longer"), 0o644)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("with room for %d bytes: err is %v, want no space left", room, err)
		}
		if strings.Contains(err.Error(), m.Root()) {
			t.Errorf("the error names the test's root: %v", err)
		}
		if got := m.Content("/etc/thing/a.conf"); got != "old" {
			t.Errorf("with room for %d bytes the file holds %q, want the old content", room, got)
		}
		if left, _ := m.Glob("/etc/thing/.*"); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	m.Fill(-1)
	if err := m.WriteFile("/etc/thing/a.conf", []byte("new"), 0o644); err != nil {
		t.Error(err)
	}
}

func TestFullDiskLeavesAllFilesOfASet(t *testing.T) {
	m := hosttest.New(t)
	m.File("/var/lib/x/a", "old a")
	for room := range 10 {
		m.Fill(room)
		err := m.WriteFiles(host.File{Path: "/var/lib/x/a", Data: []byte("new a"), Perm: 0o600}, host.File{Path: "/var/lib/x/b", Data: []byte("new b"), Perm: 0o600})
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("with room for %d bytes: err is %v, want no space left", room, err)
		}
		if left, _ := m.Glob("/var/lib/x/.*"); m.Content("/var/lib/x/a") != "old a" || m.Exists("/var/lib/x/b") || len(left) > 0 {
			t.Errorf("with room for %d bytes: a is %q, b exists: %v, left behind %v", room, m.Content("/var/lib/x/a"), m.Exists("/var/lib/x/b"), left)
		}
	}
	m.Fill(10)
	if err := m.WriteFiles(host.File{Path: "/var/lib/x/a", Data: []byte("new a"), Perm: 0o600}, host.File{Path: "/var/lib/x/b", Data: []byte("new b"), Perm: 0o600}); err != nil {
		t.Fatal(err)
	}
	if m.Content("/var/lib/x/a") != "new a" || m.Content("/var/lib/x/b") != "new b" {
		t.Error("the files were not written")
	}
}

func TestRemoveIsSafeToRepeat(t *testing.T) {
	m := hosttest.New(t)
	m.File("/etc/a", "x")
	for range 2 {
		if err := m.Remove("/etc/a"); err != nil {
			t.Error(err)
		}
	}
	if m.Exists("/etc/a") {
		t.Error("the file is still there")
	}
}

func TestRunKeepsArgvAndTheLastLines(t *testing.T) {
	m := host.Open(host.Options{NoPower: true, Log: slog.New(slog.DiscardHandler)})
	out, err := m.Run(t.Context(), "printf", "%s|", "a b", "$HOME", "; true")
	if err != nil || out != "a b|$HOME|; true|" {
		t.Errorf("printf says %q (%v): arguments must reach the command unchanged", out, err)
	}
	_, err = m.Run(t.Context(), "awk", "BEGIN { for (i = 1; i <= 30; i++) print \"line\", i; exit 3 }")
	re, ok := errors.AsType[*host.RunError](err)
	if !ok || len(re.Output) != 20 || re.Output[19] != "line 30" {
		t.Fatalf("err is %#v, want a RunError with the lines 11 to 30", err)
	}
	if _, err := m.Run(t.Context(), "no-such-command-here"); !host.NotInstalled(err) {
		t.Errorf("a command that the machine does not have: %v", err)
	}
	if _, err := m.Run(t.Context(), "false"); err == nil || host.NotInstalled(err) {
		t.Errorf("a command that fails: %v", err)
	}
	if _, err := m.Run(t.Context()); err == nil {
		t.Error("no command is one that fails")
	}
}

// TestRunKeepsTheEnd: of a command that never stops talking the last bytes are kept, in what is returned and in the error.
func TestRunKeepsTheEnd(t *testing.T) {
	m := host.Open(host.Options{NoPower: true, Log: slog.New(slog.DiscardHandler)})
	for lines, want := range map[string]string{"2": "line 1\nline 2\n", "100000": "99\nline 100000\n"} {
		out, err := m.RunCommand(t.Context(), host.Command{Argv: []string{"awk", "-v", "n=" + lines, "BEGIN { for (i = 1; i <= n; i++) print \"line\", i; exit 3 }"}, Tail: 15})
		failed, ok := errors.AsType[*host.RunError](err)
		if out != want || !ok || failed.Output[len(failed.Output)-1] != "line "+lines {
			t.Errorf("%s lines: %q, %v", lines, out, err)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	m := host.Open(host.Options{NoPower: true, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // the command takes longer
	defer cancel()
	if _, err := m.Run(ctx, "sleep", "600"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err is %v, want that the time was up", err)
	}
}

func TestRunEndsTheChildrenToo(t *testing.T) {
	m := host.Open(host.Options{NoPower: true, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	started := filepath.Join(t.TempDir(), "started")
	go func() {
		defer cancel()
		_ = wait.For(ctx, "the child", func() error { _, err := os.Stat(started); return err })
	}()
	out, err := m.Run(ctx, "sh", "-c", "sleep 600 & echo $!; touch "+started+"; wait")
	child := strings.TrimSpace(out)
	if err == nil || child == "" {
		t.Fatalf("out is %q, err %v", out, err)
	}
	wait.Until(t, "the child's end", func() error { // gone, or dead and waiting for someone to take note
		stat, err := os.ReadFile("/proc/" + child + "/stat")
		if err == nil && !strings.Contains(string(stat), ") Z ") && !strings.Contains(string(stat), ") X ") {
			return fmt.Errorf("it still runs: %s", stat)
		}
		return nil
	})
}

func TestSecretsAreMaskedInErrorsAndLog(t *testing.T) {
	var log bytes.Buffer
	m := host.Open(host.Options{
		NoPower: true,
		Log:     slog.New(slog.NewJSONHandler(&log, nil)),
		Exec: func(context.Context, host.Command) (stdout, both []byte, err error) {
			return nil, []byte("bad key hunter2\n"), errors.New("exit status 1")
		},
	})
	_, err := m.RunCommand(t.Context(), host.Command{
		Argv:    []string{"nmcli", "set", "802-1x.password", "sesame", "--token=abc", "--psk", "xyz", "name=hunter2"},
		Secrets: []string{"hunter2"},
	})
	re, _ := errors.AsType[*host.RunError](err)
	if re == nil {
		t.Fatal("want a RunError")
	}
	all := err.Error() + log.String() + strings.Join(re.Output, "\n")
	for _, secret := range []string{"hunter2", "sesame", "abc", "xyz"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in %s", secret, all)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d log lines for one command, want 1", n)
	}
}

func TestPowerIsRefusedWhenOff(t *testing.T) {
	m := hosttest.New(t)
	m.NoPower = true
	for _, do := range []func(context.Context, string) error{m.Reboot, m.PowerOff} {
		err := do(t.Context(), "test")
		if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != "PWR-LCK" {
			t.Errorf("err is %v, want PWR-LCK", err)
		}
	}
	if calls := m.Calls(); len(calls) != 0 {
		t.Errorf("commands were run: %v", calls)
	}
}

func TestRebootChangesTheBoot(t *testing.T) {
	m := hosttest.New(t)
	before, err := m.BootID()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Reboot(t.Context(), "names changed"); err != nil {
		t.Fatal(err)
	}
	if after, _ := m.BootID(); after == before {
		t.Error("the boot id did not change")
	}
	if got := m.Calls(); len(got) != 1 || got[0] != "systemctl reboot --message=names changed" {
		t.Errorf("calls are %q", got)
	}
	m.On("systemctl poweroff", "", errors.New("exit status 1"))
	if p := problem.From(m.PowerOff(t.Context(), "x")); p.Code != "PWR-ERR" {
		t.Errorf("problem is %v, want PWR-ERR", p)
	}
}

func TestSerialIgnoresPlaceholders(t *testing.T) {
	for _, c := range []struct{ product, chassis, want string }{
		{"ABC123\n", "XYZ\n", "ABC123"},
		{"To Be Filled By O.E.M.\n", "XYZ\n", "XYZ"},
		{"Default string", "0123456789", ""},
		{"0000000000", "None", ""},
		{"System Serial Number", "", ""},
		{"Not Provided", "01234567890123456789AB", ""},
		{"XXXXXXXXXX", "123456789ABCDEF", ""},
		{"11111111", "Serial Number", ""},
		{"1234567X", "", "1234567X"},
		{"777", "", "777"},
		{"234567", "", "234567"},
		{"1ABCDEF", "", "1ABCDEF"},
		{"BADCAFE", "", "BADCAFE"},
	} {
		m := hosttest.New(t)
		m.File("/sys/class/dmi/id/product_serial", c.product)
		m.File("/sys/class/dmi/id/chassis_serial", c.chassis)
		if got := m.Serial(); got != c.want {
			t.Errorf("product %q, chassis %q: serial is %q, want %q", c.product, c.chassis, got, c.want)
		}
	}
	if got := hosttest.New(t).Serial(); got != "" {
		t.Errorf("without DMI the serial is %q", got)
	}
}

func TestFree(t *testing.T) {
	m := hosttest.New(t)
	if n, err := m.Free("/"); err != nil || n <= 0 {
		t.Errorf("free is %d (%v)", n, err)
	}
	if _, err := m.Free("/no/such/place"); err == nil {
		t.Error("a place that does not exist has no free space to tell")
	}
}
