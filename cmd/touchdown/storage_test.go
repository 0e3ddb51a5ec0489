package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/message"
	"touchdown/steps/view"
	"touchdown/test/bench"
)

// TestALandingAfterLongStorage: the client certificate of the node's kubeconfig expires under the running engine. The node lands
// all the same, by the account of the cluster's own recovery; every screen and the health checks say so, and no log holds its token.
func TestALandingAfterLongStorage(t *testing.T) {
	t.Parallel()
	n := newNodeWith(t, bench.Options{})
	const life = 10 * time.Second
	expires := time.Now().Add(life)
	if err := n.cluster.RenewNodeClient(life); err != nil {
		t.Fatal(err)
	}
	n.config = n.cluster.NodeKubeconfig()
	n.start(0)
	n.lives()
	time.Sleep(time.Until(expires.Add(time.Second)))
	if code, out := n.apply(shop); code != exitOK {
		t.Fatalf("apply ended with %d\n%s", code, out)
	}
	s := n.ends()
	n.is(view.IsDone, s)
	const says = "client certificate expired on "
	if told := strings.Join(message.English(s.Notices), " "); !strings.Contains(told, says) || !strings.Contains(told, "recovery account") {
		t.Errorf("notices: %q", told)
	}
	if _, out := n.touchdown("status"); !strings.Contains(strings.Join(strings.Fields(out), " "), says) {
		t.Errorf("the status does not say it:\n%s", out)
	}
	status := ""
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			for _, c := range step.Checks {
				if c.ID == "access" {
					status = string(c.Status)
				}
			}
		}
	}
	if status != "warn" {
		t.Errorf("the check of the access is %q, want warn", status)
	}
	files, err := filepath.Glob(filepath.Join(n.state(), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "eyJhbGci") {
			t.Errorf("%s holds a token", file)
		}
	}
}
