package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/test/wait"
)

// checkLine runs `check` on the machine below root.
func checkLine(ctx context.Context, t *testing.T, root string, args ...string) (code int, out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := newRoot(hooks{root: root})
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	code = execute(ctx, cmd, append([]string{"check"}, args...))
	return code, stdout.String(), stderr.String()
}

// smallMachine has 1 GB of memory: it fails.
func smallMachine(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range map[string]string{"proc/meminfo": "MemTotal: 1000000 kB\n", "proc/sys/kernel/hostname": "edge-17\n"} {
		file := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCheckHardwareInThreeForms(t *testing.T) {
	root := smallMachine(t)
	code, text, said := checkLine(t.Context(), t, root, "hardware")
	if code != exitFailed || said != "" || !strings.Contains(text, "  fail  ") || !strings.Contains(text, "\nhardware: fail (") {
		t.Errorf("%d, %q:\n%s", code, said, text)
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > checkColumns {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	code, document, said := checkLine(t.Context(), t, root, "hardware", "-o", "json")
	var got checked
	var last failure
	lines := json.NewDecoder(strings.NewReader(document))
	if err := errors.Join(lines.Decode(&got), lines.Decode(&last)); err != nil || lines.More() || code != exitFailed {
		t.Fatalf("%d, %v: %s", code, err, document)
	}
	if want := "a check failed: "; !strings.HasPrefix(last.Error.Summary, want) || !strings.Contains(last.Error.Summary, "hw-memory") || said != "touchdown: "+last.Error.Summary+"\n" {
		t.Errorf("%+v, %q", last, said)
	}
	if got.Schema != checkSchema || got.Subject != "hardware" || got.Node != "edge-17" || got.Status != check.Fail || got.Counts[check.Fail] == 0 || len(got.Checks) < 5 {
		t.Errorf("%+v", got)
	}
	code, document, _ = checkLine(t.Context(), t, root, "hardware", "-o", "junit")
	var suites struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Host     string `xml:"hostname,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(document), &suites); err != nil || code != exitFailed || len(suites.Suites) != 1 {
		t.Fatalf("%d, %v: %s", code, err, document)
	}
	if s := suites.Suites[0]; s.Name != "hardware" || s.Host != "edge-17" || s.Tests != len(got.Checks) || s.Failures != got.Counts[check.Fail] {
		t.Errorf("%+v", s)
	}
}

// TestCheckOfWhatCannotBeSeen: what cannot be checked is skipped, which is not a failure.
func TestCheckOfWhatCannotBeSeen(t *testing.T) {
	if code, text, said := checkLine(t.Context(), t, t.TempDir(), "network"); code != exitOK || !strings.Contains(text, "not this machine's") {
		t.Errorf("%d: %s%s", code, text, said)
	}
	if code, text, said := checkLine(t.Context(), t, t.TempDir(), "images"); code != exitOK || !strings.Contains(text, "images: warn (1 warn)") {
		t.Errorf("%d: %s%s", code, text, said)
	}
}

// unhealthy is the kubeconfig of a cluster that has nothing.
func unhealthy(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s: a check must change nothing", r.Method, r.URL.Path)
		}
		if r.URL.Path == "/readyz" {
			_, _ = w.Write([]byte("ok"))
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a, user: {}}],
clusters: [{name: a, cluster: {server: "` + server.URL + `", insecure-skip-tls-verify: true}}]}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

func TestCheckCluster(t *testing.T) {
	code, document, said := checkLine(t.Context(), t, t.TempDir(), "cluster", "-o", "json", "--kubeconfig", unhealthy(t))
	var got checked
	if err := json.NewDecoder(strings.NewReader(document)).Decode(&got); err != nil || code != exitOK && code != exitFailed {
		t.Fatalf("%d, %v: %s%s", code, err, document, said)
	}
	ids := map[string]check.Status{}
	for _, c := range got.Checks {
		ids[c.ID] = c.Status
	}
	if ids["api"] != check.Pass || ids["operators"] == check.Pass || ids["controllers"] == check.Pass || ids["controllers"] == "" {
		t.Errorf("%v", ids)
	}
}

// stopping ends a context when something is printed.
type stopping struct {
	all  bytes.Buffer
	stop context.CancelFunc
}

func (s *stopping) Write(b []byte) (int, error) {
	defer s.stop()
	return s.all.Write(b)
}

func TestCheckWatchEndsWithCtrlC(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), wait.Timeout(time.Minute))
	defer stop()
	out := &stopping{stop: stop}
	cmd := newRoot(hooks{root: smallMachine(t)})
	cmd.SetOut(out)
	cmd.SetErr(out)
	if code := execute(ctx, cmd, []string{"check", "hardware", "--watch"}); code != exitFailed {
		t.Errorf("it ended with %d", code)
	}
	if n := strings.Count(out.all.String(), "hardware: fail ("); n != 1 || ctx.Err() != context.Canceled {
		t.Errorf("%d looks, %v:\n%s", n, ctx.Err(), out.all.String())
	}
}

func TestCheckWatchPrintsWhatChanged(t *testing.T) {
	at := time.Date(2026, time.November, 23, 12, 0, 0, 0, time.UTC)
	look := func(second check.Status) *checked {
		c := &checked{Subject: "cluster", At: at, Checks: []check.Check{
			{ID: "a", Title: message.T("First"), Status: check.Pass, Observed: message.T("fine")},
			{ID: "b", Title: message.T("Second"), Status: second, Observed: message.Data("as\nit is " + strings.Repeat("word ", 40)), Fix: message.T("Wait.")},
		}}
		c.count()
		return c
	}
	first := look(check.Pass)
	if text := look(check.Pass).text(first); text != "" {
		t.Errorf("nothing changed: %q", text)
	}
	text := look(check.Fail).text(first)
	if !strings.HasPrefix(text, "12:00:00 UTC\n  fail  Second [b]: as; it is") || strings.Contains(text, "First") || !strings.Contains(text, "        try: Wait.\ncluster: fail (1 pass, 1 fail)\n") {
		t.Errorf("%s", text)
	}
}
