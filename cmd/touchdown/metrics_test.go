package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"

	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// TestMetrics has Prometheus' own parser read what is printed: each state is there, what is not known is not, and no name that came
// from firmware or a site config breaks a line.
func TestMetrics(t *testing.T) {
	at := time.Date(2026, 11, 26, 7, 0, 0, 0, time.UTC)
	s := &view.Snapshot{Version: "1.0", Hostname: "sno", Serial: "7X\"\n\\\xff# HELP", Life: view.LifeLanded, State: view.IsDone, Now: at, Ended: at, Worked: 181.5}
	got := read(t, s)
	if got["touchdown_state{state=done}"] != 1 || got["touchdown_state{state=failed}"] != 0 || len(jobStates) != 9 {
		t.Errorf("states: %v", got)
	}
	if got["touchdown_work_seconds"] != 181.5 || got["touchdown_ended_timestamp_seconds"] != float64(at.Unix()) {
		t.Errorf("times: %v", got)
	}
	if _, is := got["touchdown_started_timestamp_seconds"]; is {
		t.Error("a time that is not known has a figure")
	}
	if _, is := got["touchdown_cluster_well"]; is {
		t.Error("a cluster that nobody looked at has a figure")
	}
	s.Problem = &event.Trouble{Code: "NET-DEAD"}
	s.Live = &health.Live{Since: at, Status: check.Warn, Counts: map[check.Status]int{check.Pass: 70, check.Warn: 2}, Checks: []check.Check{{ID: "cl-etcd", Status: check.Warn}}}
	got = read(t, s)
	for name, want := range map[string]float64{
		"touchdown_problem{code=NET-DEAD}": 1, "touchdown_cluster_well": 1, "touchdown_cluster_checks{status=pass}": 70, "touchdown_cluster_checks{status=fail}": 0,
		"touchdown_cluster_check_faulty{id=cl-etcd,status=warn}": 1, "touchdown_cluster_since_timestamp_seconds": float64(at.Unix()),
	} {
		if have, is := got[name]; !is || have != want {
			t.Errorf("%s is %v (there: %v), want %v", name, have, is, want)
		}
	}
	s.Live.Away = at
	if got := read(t, s); got["touchdown_cluster_well"] != 0 {
		t.Error("a cluster whose API is away is well")
	}
}

// read prints metrics and reads them again: by name, with the labels in braces.
func read(t *testing.T, s *view.Snapshot) map[string]float64 {
	t.Helper()
	var out bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(&out)
	if err := printMetrics(cmd, s); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	all := map[string]float64{}
	for name, family := range families {
		for _, m := range family.Metric {
			labels := ""
			for _, l := range m.Label {
				labels += "," + l.GetName() + "=" + l.GetValue()
			}
			if labels != "" {
				labels = "{" + labels[1:] + "}"
			}
			all[name+labels] = m.GetGauge().GetValue()
		}
	}
	return all
}
