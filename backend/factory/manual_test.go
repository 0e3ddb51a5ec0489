package factory_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
)

const engineFile = "/etc/systemd/system/touchdown-engine.service"

// lab is a machine of a lab, the program on it, and what was said.
type lab struct {
	*factory.ManualInstall
	m    *hosttest.Fake
	said []string
}

func newLab(t *testing.T, program string) *lab {
	t.Helper()
	m := hosttest.New(t)
	for _, file := range []string{"/run/systemd/system/x", "/etc/kubernetes/kubeconfig", "/dev/tty1", "/dev/ttyS0", "/dev/hvc0"} {
		m.File(file, "")
	}
	m.File("/sys/class/tty/console/active", "tty0 hvc0\n")
	m.On("stty -F", "", nil)
	m.On("stty -F /dev/ttyS0", "", errors.New("exit status 1")) // the kernel has the port, the machine has not
	// What systemd would tell, and leave.
	m.OnFunc("systemctl enable --quiet", func(argv []string, _ []byte) (string, error) {
		m.File("/etc/systemd/system/multi-user.target.wants/"+argv[3], "")
		return "", nil
	})
	m.On("systemctl is-active --quiet", "", errors.New("exit status 3"))
	for _, verb := range []string{"restart", "--no-block restart"} {
		m.OnFunc("systemctl "+verb, func(argv []string, _ []byte) (string, error) {
			m.On("systemctl is-active --quiet "+argv[len(argv)-1], "", nil)
			return "", nil
		})
	}
	b := &lab{m: m}
	b.ManualInstall = &factory.ManualInstall{
		Host: m.Machine, Program: []byte(program), Cluster: "/etc/kubernetes/kubeconfig", Idle: func(context.Context) error { return nil },
		Say: func(format string, args ...any) { b.said = append(b.said, fmt.Sprintf(format, args...)) },
	}
	return b
}

