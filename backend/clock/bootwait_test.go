package clock_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"touchdown/backend/clock"
	"touchdown/backend/host/hosttest"
)

const dropIn = "/etc/systemd/system/chrony-wait.service.d/50-touchdown.conf"

// TestBootWaits: only a boot whose kubelet wants the waiter waits for it, and none does once it was switched off.
func TestBootWaits(t *testing.T) {
	for said, want := range map[string]bool{
		"LoadState=loaded\nWantedBy=kubelet-dependencies.target multi-user.target\n": true,
		"LoadState=loaded\nWantedBy=multi-user.target\n":                             false,
		"LoadState=loaded\nWantedBy=\n":                                              false,
		"LoadState=not-found\nWantedBy=kubelet-dependencies.target\n":                false,
		"": false,
	} {
		m := hosttest.New(t)
		m.On("systemctl show", said, nil)
		if got, err := clock.BootWaits(t.Context(), m.Machine); got != want || err != nil {
			t.Errorf("%q: %t, %v", said, got, err)
		}
	}
	m := hosttest.New(t)
	m.On("systemctl show", "", errors.New("no bus"))
	if got, err := clock.BootWaits(t.Context(), m.Machine); got || err == nil {
		t.Errorf("without an answer: %t, %v", got, err)
	}
	m.File(dropIn, "")
	if got, err := clock.BootWaits(t.Context(), m.Machine); got || err != nil {
		t.Errorf("switched off: %t, %v", got, err)
	}
}

// TestBootWaitIsSwitched: off, the wait of this boot ends as well and does not stay a failed unit; on again, nothing of it is left. It is safe
// to repeat.
func TestBootWaitIsSwitched(t *testing.T) {
	m := hosttest.New(t)
	for range 2 {
		m.Forget()
		if err := clock.BootWait(t.Context(), m.Machine, false); err != nil {
			t.Fatal(err)
		}
		if got := m.Content(dropIn); !strings.Contains(got, "\n[Unit]\nConditionPathExists=!"+dropIn+"\n") {
			t.Errorf("the unit starts with %q", got)
		}
		if got := m.Calls(); !slices.Equal(got, []string{"systemctl daemon-reload", "systemctl stop chrony-wait.service", "systemctl reset-failed chrony-wait.service"}) {
			t.Errorf("calls are %q", got)
		}
	}
	for range 2 {
		m.Forget()
		if err := clock.BootWait(t.Context(), m.Machine, true); err != nil || m.Exists(dropIn) {
			t.Errorf("on again: %v", err)
		}
		if got := m.Calls(); !slices.Equal(got, []string{"systemctl daemon-reload"}) {
			t.Errorf("calls are %q", got)
		}
	}
}

// TestBootWaitFails: a full disk changes nothing and stops nothing; systemd's refusal is told.
func TestBootWaitFails(t *testing.T) {
	m := hosttest.New(t)
	m.Fill(10)
	if err := clock.BootWait(t.Context(), m.Machine, false); !errors.Is(err, syscall.ENOSPC) || m.Exists(dropIn) || len(m.Calls()) > 0 {
		t.Errorf("with a full disk: %v, calls %q", err, m.Calls())
	}
	m.Fill(-1)
	m.On("systemctl stop", "", errors.New("exit status 1"))
	if err := clock.BootWait(t.Context(), m.Machine, false); err == nil {
		t.Error("the wait of this boot goes on, and nothing was said")
	}
}
