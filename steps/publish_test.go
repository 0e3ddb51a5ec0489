package steps

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/report"
)

const publishedPath = "/api/v1/namespaces/openshift-config/configmaps/touchdown-report"

// publishing is a cluster, and a report to be put into it.
func publishing(t *testing.T) (*kubetest.API, *backend.Node, *publish) {
	t.Helper()
	api, c := kubetest.New(t)
	s := &publish{Dir: t.TempDir()}
	writeReport(t, s.Dir, map[string]string{report.TextFile: "Result: fine\n", report.JSONFile: `{"verdict":"fine"}`, report.HostsFile: "192.0.2.7 api.site\n"})
	return api, &backend.Node{Kube: c, Log: slog.New(slog.DiscardHandler)}, s
}

func writeReport(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheReportIsInTheCluster: once for each report, nothing of an earlier one beside it, and gone after an undo.
func TestTheReportIsInTheCluster(t *testing.T) {
	api, node, s := publishing(t)
	r := newKept()
	for range 2 { // as after a power cut
		if err := s.Run(t.Context(), node, r); err != nil {
			t.Fatal(err)
		}
	}
	if changes := api.Changes(); len(changes) != 1 {
		t.Errorf("the same report was written %d times: %q", len(changes), changes)
	}
	if got := api.Get(publishedPath, "data", report.TextFile); !strings.Contains(got, "Result: fine") {
		t.Errorf("the cluster has %q", got)
	}
	if err := os.Remove(filepath.Join(s.Dir, report.HostsFile)); err != nil {
		t.Fatal(err)
	}
	writeReport(t, s.Dir, map[string]string{report.TextFile: "Result: better\n"})
	if err := s.Run(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	if got := api.Get(publishedPath, "data"); !strings.Contains(got, "better") || strings.Contains(got, "192.0.2.7") {
		t.Errorf("the cluster has %q", got)
	}
	for range 2 {
		if err := s.Undo(t.Context(), node, r); err != nil {
			t.Fatal(err)
		}
	}
	if got := api.Get(publishedPath); strings.Contains(got, "better") {
		t.Errorf("after the undo the cluster has %q", got)
	}
	if len(r.checks) > 0 {
		t.Errorf("checks: %v", r.checks)
	}
}

// TestTheEarlierReportComesBack: a node that moves again has the report of its first landing, which an undo puts back.
func TestTheEarlierReportComesBack(t *testing.T) {
	api, node, s := publishing(t)
	if err := s.Run(t.Context(), node, newKept()); err != nil { // its originals are gone with the hand-over
		t.Fatal(err)
	}
	first := api.Get(publishedPath, "data")
	writeReport(t, s.Dir, map[string]string{report.TextFile: "Result: moved\n"})
	r := newKept()
	if err := s.Run(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	if err := s.Undo(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	if now := api.Get(publishedPath, "data"); now != first {
		t.Errorf("the cluster has %q, not %q", now, first)
	}
}

// TestAConfigMapOfOthersStays whatever its name is.
func TestAConfigMapOfOthersStays(t *testing.T) {
	api, node, s := publishing(t)
	api.Put(publishedPath, `{"metadata":{},"data":{"theirs":"x"}}`)
	r := newKept()
	if err := s.Run(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	if err := s.Undo(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	if c := r.checks["cluster-report"]; c.Status != check.Warn || len(api.Changes()) != 0 || !strings.Contains(api.Get(publishedPath, "data"), "theirs") {
		t.Errorf("%+v, changes %q", c, api.Changes())
	}
}

// TestALargeReportIsLeftOut: a ConfigMap has at most a MiB; what people read comes first.
func TestALargeReportIsLeftOut(t *testing.T) {
	api, node, s := publishing(t)
	writeReport(t, s.Dir, map[string]string{report.JSONFile: strings.Repeat(" ", 1<<20)})
	r := newKept()
	if err := s.Run(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	got := api.Get(publishedPath, "data")
	if !strings.Contains(got, "Result: fine") || !strings.Contains(got, "192.0.2.7") || strings.Contains(got, report.JSONFile) {
		t.Errorf("the cluster has %.200q", got)
	}
	if last := r.said[len(r.said)-1]; !strings.Contains(last, report.JSONFile) {
		t.Errorf("nobody was told what is left out: %q", r.said)
	}
}

// TestARefusedReportFailsNoLanding: by the API, or because a file is not what it should be.
func TestARefusedReportFailsNoLanding(t *testing.T) {
	for name, spoil := range map[string]func(*kubetest.API, *publish){
		"refused": func(api *kubetest.API, _ *publish) {
			api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
				return r.Method == http.MethodPost && kubetest.Refuse(w, http.StatusForbidden, "Forbidden", "no")
			}
		},
		"no report": func(_ *kubetest.API, s *publish) { s.Dir = filepath.Join(s.Dir, "nowhere") },
		"not text":  func(_ *kubetest.API, s *publish) { writeReport(t, s.Dir, map[string]string{report.TextFile: "\xff"}) },
	} {
		t.Run(name, func(t *testing.T) {
			api, node, s := publishing(t)
			spoil(api, s)
			r := newKept()
			if err := s.Run(t.Context(), node, r); err != nil {
				t.Fatal(err)
			}
			if c := r.checks["cluster-report"]; c.Status != check.Warn || c.Observed.String() == "" {
				t.Errorf("the check is %+v", c)
			}
		})
	}
}
