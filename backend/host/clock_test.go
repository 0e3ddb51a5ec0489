package host_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
)

func TestMoveClockSetsTheBatteryClockToo(t *testing.T) {
	m := hosttest.New(t)
	if err := m.MoveClock(t.Context(), -time.Hour); err != nil || m.Moved() != -time.Hour || len(m.Calls()) != 0 {
		t.Errorf("without a battery clock: %s %q (%v)", m.Moved(), m.Calls(), err)
	}
	m.File("/dev/rtc0", "")
	if err := m.MoveClock(t.Context(), time.Hour); err != nil || !slices.Equal(m.Calls(), []string{"hwclock --systohc --utc"}) {
		t.Errorf("calls are %q (%v)", m.Calls(), err)
	}
	m.StickClock(errors.New("operation not permitted"))
	m.Forget()
	if err := m.MoveClock(t.Context(), time.Hour); err == nil || len(m.Calls()) != 0 {
		t.Errorf("a clock that does not move: %v, calls %q", err, m.Calls())
	}
	m.StickClock(nil)
	m.On("hwclock", "", errors.New("exit status 1"))
	if err := m.MoveClock(t.Context(), time.Hour); err == nil {
		t.Error("the next boot begins with the wrong time, and nothing was said")
	}
}

func TestBatteryClock(t *testing.T) {
	m := hosttest.New(t)
	if _, ok := m.BatteryClock(); ok {
		t.Error("read a clock that is not there")
	}
	m.File("/sys/class/rtc/rtc0/since_epoch", "1795000000\n")
	if at, ok := m.BatteryClock(); !ok || at.Unix() != 1795000000 {
		t.Errorf("it is %s", at)
	}
	m.File("/sys/class/rtc/rtc0/since_epoch", "?\n")
	if _, ok := m.BatteryClock(); ok {
		t.Error("read nonsense")
	}
}

func TestManaged(t *testing.T) {
	m := hosttest.New(t)
	if host.Managed(m.Machine, "/etc/a") {
		t.Error("a machine without the operator has its files")
	}
	m.File("/etc/machine-config-daemon/currentconfig", `{"spec":{"config":{"storage":{"files":[{"path":"/etc/a"}]}}}}`)
	if !host.Managed(m.Machine, "/etc/a") || host.Managed(m.Machine, "/etc/b") {
		t.Error("the list is not read")
	}
	m.File("/etc/machine-config-daemon/currentconfig", `{"spec":{"config":{"systemd":{"units":[
		{"name":"a.service","contents":"[Unit]"},{"name":"b.service","dropins":[{"name":"10.conf"}]}]}}}}`)
	for file, want := range map[string]bool{
		"/etc/systemd/system/a.service": true, "/etc/systemd/system/b.service.d/10.conf": true,
		"/etc/systemd/system/b.service": false, "/etc/a": false,
	} {
		if host.Managed(m.Machine, file) != want {
			t.Errorf("%s: %t", file, !want)
		}
	}
	m.File("/etc/machine-config-daemon/currentconfig", `{"spec":`)
	if !host.Managed(m.Machine, "/etc/b") {
		t.Error("with a list that cannot be read nothing may be written")
	}
}

func TestALinkStaysBelowTheRoot(t *testing.T) {
	m := hosttest.New(t)
	m.File("/var/lib/kubelet/pki/one.pem", "one")
	if err := os.Symlink("/var/lib/kubelet/pki/one.pem", m.Path("/var/lib/kubelet/pki/current.pem")); err != nil {
		t.Fatal(err)
	}
	if b, err := m.ReadFile("/var/lib/kubelet/pki/current.pem"); err != nil || string(b) != "one" {
		t.Errorf("read %q (%v)", b, err)
	}
	if err := os.Symlink("/var/lib/round", m.Path("/var/lib/round")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.ReadFile("/var/lib/round"); err == nil {
		t.Error("a link to itself was read")
	}
}

// TestAClockThatMayNotBeSet: in a container, and to whoever has not the right, the kernel says no: that is told, and the battery clock is
// left alone.
func TestAClockThatMayNotBeSet(t *testing.T) {
	m := host.Open(host.Options{NoPower: true, Exec: func(context.Context, host.Command) (stdout, both []byte, err error) {
		t.Error("a command was run")
		return nil, nil, nil
	}})
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine, and what it gave up with it
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var has [2]unix.CapUserData
		err := unix.Capget(&header, &has[0])
		has[0].Effective &^= 1 << unix.CAP_SYS_TIME
		if err = errors.Join(err, unix.Capset(&header, &has[0])); err == nil {
			if err = m.MoveClock(t.Context(), time.Nanosecond); err == nil {
				err = errors.New("it was set")
			}
		}
		done <- err
	}()
	if err := <-done; !errors.Is(err, unix.EPERM) || !strings.Contains(err.Error(), "setting the clock") {
		t.Error(err)
	}
}

// TestGlobOfTheMachine: what is found is named as on the machine, below a root too; a pattern that is none is told.
func TestGlobOfTheMachine(t *testing.T) {
	below := hosttest.New(t)
	below.File("/etc/a.conf", "")
	if found, err := below.Glob("/etc/*.conf"); err != nil || !slices.Equal(found, []string{"/etc/a.conf"}) {
		t.Errorf("below a root: %q, %v", found, err)
	}
	whole := host.Open(host.Options{})
	if found, err := whole.Glob(below.Path("/etc/*.conf")); err != nil || !slices.Equal(found, []string{below.Path("/etc/a.conf")}) {
		t.Errorf("without a root: %q, %v", found, err)
	}
	for _, m := range []*host.Machine{below.Machine, whole} {
		if _, err := m.Glob("/etc/[a"); err == nil {
			t.Error("a pattern without an end finds nothing, and says so")
		}
	}
}
