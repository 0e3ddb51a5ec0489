package steps_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/layout"
	"touchdown/steps"
	"touchdown/steps/site"
)

// leaving is a node whose rename to "new" failed once it had left the cluster; set: once it had its new name.
func leaving(t *testing.T, set bool) (m *hosttest.Fake, api *kubetest.API, c *kube.Cluster, s *steps.Hostname, report *clusterReport) {
	t.Helper()
	m = hosttest.New(t)
	api, c = kubetest.New(t)
	m.File("/var/lib/kubelet/x", "")
	m.File("/etc/hostname", "old\n")
	api.Put("/api/v1/nodes/old", `{"metadata":{"labels":{"site":"store1"}}}`)
	m.OnFunc("hostnamectl hostname", func(argv []string, _ []byte) (string, error) {
		if set {
			m.File("/etc/hostname", argv[2]+"\n")
			m.File("/proc/sys/kernel/hostname", argv[2]+"\n")
		}
		return "", errors.New("cut off")
	})
	cfg := site.New()
	cfg.Spec.Policy.AllowHostnameChange, cfg.Spec.Hostname = true, "new"
	s, report = &steps.Hostname{Site: cfg, Limit: time.Second}, newReport()
	if err := s.Run(t.Context(), node(m, c), report); err == nil || !half(t, s, report) {
		t.Fatalf("Run: %v", err)
	}
	return m, api, c, s, report
}

// prepares is how a step makes the machine ready for the undo.
func prepares(t *testing.T, s steps.Step) steps.UndoPreparer {
	t.Helper()
	p, is := s.(steps.UndoPreparer)
	if !is {
		t.Fatal("the undo does not ask the step")
	}
	return p
}

// TestUndoLetsARenamedNodeInAgain: the undo wipes the labels and the names to forget, so the node is back in its cluster before.
func TestUndoLetsARenamedNodeInAgain(t *testing.T) {
	for name, set := range map[string]bool{"old": false, "new": true} {
		m, api, c, s, report := leaving(t, set)
		p := prepares(t, s)
		if _, reboot := errors.AsType[*steps.Reboot](p.PrepareUndo(t.Context(), node(m, c), report)); !reboot {
			t.Fatal("no reboot, although the kubelet is stopped")
		}
		m.Boot()
		pki(t, m)
		api.Put("/api/v1/nodes/"+name, `{"metadata":{"labels":{}},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"`+time.Now().UTC().Format(time.RFC3339)+`"}]}}`)
		for range 2 {
			if err := p.PrepareUndo(t.Context(), node(m, c), report); err != nil {
				t.Fatal(err)
			}
			if got := api.Get("/api/v1/nodes/"+name, "metadata", "labels", "site"); got != `"store1"` || half(t, s, report) {
				t.Errorf("the label of %s is %s, half %v", name, got, half(t, s, report))
			}
		}
		if len(report.said) > 0 && strings.Contains(report.said[len(report.said)-1], "could not") {
			t.Errorf("said %q", report.said)
		}
	}
}

// TestUndoGoesOnWithoutTheRenamedNode: whatever keeps the node out of its cluster, the network is put back.
func TestUndoGoesOnWithoutTheRenamedNode(t *testing.T) {
	for what, c := range map[string]struct {
		change func(m *hosttest.Fake, s *steps.Hostname, report *clusterReport)
		quiet  bool
	}{
		"it does not register": {change: func(m *hosttest.Fake, _ *steps.Hostname, _ *clusterReport) { m.Boot() }},
		"it must not reboot":   {change: func(_ *hosttest.Fake, s *steps.Hostname, _ *clusterReport) { s.Site.Spec.Policy.AllowReboot = false }},
		"its note is damaged": {change: func(_ *hosttest.Fake, _ *steps.Hostname, report *clusterReport) {
			_ = report.Note("rename", []byte("{"))
		}},
		"its cluster is held back": {func(m *hosttest.Fake, _ *steps.Hostname, _ *clusterReport) { m.File(layout.Armed, "") }, true},
		"it is in the cluster as new": {func(_ *hosttest.Fake, _ *steps.Hostname, report *clusterReport) {
			_ = report.Note("rename", []byte(`{"To":"new","In":true}`))
		}, true},
	} {
		t.Run(what, func(t *testing.T) {
			m, _, cluster, s, report := leaving(t, true)
			report.said = nil
			c.change(m, s, report)
			if err := prepares(t, s).PrepareUndo(t.Context(), node(m, cluster), report); err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(report.said, " "); strings.Contains(said, "could not rejoin its cluster") == c.quiet {
				t.Errorf("said %q", said)
			}
		})
	}
}

// TestUndoThatIsStoppedKeepsTheRenamedNode: a person who stops the wait has not given the node up.
func TestUndoThatIsStoppedKeepsTheRenamedNode(t *testing.T) {
	m, _, c, s, report := leaving(t, true)
	m.Boot()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	report.said = nil
	if err := prepares(t, s).PrepareUndo(ctx, node(m, c), report); err == nil || len(report.said) > 0 {
		t.Errorf("%v, said %q", err, report.said)
	}
}
