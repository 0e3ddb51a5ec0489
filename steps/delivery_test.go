package steps_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/delivery"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/wait"
)

// monitored is a site with a monitor: its steps, by their IDs, and what the monitor got.
type monitored struct {
	node   *backend.Node
	outbox *delivery.Outbox
	dir    string
	steps  map[string]steps.Step

	mu  sync.Mutex
	got []string
}

func (m *monitored) take(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.got = append(m.got, r.Header.Get("Touchdown-Kind")+" "+string(body))
}

func (m *monitored) taken() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string{}, m.got...)
}

func newMonitored(t *testing.T, o host.Options) *monitored {
	o.Root, o.Log = t.TempDir(), slog.New(slog.DiscardHandler)
	m := &monitored{dir: t.TempDir(), steps: map[string]steps.Step{}}
	server := httptest.NewServer(http.HandlerFunc(m.take))
	t.Cleanup(server.Close)
	m.node = &backend.Node{Host: host.Open(o), Now: time.Now, Log: o.Log}
	m.outbox = delivery.Open(delivery.Options{Host: m.node.Host, Folder: layout.Outbox, Version: "1.0", Log: o.Log, Now: time.Now})
	cfg := site.New()
	if err := cfg.Set("spec.monitor.url", server.URL); err != nil {
		t.Fatal(err)
	}
	for _, stage := range steps.Site(cfg, steps.Wiring{Dir: m.dir, NodeNet: &steps.NodeNetwork{}, Outbox: m.outbox}) {
		for _, s := range stage.Steps {
			m.steps[s.ID()] = s
		}
	}
	return m
}

// told is a report of a step that keeps the checks.
type told struct {
	steps.Report
	checks []check.Check
}

func (r *told) Check(c check.Check)      { r.checks = append(r.checks, c) }
func (*told) Say(message.Text)           {}
func (*told) Progress(progress.Progress) {}

// TestReportIsDelivered: the report of a landing gets to the monitor as it lies on the node, and the step waits for no network.
func TestReportIsDelivered(t *testing.T) {
	m := newMonitored(t, host.Options{})
	if err := os.WriteFile(filepath.Join(m.dir, report.SignedFile), []byte("the envelope"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &told{}
	if err := m.steps["delivery"].Run(t.Context(), m.node, r); err != nil || len(r.checks) > 0 {
		t.Fatalf("%v, %v", err, r.checks)
	}
	if s := m.outbox.Status(); s.Waiting != 1 || len(m.taken()) != 0 {
		t.Errorf("before the sender runs: %+v, %q", s, m.taken())
	}
	ctx, cancel := context.WithCancel(t.Context())
	var sender sync.WaitGroup
	sender.Go(func() { m.outbox.Run(ctx, func() {}) })
	wait.Until(t, "the delivery", func() bool { return m.outbox.Status().Waiting == 0 })
	cancel()
	sender.Wait()
	if got := m.taken(); len(got) != 1 || got[0] != "report the envelope" {
		t.Errorf("%q", got)
	}
}

// TestMonitorOfAnEarlierSite: a node that moves on to a site without a monitor forgets the earlier one, with its token.
func TestMonitorOfAnEarlierSite(t *testing.T) {
	m := newMonitored(t, host.Options{})
	for _, stage := range steps.Site(site.New(), steps.Wiring{NodeNet: &steps.NodeNetwork{}, Outbox: m.outbox}) {
		for _, s := range stage.Steps {
			m.steps[s.ID()] = s
		}
	}
	step := m.steps["delivery"]
	if step.(steps.Skipper).Skip().String() == "" {
		t.Error("there is something to do without any monitor")
	}
	if err := m.outbox.Aim(delivery.Target{URL: "https://monitor.example.com", Token: "secret"}); err != nil {
		t.Fatal(err)
	}
	if step.(steps.Skipper).Skip().String() != "" {
		t.Error("the earlier monitor is not checked")
	}
	plan, err := step.(steps.Planner).Plan(t.Context(), m.node)
	if err != nil || len(plan.Changes) != 1 || plan.Changes[0].Old.String() != "sent to monitor.example.com" {
		t.Errorf("%+v, %v", plan, err)
	}
	if err := step.Run(t.Context(), m.node, &told{}); err != nil || m.outbox.Target() != (delivery.Target{}) {
		t.Errorf("%v, %+v", err, m.outbox.Status())
	}
}

// TestDeliveryFailsNoLanding: on a full disk, and without a report, the step warns and is done.
func TestDeliveryFailsNoLanding(t *testing.T) {
	full := host.Options{Write: func(string, func([]byte) error, []byte) error { return syscall.ENOSPC }}
	for name, m := range map[string]*monitored{"full disk": newMonitored(t, full), "no report": newMonitored(t, host.Options{})} {
		if name == "full disk" {
			if err := os.WriteFile(filepath.Join(m.dir, report.JSONFile), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := &told{}
		if err := m.steps["delivery"].Run(t.Context(), m.node, r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(r.checks) != 1 || r.checks[0].Status != check.Warn || r.checks[0].ID != "delivery" {
			t.Errorf("%s: %+v", name, r.checks)
		}
	}
}

// TestFaultsAreDelivered: a machine that fails its hardware check is told to the monitor, with the checks that failed and no other.
func TestFaultsAreDelivered(t *testing.T) {
	m := newMonitored(t, host.Options{})
	m.node.Now = func() time.Time { return time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC) } // its battery is empty
	r := &told{}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("nobody waits for a cable"))
	_ = m.steps["hardware"].Run(ctx, m.node, r)
	failed := 0
	for _, c := range r.checks {
		if c.Status == check.Fail {
			failed++
		}
	}
	if failed == 0 {
		t.Fatalf("nothing failed: %+v", r.checks)
	}
	waiting, err := filepath.Glob(m.node.Host.Path(layout.Outbox) + "/*-" + delivery.Fault + "-*")
	if err != nil || len(waiting) != 1 {
		t.Fatalf("%q, %v", waiting, err)
	}
	text, err := os.ReadFile(waiting[0])
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "\n")
	var fault struct{ Checks []check.Check }
	if err := json.Unmarshal([]byte(body), &fault); err != nil || len(fault.Checks) != failed {
		t.Errorf("%d of %d checks, %v: %s", len(fault.Checks), failed, err, body)
	}
}
