package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/problem"
)

// TestSerialNumberThatOnlyRootMayRead: who may not read it is not sent to another machine.
func TestSerialNumberThatOnlyRootMayRead(t *testing.T) {
	root := t.TempDir()
	serial := filepath.Join(root, "sys/class/dmi/id/product_serial")
	if err := errors.Join(os.MkdirAll(filepath.Dir(serial), 0o755), os.WriteFile(serial, []byte("SN0042\n"), 0)); err != nil {
		t.Fatal(err)
	}
	f := &factoryFlags{returned: "SN0042"}
	machine := host.Open(host.Options{Root: root, NoPower: true})
	done := make(chan error)
	go func() {
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
			_ = syscall.Setfsuid(65534)
		}
		done <- f.isThisNode(machine)
	}()
	if err := <-done; err == nil || problem.From(err).Code != "HND-RGHT" {
		t.Errorf("without the right to read it: %v", err)
	}
}
