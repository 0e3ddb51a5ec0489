package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/spf13/cobra"

	"touchdown/backend/check"
	"touchdown/steps/view"
)

// jobStates are all states of a job: a series that is not there cannot be alerted on.
var jobStates = []view.State{
	view.Inspecting, view.Collecting, view.Reviewed, view.Working, view.InQuestion, view.HasFailed, view.UndoingAll,
	view.IsDone, view.IsUndone,
}

// printMetrics prints a snapshot in the text format of Prometheus, as the textfile collector of node_exporter reads it.
func printMetrics(cmd *cobra.Command, s *view.Snapshot) error {
	for _, family := range metrics(s) {
		if _, err := expfmt.MetricFamilyToText(printed(cmd), family); err != nil {
			return fmt.Errorf("printing metrics: %w", err)
		}
	}
	return nil
}

// metrics are the figures of a snapshot: where the job is, and how the cluster of a landed node is now. What is not known has no figure.
func metrics(s *view.Snapshot) []*dto.MetricFamily {
	var all []*dto.MetricFamily
	//nolint:unparam // new(expression), which the linter does not know yet
	add := func(name, help string, one ...*dto.Metric) {
		if len(one) > 0 {
			all = append(all, &dto.MetricFamily{Name: new("touchdown_" + name), Help: &help, Type: dto.MetricType_GAUGE.Enum(), Metric: one})
		}
	}
	add("info", "What is at work on the node, as labels; the value is always 1.",
		gauge(1, "version", s.Version, "hostname", s.Hostname, "serial", s.Serial, "cluster", s.Cluster, "life", s.Life))
	add("read_timestamp_seconds", "When these figures were read, by the node's clock.", moment(s.Now)...)
	var states []*dto.Metric
	for _, state := range jobStates {
		states = append(states, gauge(truth(s.State == state), "state", string(state)))
	}
	add("state", "1 for the state that the job is in, 0 for all others.", states...)
	add("started_timestamp_seconds", "When the work began.", moment(s.Started)...)
	add("ended_timestamp_seconds", "When the work ended.", moment(s.Ended)...)
	add("work_seconds", "How long the job worked; waiting for people is not work.", gauge(s.Worked))
	var failed []*dto.Metric
	if s.Problem != nil {
		failed = append(failed, gauge(1, "code", s.Problem.Code))
	}
	add("problem", "1 while the job has stopped with a failure that has this code.", failed...)
	if s.Live == nil {
		return all
	}
	var counts, faults []*dto.Metric
	for _, status := range []check.Status{check.Pass, check.Warn, check.Fail, check.Skip} {
		counts = append(counts, gauge(float64(s.Live.Counts[status]), "status", string(status)))
	}
	for _, c := range s.Live.Checks {
		faults = append(faults, gauge(1, "id", c.ID, "status", string(c.Status)))
	}
	add("cluster_checks", "How many checks of the landed node's cluster end how.", counts...)
	add("cluster_check_faulty", "1 for each check of the cluster that fails or warns.", faults...)
	add("cluster_well", "1 while no check of the cluster fails and its API answers.", gauge(truth(s.Live.Status != check.Fail && s.Live.Away.IsZero())))
	add("cluster_since_timestamp_seconds", "Since when that is so.", moment(s.Live.Since)...)
	return all
}

// gauge is one figure with labels, in pairs of name and value.
func gauge(value float64, labels ...string) *dto.Metric {
	m := &dto.Metric{Gauge: &dto.Gauge{Value: &value}}
	for pair := range slices.Chunk(labels, 2) {
		m.Label = append(m.Label, &dto.LabelPair{Name: &pair[0], Value: new(strings.ToValidUTF8(pair[1], "?"))})
	}
	return m
}

// moment is a time as a figure, or none for a time that did not come.
func moment(at time.Time) []*dto.Metric {
	if at.IsZero() {
		return nil
	}
	return []*dto.Metric{gauge(float64(at.UnixMilli()) / 1000)}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
