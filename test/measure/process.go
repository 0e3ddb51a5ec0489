package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"touchdown/steps/view"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// lab is a cluster with an engine beside it.
type lab struct {
	setup
	cluster *bench.Cluster
	engine  *exec.Cmd
	socket  string
}

// newLab starts both; close ends them.
func newLab(ctx context.Context, s setup, delay string) (*lab, error) {
	cluster, err := bench.Launch(ctx, bench.Options{Delay: delay})
	if err != nil {
		return nil, err
	}
	l := &lab{setup: s, cluster: cluster, socket: filepath.Join(s.dir, "run", "engine.sock")}
	l.engine = exec.Command(s.binary, "engine", "--socket", l.socket, "--state", filepath.Join(s.dir, "state"),
		"--kubeconfig", cluster.Kubeconfig, "--no-power")
	l.engine.Stderr = os.Stderr
	if err := l.engine.Start(); err != nil {
		l.close()
		return nil, fmt.Errorf("starting the engine: %w", err)
	}
	first, stop := context.WithTimeout(ctx, wait.Timeout(10*time.Second))
	defer stop()
	err = wait.For(first, "the engine", func(ctx context.Context) error {
		_, err := l.snapshot(ctx)
		return err
	})
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *lab) close() {
	if l.engine.Process != nil {
		_ = l.engine.Process.Signal(syscall.SIGTERM)
		_ = l.engine.Wait()
	}
	_ = l.cluster.Stop()
	_ = os.RemoveAll(filepath.Join(l.dir, "state"))
}

func (l *lab) snapshot(ctx context.Context) (*view.Snapshot, error) {
	out, err := exec.CommandContext(ctx, l.binary, "--socket", l.socket, "status", "-o", "json").Output()
	if err != nil {
		return nil, err
	}
	var s view.Snapshot
	return &s, json.Unmarshal(out, &s)
}
