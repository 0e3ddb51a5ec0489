package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"touchdown/steps/engine"
	"touchdown/test/bench"
)

// node is a factory cluster and a state folder, on which engines come and go.
type node struct {
	t       testing.TB
	cluster *bench.Cluster
	dir     string
}

func newNode(t testing.TB) *node {
	t.Helper()
	dir, err := os.MkdirTemp("", "node-") // not the test's own folder: the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &node{t: t, cluster: bench.Start(t, bench.Options{}), dir: dir}
}

func (n *node) socket() string { return filepath.Join(n.dir, "run", "engine.sock") }

// run is one engine process.
type run struct {
	cmd    *exec.Cmd
	exited chan error
}

// start starts an engine. It kills itself behind event number crashAt, counted from its start; 0: never.
func (n *node) start(crashAt int) *run {
	n.t.Helper()
	cmd := exec.Command("touchdown", "engine", "--socket", n.socket(), "--state", filepath.Join(n.dir, "state"),
		"--kubeconfig", n.cluster.Kubeconfig, "--no-power")
	if crashAt > 0 {
		cmd.Env = append(os.Environ(), "CRASH_AT="+strconv.Itoa(crashAt))
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	r := &run{cmd, make(chan error, 1)}
	go func() { r.exited <- cmd.Wait() }()
	n.t.Cleanup(r.kill)
	return r
}

func (r *run) kill() {
	_ = r.cmd.Process.Kill()
	select {
	case <-r.exited:
	case <-time.After(5 * time.Second):
	}
}

// wait waits until the snapshot of whatever engine answers satisfies ok.
func (n *node) wait(limit time.Duration, what string, ok func(*engine.Snapshot) bool) *engine.Snapshot {
	n.t.Helper()
	client := engine.Dial(n.socket())
	var last *engine.Snapshot
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		snapshot, err := client.Snapshot(context.Background())
		if err != nil {
			continue
		}
		if last = snapshot; ok(snapshot) {
			return snapshot
		}
	}
	n.t.Fatalf("never saw %s; last %+v", what, last)
	return nil
}

// shop is the site of the tests.
const shop = `apiVersion: touchdown.dev/v1alpha1
kind: SiteConfig
spec:
  clusterName: shop
  baseDomain: example.org
  policy: {stabilityWindow: 1s}
`

// apply runs `touchdown apply` and returns its exit code and output.
func (n *node) apply(site string, more ...string) (code int, output string) {
	n.t.Helper()
	file := filepath.Join(n.dir, "site.yaml")
	if err := os.WriteFile(file, []byte(site), 0o600); err != nil {
		n.t.Fatal(err)
	}
	args := []string{"--socket", n.socket(), "apply", "-f", file, "--by", "test", "--force"}
	for _, c := range []string{"hw-cpu", "hw-memory", "hw-disk", "hw-var", "hw-nics", "hw-link", "hw-clock", "hw-cpu-flags"} {
		args = append(args, "--waive", c+"=a build machine is no edge server")
	}
	out, err := exec.Command("touchdown", append(args, more...)...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(out)
	}
	if err != nil {
		n.t.Fatal(err)
	}
	return 0, string(out)
}
