package host_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/test/wait"
)

// TestScratchHasNoName: nothing of it can be left behind, and a folder that is not there is told without the root of a test.
func TestScratchHasNoName(t *testing.T) {
	m := hosttest.New(t)
	m.File("/var/lib/own", "")
	f, err := host.Scratch(m.Machine, "/var/lib")
	if errors.Is(err, unix.EOPNOTSUPP) {
		wait.Unable(t, "this file system has no files without names: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("in use"); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir(m.Path("/var/lib")); err != nil || len(names) != 1 {
		t.Errorf("a name leads to it: %v, %v", names, err)
	}
	if _, err := host.Scratch(m.Machine, "/nowhere"); !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), m.Root()) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}
