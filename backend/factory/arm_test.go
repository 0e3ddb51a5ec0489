package factory_test

import (
	"errors"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/factory"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
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
			unable(t, "no labels here: %v", err)
		}
	}
	for _, want := range []bool{true, false} {
		if changed, err := factory.Install(m.Machine, []byte("program")); changed != want || err != nil {
			t.Errorf("changed %v, want %v: %v", changed, want, err)
		}
	}
}

// TestDisarmStartsKubelet: a gate that is open already, because the start behind it failed, is no reason to leave kubelet stopped.
func TestDisarmStartsKubelet(t *testing.T) {
	m := hosttest.New(t)
	m.File(layout.Armed, "")
	starts, fails := 0, true
	m.OnFunc("systemctl start", func([]string, []byte) (string, error) {
		if starts++; fails {
			return "", errors.New("exit status 1")
		}
		return "", nil
	})
	m.On("systemctl is-active", "", errors.New("exit status 3"))
	if _, err := factory.Disarm(t.Context(), m.Machine); err == nil || m.Exists(layout.Armed) {
		t.Fatal("no error", err)
	}
	fails = false
	if changed, err := factory.Disarm(t.Context(), m.Machine); !changed || err != nil || starts != 2 {
		t.Errorf("changed %v, %v, %d starts", changed, err, starts)
	}
	m.On("systemctl is-active", "", nil)
	m.Forget()
	if changed, err := factory.Disarm(t.Context(), m.Machine); changed || err != nil || !slices.Equal(m.Calls(), []string{"systemctl is-active --quiet kubelet.service"}) {
		t.Errorf("changed %v, %v, %q", changed, err, m.Calls())
	}
}
