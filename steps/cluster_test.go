package steps_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/domain"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// clusterReport keeps what a step tells and saves, one store for each step as the engine has it.
type clusterReport struct {
	mu       sync.Mutex
	saved    map[string][]byte
	said     []string
	checks   map[string]check.Check
	progress []progress.Progress
}

func newReport() *clusterReport {
	return &clusterReport{saved: map[string][]byte{}, checks: map[string]check.Check{}}
}

func (r *clusterReport) Progress(p progress.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = append(r.progress, p)
}

func (r *clusterReport) Check(c check.Check) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checks[c.ID] = c
}

func (r *clusterReport) Say(text message.Text) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, text.String())
}

func (r *clusterReport) Ask(context.Context, steps.Question) (string, error) { return "", nil }

func (r *clusterReport) Save(key string, original []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.saved[key]; !there {
		r.saved[key] = slices.Clone(original)
	}
	return nil
}

func (r *clusterReport) Saved(key string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b, there := r.saved[key]; there {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

func (r *clusterReport) Note(key string, value []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saved["note-"+key] = slices.Clone(value)
	return nil
}

func (r *clusterReport) Noted(key string) ([]byte, error) { return r.Saved("note-" + key) }

func (r *clusterReport) Job() report.Job { return report.Job{} }

func (r *clusterReport) Suggest(string, string, string) {}

func (r *clusterReport) Offer(string, []steps.Choice) {}

// quick are timeouts for a cluster that rolls out at once.
func quick() domain.Timeouts {
	return domain.Timeouts{Notice: 60 * time.Second, Limit: wait.Timeout(90 * time.Second), Grace: 2 * time.Second, Stable: time.Second, Answer: 60 * time.Second}
}

// land is one cluster and the steps that move its names.
type land struct {
	cluster *bench.Cluster
	node    *backend.Node
	host    *hosttest.Fake
	site    *site.Config
	steps   []steps.Step
	reports map[string]*clusterReport
}

func newLand(t *testing.T, o bench.Options) *land {
	t.Helper()
	h := hosttest.New(t)
	o.NodeRoot = h.Root()
	l := &land{host: h, site: site.New(), reports: map[string]*clusterReport{}}
	l.cluster = bench.Start(t, o)
	c, err := kube.Open(l.cluster.Kubeconfig, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace = kube.Pace{Limit: wait.Timeout(time.Minute), Pause: 100 * time.Millisecond, Poll: 100 * time.Millisecond}
	l.node = &backend.Node{Host: h.Machine, Kube: c, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	l.site.Spec.ClusterName, l.site.Spec.BaseDomain = "store1", "site.example"
	l.steps = []steps.Step{
		&steps.PullSecret{Site: l.site},
		&steps.Certificates{Site: l.site},
		&steps.Domain{Site: l.site, Timeouts: quick()},
		&steps.Rollouts{Site: l.site, Timeouts: quick()},
		&steps.Routes{Site: l.site},
	}
	for _, s := range l.steps {
		l.reports[s.ID()] = newReport()
	}
	return l
}

// run runs every step that applies.
func (l *land) run(t *testing.T) error {
	t.Helper()
	for _, s := range l.steps {
		if k, ok := s.(steps.Skipper); ok && k.Skip().String() != "" {
			continue
		}
		begin, writes := time.Now(), l.node.Kube.Writes()
		if err := s.Run(t.Context(), l.node, l.reports[s.ID()]); err != nil {
			return fmt.Errorf("step %s: %w", s.ID(), err)
		}
		t.Logf("%-12s %6.1f s %3d writes", s.ID(), time.Since(begin).Seconds(), l.node.Kube.Writes()-writes)
	}
	return nil
}

func (l *land) undo(t *testing.T) error {
	t.Helper()
	for _, s := range slices.Backward(l.steps) {
		u, ok := s.(steps.Undoer)
		if !ok {
			continue
		}
		begin, writes := time.Now(), l.node.Kube.Writes()
		if err := u.Undo(t.Context(), l.node, l.reports[s.ID()]); err != nil {
			return fmt.Errorf("undoing step %s: %w", s.ID(), err)
		}
		t.Logf("undo %-12s %6.1f s %3d writes", s.ID(), time.Since(begin).Seconds(), l.node.Kube.Writes()-writes)
	}
	return nil
}

func (l *land) checks() []check.Check {
	var all []check.Check
	for _, id := range slices.Sorted(maps.Keys(l.reports)) {
		for _, key := range slices.Sorted(maps.Keys(l.reports[id].checks)) {
			all = append(all, l.reports[id].checks[key])
		}
	}
	return all
}
