package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/factory"
	"touchdown/backend/hardware/burnin"
	"touchdown/backend/host"
)

// TestFactoryBurnIn: the wish is kept for this stay on the bench line; a time out of bounds changes nothing.
func TestFactoryBurnIn(t *testing.T) {
	over, end := context.WithCancel(t.Context()) // the wizard ends at once
	end()
	dir := t.TempDir()
	machine := host.Open(host.Options{Root: dir})
	run := func(words ...string) (int, string) {
		root := newRoot(hooks{root: dir})
		var said strings.Builder
		root.SetOut(&said)
		root.SetErr(&said)
		return execute(over, root, append(words, "--state", filepath.Join(dir, "state"), "--local")), said.String()
	}
	for _, bad := range []string{"59s", "25h", "soon"} {
		if code, said := run("factory", "--unattended", "--burn-in", bad); code != 2 || !strings.Contains(said, "between 1m and 24h") || factory.OnLine(machine) {
			t.Errorf("%s: exit %d, %s", bad, code, said)
		}
	}
	for word, want := range map[string]time.Duration{"30m": 30 * time.Minute, "none": 0} {
		run("factory", "--unattended", "--burn-in", word)
		if got := burnin.Asked(machine, factory.Stay(machine)); !factory.OnLine(machine) || got != want {
			t.Errorf("%s: %s", word, got)
		}
	}
}

// TestBurnInWorkerRefuses: nobody loads a node that is not on the bench line.
func TestBurnInWorkerRefuses(t *testing.T) {
	var said strings.Builder
	root := newRoot(hooks{root: t.TempDir()})
	root.SetOut(&said)
	root.SetErr(&said)
	if code := execute(t.Context(), root, []string{burnin.WorkerCommand, `{"seconds":60,"cpus":[0]}`}); code != 2 || !strings.Contains(said.String(), "bench line") {
		t.Errorf("exit %d, %s", code, said.String())
	}
}