func (b *lab) install(t *testing.T) {
	t.Helper()
	b.said = nil
	b.m.Forget()
	if err := b.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (b *lab) uninstall(t *testing.T) {
	t.Helper()
	b.said = nil
	b.m.Forget()
	if err := b.Uninstall(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (b *lab) says(t *testing.T, want string) {
	t.Helper()
	if !strings.Contains(strings.Join(b.said, "\n"), want) {
		t.Errorf("nothing said %q:\n%s", want, strings.Join(b.said, "\n"))
	}
}

// changing are the calls that change something.
func (b *lab) changing() []string {
	return slices.DeleteFunc(b.m.Calls(), func(c string) bool { return strings.HasPrefix(c, "systemctl is-") || strings.HasPrefix(c, "stty -F ") })
}

// TestManualInstall installs, installs again, installs a newer one, and takes all of it away.
func TestManualInstall(t *testing.T) {
	b := newLab(t, "one")
	b.install(t)
	for _, file := range []string{"touchdown-engine.service", "touchdown-consoles.service", "touchdown-console@.service", "touchdown-login@.service", "touchdown-keyboard@.service"} {
		want, err := os.ReadFile("../../iso-overlay/etc/systemd/system/" + file)
		if got := b.m.Content("/etc/systemd/system/" + file); err != nil || got != string(want) {
			t.Errorf("%s: %v: %q", file, err, got)
		}
	}
	if b.m.Content(layout.Program) != "one" || b.m.Exists("/etc/systemd/system/kubelet.service.d") || b.m.Exists("/etc/NetworkManager") || b.m.Exists("/etc/default") {
		t.Error("not the engine and the consoles alone")
	}
	b.says(t, "the wizard on tty1, hvc0")
	calls := b.changing()
	if last := calls[len(calls)-1]; last != "systemctl --no-block restart touchdown-consoles.service" {
		t.Errorf("last of all: %s", last)
	}

	b.install(t)
	b.says(t, "Nothing had to be changed.")
	if calls := b.changing(); len(calls) > 0 {
		t.Errorf("the second time: %q", calls)
	}

	b.Program = []byte("two")
	b.install(t)
	if b.m.Content(layout.Program) != "two" || !slices.Contains(b.changing(), "systemctl restart touchdown-engine.service") {
		t.Errorf("the newer one: %q", b.changing())
	}

	b.m.File("/run/touchdown/lines/hvc0", "")
	b.m.File(layout.PreviousProgram, "one")    // of an update
	b.m.File(layout.CandidateProgram, "three") // of one that a power cut has ended
	b.uninstall(t)
	for _, pattern := range []string{"/etc/systemd/system/touchdown*", "/usr/local/bin/*", layout.Installed} {
		if left, err := b.m.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("left: %q, %v", left, err)
		}
	}
	if !slices.Contains(b.changing(), "/usr/local/bin/touchdown-line loud hvc0") {
		t.Errorf("the line stays quiet: %q", b.changing())
	}
	b.uninstall(t)
	b.says(t, "nothing to take away")
}

// TestManualInstallIsCareful: what belongs to others stays, and nothing happens while the engine is at work.
func TestManualInstallIsCareful(t *testing.T) {
	b := newLab(t, "one")
	code := func(err error, want string) {
		t.Helper()
		p, ok := errors.AsType[*problem.Problem](err)
		if !ok || p.Code != want || p.Fix.String() == "" {
			t.Errorf("%v, not %s", err, want)
		}
	}
	if err := b.m.Remove(b.Cluster); err != nil {
		t.Fatal(err)
	}
	code(b.Install(t.Context()), "HND-LACK")
	b.m.File(b.Cluster, "")
	b.m.File(engineFile, "someone's")
	code(b.Install(t.Context()), "HND-ELSE")
	if b.m.Exists(layout.Program) || b.m.Exists(layout.Installed) {
		t.Error("half installed")
	}
	if err := b.m.Remove(engineFile); err != nil {
		t.Fatal(err)
	}
	b.install(t)
	b.m.File("/etc/systemd/system/touchdown-login@.service", "changed since")
	busy := errors.New("at work")
	b.Idle = func(context.Context) error { return busy }
	if err := b.Uninstall(t.Context()); !errors.Is(err, busy) || !b.m.Exists(engineFile) {
		t.Errorf("while the engine is at work: %v", err)
	}
	b.Idle = func(context.Context) error { return nil }
	b.uninstall(t)
	b.says(t, "kept          /etc/systemd/system/touchdown-login@.service")
	if b.m.Content("/etc/systemd/system/touchdown-login@.service") != "changed since" || b.m.Exists(engineFile) {
		t.Error("not what was laid, or too little")
	}

	b = newLab(t, "one")
	b.m.File("/etc/machine-config-daemon/currentconfig", `{"spec":{"config":{"systemd":{"units":[{"name":"touchdown-engine.service","contents":"x"}]}}}}`)
	for want, do := range map[string]func(context.Context) error{"factory bake": b.Install, "factory unbake": b.Uninstall} {
		err := do(t.Context())
		code(err, "HND-MCFG")
		if p := problem.From(err); !strings.Contains(p.Fix.String(), want) {
			t.Errorf("%q does not name %s", p.Fix, want)
		}
	}
	code((&factory.ManualInstall{Host: hosttest.New(t).Machine}).Install(t.Context()), "HND-SYSD")
}

// TestManualInstallCut: the power goes, or the disk refuses, at any write: the next run knows what is its own, and nothing else.
func TestManualInstallCut(t *testing.T) {
	for cut := range 9 {
		b := newLab(t, "one")
		b.install(t)
		var writes int
		b.Program = []byte("two")
		root := b.m.Root()
		b.Host = host.Open(host.Options{
			Root: root, Log: slog.New(slog.DiscardHandler), Exec: func(_ context.Context, c host.Command) (out, both []byte, err error) {
				if slices.Contains(c.Argv, "is-active") {
					err = errors.New("exit status 3")
				}
				return nil, nil, err
			},
			Write: func(_ string, write func([]byte) error, data []byte) error {
				if writes++; writes > cut {
					return syscall.EROFS
				}
				return write(data)
			},
		})
		err := b.Install(t.Context())
		if p, ok := errors.AsType[*problem.Problem](err); err != nil && (!ok || p.Code != "HND-READ") {
			t.Fatalf("write %d: %v", cut, err)
		}
		b.Host = b.m.Machine
		b.uninstall(t)
		if left, _ := b.m.Glob("/usr/local/bin/*"); len(left) > 0 {
			t.Errorf("after write %d: left %q: %q", cut, left, b.said)
		}
	}
}

// TestManualInstallDry says everything and does nothing.
func TestManualInstallDry(t *testing.T) {
	b := newLab(t, "one")
	b.Dry = true
	b.install(t)
	b.says(t, "would lay     "+layout.Program)
	b.says(t, "would run     systemctl enable --quiet touchdown-engine.service")
	if calls := b.changing(); len(calls) > 0 || b.m.Exists(layout.Program) || b.m.Exists(layout.Installed) {
		t.Errorf("did something: %q", calls)
	}
	b.Dry = false
	b.install(t)
	b.Dry = true
	b.uninstall(t)
	b.says(t, "would remove  "+engineFile)
	if calls := b.changing(); len(calls) > 0 || !b.m.Exists(engineFile) {
		t.Errorf("did something: %q", calls)
	}
}
