package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"touchdown/backend/domain"
	"touchdown/backend/health"
	"touchdown/backend/kube"
	"touchdown/steps"
	"touchdown/steps/event"
)

// The environment by which tests reach into an engine process.
const (
	crashAt    = "TEST_CRASH_AT"    // number of an event, counted from the engine's start
	holdBehind = "TEST_HOLD_BEHIND" // "KIND STEP" of events behind which the engine waits ...
	holdFile   = "TEST_HOLD_FILE"   // ... for as long as this file, which it makes, is there
	stepLimit  = "TEST_STEP_LIMIT"  // how long a step waits for the cluster
	rootFolder = "TEST_ROOT"        // the machine's files
)

// TestMain makes this test binary stand in for touchdown: tests and scripts find it in PATH under that name.
func TestMain(m *testing.M) {
	if os.Getenv(hidden) != "" {
		os.Exit(m.Run()) // as a user who cannot read this program's folder
	}
	testscript.Main(m, map[string]func(){"touchdown": func() {
		hideMemory() // as main does
		os.Exit(execute(context.Background(), newRoot(testHooks()), os.Args[1:]))
	}})
}

// testHooks give an engine timeouts as short as the bench's cluster is quick, and let a test stop it at an event.
func testHooks() hooks {
	limit, err := time.ParseDuration(os.Getenv(stepLimit))
	if err != nil {
		limit = 5 * time.Minute
	}
	return hooks{
		root:       os.Getenv(rootFolder),
		afterEvent: behindEvent(),
		cluster: func(c *kube.Cluster) {
			c.Pace = kube.Pace{Limit: 5 * time.Minute, Pause: 100 * time.Millisecond, Poll: 100 * time.Millisecond}
		},
		wiring: func(w *steps.Wiring) {
			w.Timeouts = domain.Timeouts{Notice: limit, Limit: limit, Grace: 2 * time.Second, Stable: time.Second, Answer: limit}
		},
		stages: func(stages []steps.Stage) {
			for _, step := range stepsOf(stages) {
				if s, ok := step.(*steps.Health); ok {
					s.Window = health.Window{Poll: 200 * time.Millisecond, Limit: limit}
				}
			}
		},
	}
}

// behindEvent ends the process with SIGKILL behind the event that it is told, or holds it there. That is the moment
// at which the event is on the disk and nothing after it has happened.
func behindEvent() func(event.Event) {
	at, _ := strconv.ParseInt(os.Getenv(crashAt), 10, 64)
	hold, file := os.Getenv(holdBehind), os.Getenv(holdFile)
	var seen atomic.Int64
	return func(e event.Event) {
		if seen.Add(1) == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // nothing more happens while the signal is on its way
		}
		if hold == "" || hold != strings.TrimSpace(string(e.Kind)+" "+e.Step) || os.WriteFile(file, nil, 0o600) != nil {
			return
		}
		for there := true; there; time.Sleep(20 * time.Millisecond) { // the test that removes it has a bound, this has none
			_, err := os.Stat(file)
			there = err == nil
		}
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "../../test/script", RequireExplicitExec: true, Setup: func(e *testscript.Env) error {
		e.Setenv("GORACE", os.Getenv("GORACE")) // no sleep at the end of each command
		return nil
	}})
}
