package main

import (
	"context"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"touchdown/steps"
)

// TestMain makes this test binary stand in for touchdown: tests and scripts find it in PATH under that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"touchdown": func() {
		os.Exit(execute(context.Background(), newRoot(crashHooks()), os.Args[1:]))
	}})
}

// crashHooks ends the process with SIGKILL behind the event whose number, counted from the engine's start, is
// in CRASH_AT. That is the moment at which the event is on the disk and nothing after it has happened.
func crashHooks() hooks {
	at, err := strconv.ParseInt(os.Getenv("CRASH_AT"), 10, 64)
	if err != nil {
		return hooks{}
	}
	var seen atomic.Int64
	return hooks{afterEvent: func(steps.Event) {
		if seen.Add(1) == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "../../test/script", RequireExplicitExec: true})
}
