package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/steps/wire"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// places keeps the number of clusters that run at once down to what two cores carry.
var places = make(chan struct{}, 2)

// node is a factory cluster and a state folder, on which engines come and go.
type node struct {
	t       testing.TB
	cluster *bench.Cluster
	api     *api
	dir     string
	env     []string // of its engines
	config  string   // the kubeconfig of its engines; "" is the installer's
}

func newNode(t testing.TB) *node { return newNodeWith(t, bench.Options{}) }

func newNodeWith(t testing.TB, o bench.Options) *node {
	t.Helper()
	places <- struct{}{}
	t.Cleanup(func() { <-places })
	dir, err := os.MkdirTemp("", "node-") // not the test's own folder: the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n := &node{t: t, cluster: bench.Start(t, o), dir: dir}
	n.api = openAPI(t, n.cluster)
	wait.Explain(t, "the end of the engine's journal", func() string {
		data, err := os.ReadFile(filepath.Join(n.state(), "journal.jsonl"))
		if err != nil {
			return err.Error()
		}
		events := strings.Split(strings.TrimSpace(string(data)), "\n")
		return strings.Join(events[max(0, len(events)-15):], "\n")
	})
	return n
}

func (n *node) socket() string       { return filepath.Join(n.dir, "run", "engine.sock") }
func (n *node) state() string        { return filepath.Join(n.dir, "state") }
func (n *node) client() *wire.Client { return wire.Dial(n.socket()) }
func (n *node) hold() string         { return filepath.Join(n.dir, "hold") }
func (n *node) lives() *view.Snapshot {
	n.t.Helper()
	return n.wait("an engine", ready)
}

// ready is past the first look around.
func ready(s *view.Snapshot) bool { return s.State != view.Inspecting }

// run is one engine process.
type run struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has
	stderr bytes.Buffer  // to be read after that
}

// start starts an engine. It kills itself behind event number crash, counted from its start; 0: never.
func (n *node) start(crash int) *run {
	n.t.Helper()
	r := &run{exited: make(chan struct{})}
	r.cmd = exec.Command("touchdown", "engine", "--socket", n.socket(), "--state", n.state(), "--kubeconfig", cmp.Or(n.config, n.cluster.Kubeconfig), "--no-power")
	r.cmd.Env = append(os.Environ(), n.env...)
	if crash > 0 {
		r.cmd.Env = append(r.cmd.Env, crashAt+"="+strconv.Itoa(crash))
	}
	r.cmd.Stderr = &r.stderr
	if err := r.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait() // a killed engine's status says nothing
		close(r.exited)
	}()
	wait.Explain(n.t, "what an engine wrote", r.stderr.String) // it has ended by then
	n.t.Cleanup(func() {
		r.kill()
		for _, bad := range []string{"DATA RACE", "panic:", "fatal error:"} {
			if strings.Contains(r.stderr.String(), bad) {
				n.t.Errorf("the engine had a %q", bad)
			}
		}
	})
	return r
}

func (r *run) kill() {
	_ = r.cmd.Process.Kill()
	<-r.exited
}

// wait waits until the snapshot of whatever engine answers satisfies ok.
func (n *node) wait(what string, ok func(*view.Snapshot) bool) (s *view.Snapshot) {
	n.t.Helper()
	client := n.client()
	wait.Until(n.t, what, func(ctx context.Context) (err error) {
		if s, err = client.Snapshot(ctx); err == nil && !ok(s) {
			err = fmt.Errorf("the job is %s at %q, problem %+v", s.State, s.Current, s.Problem)
		}
		return err
	})
	return s
}

// ends waits for a job that nothing more happens to.
func (n *node) ends() *view.Snapshot {
	n.t.Helper()
	return n.wait("the end", func(s *view.Snapshot) bool {
		return s.State == view.IsDone || s.State == view.HasFailed || s.State == view.IsUndone
	})
}

// is fails the test unless the job is in that state.
func (n *node) is(want view.State, s *view.Snapshot) {
	n.t.Helper()
	if s.State != want {
		n.t.Fatalf("the job is %s at %q and not %s: %+v", s.State, s.Current, want, s.Problem)
	}
}

// act takes control and carries actions out.
func (n *node) act(actions ...session.Action) {
	n.t.Helper()
	if err := n.try(actions...); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) try(actions ...session.Action) error {
	client := n.client()
	token, err := client.TakeControl(n.t.Context(), "test", true)
	if err != nil {
		return err
	}
	for _, a := range actions {
		if err := client.Do(n.t.Context(), token, a); err != nil {
			return err
		}
	}
	return client.ReleaseControl(n.t.Context(), token)
}

// shop is the site of the tests. A failure stays.
const shop = `apiVersion: touchdown.dev/v1alpha1
kind: SiteConfig
spec:
  clusterName: shop
  baseDomain: example.org
  policy: {stabilityWindow: 1s, rollbackOnFailure: false, keepGoingOnWarnings: true}
`

// waivers take responsibility for what a build machine lacks.
func waivers() []string {
	args := []string{"--by", "test"}
	for _, c := range []string{"hw-cpu", "hw-cpu-flags", "hw-memory", "hw-disk", "hw-var", "hw-nics", "hw-link", "hw-clock"} {
		args = append(args, "--waive", c+"=a build machine is not an edge server")
	}
	return args
}

// command prepares `touchdown apply`.
func (n *node) command(site string, more ...string) *exec.Cmd {
	n.t.Helper()
	file := filepath.Join(n.dir, "site.yaml")
	if err := os.WriteFile(file, []byte(site), 0o600); err != nil {
		n.t.Fatal(err)
	}
	args := append([]string{"--socket", n.socket(), "apply", "-f", file}, waivers()...)
	return exec.Command("touchdown", append(args, more...)...)
}

// apply runs `touchdown apply` and returns its exit code and output.
func (n *node) apply(site string, more ...string) (code int, output string) {
	n.t.Helper()
	return finished(n.t, n.command(site, append(more, "--force")...))
}

// touchdown runs another command against the node's engine.
func (n *node) touchdown(args ...string) (code int, output string) {
	n.t.Helper()
	return finished(n.t, exec.Command("touchdown", append([]string{"--socket", n.socket()}, args...)...))
}

func finished(t testing.TB, cmd *exec.Cmd) (int, string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(out)
	}
	if err != nil {
		t.Error(err)
	}
	return 0, string(out)
}

// lands runs the job to its good end.
func (n *node) lands(site string) {
	n.t.Helper()
	if code, out := n.apply(site); code != exitOK {
		n.t.Fatalf("apply ended with %d:\n%s", code, out)
	}
}
