package factory_test

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/factory"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/test/wait"
)

// TestAMovedProgramIsLaidAgain: a program that someone moved to its place has a label by which SELinux lets systemd not run
// it, so it is replaced although its bytes are right.
func TestAMovedProgramIsLaidAgain(t *testing.T) {
	m := hosttest.New(t)
	m.File(layout.Program, "program")
	if changed, err := factory.Install(m.Machine, []byte("program")); changed || err != nil {
		t.Fatal(changed, err)
	}
	for path, kind := range map[string]string{"/usr/local/bin": "bin_t", layout.Program: "user_home_t"} {
		if err := unix.Setxattr(m.Path(path), "security.selinux", []byte("system_u:object_r:"+kind+":s0"), 0); err != nil {
			wait.Unable(t, "no labels here: %v", err)
		}
	}
	for _, want := range []bool{true, false} {
		if changed, err := factory.Install(m.Machine, []byte("program")); changed != want || err != nil {
			t.Errorf("changed %v, want %v: %v", changed, want, err)
		}
	}
}

// TestAFailedStartOfTheKubeletIsNotForgotten: the gate is open after it, and the kubelet does not run. Whoever disarms again hears of it, until
// it runs; then nothing is done.
func TestAFailedStartOfTheKubeletIsNotForgotten(t *testing.T) {
	m := hosttest.New(t)
	m.File("/var/lib/kubelet/config.json", "{}")
	m.File(layout.Armed, "armed")
	runs, broken := false, true
	m.OnFunc("systemctl is-active", func([]string, []byte) (string, error) {
		if runs {
			return "", nil
		}
		return "", errors.New("exit status 3")
	})
	m.OnFunc("systemctl start kubelet.service", func([]string, []byte) (string, error) {
		if broken {
			return "", errors.New("exit status 1")
		}
		runs = true
		return "", nil
	})
	for range 2 {
		if _, err := factory.Disarm(t.Context(), m.Machine); err == nil || m.Exists(layout.Armed) {
			t.Fatalf("the start that failed is not told: %v", err)
		}
	}
	broken = false
	for _, want := range []bool{true, false} {
		if changed, err := factory.Disarm(t.Context(), m.Machine); changed != want || err != nil || !runs {
			t.Errorf("changed %v, want %v: %v", changed, want, err)
		}
	}
}
