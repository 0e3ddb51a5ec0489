package host_test

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

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
}
