package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"

	"touchdown/test/bench/figures"
)

// moves is how often the move is repeated; the median counts.
const moves = 3

// shop is the site that the measured cluster becomes.
const shop = `apiVersion: touchdown.dev/v1alpha1
kind: SiteConfig
spec:
  clusterName: shop
  baseDomain: example.org
  policy: {stabilityWindow: 1s, keepGoingOnWarnings: true}
`

// outcome is one move.
type outcome struct {
	seconds, names, memory  float64
	writes, reads, restarts int
}

// move measures the whole job against stand-ins that react at once.
func move(ctx context.Context, s setup) (map[string]figures.Figure, error) {
	var all []outcome
	for range moves {
		o, err := oneMove(ctx, s)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	of := func(f func(outcome) float64) float64 {
		values := make([]float64, len(all))
		for i, o := range all {
			values[i] = f(o)
		}
		return median(values)
	}
	return map[string]figures.Figure{
		"job_s":                 figures.Goal(of(func(o outcome) float64 { return o.seconds }), "s", 15),
		"names_to_rolled_out_s": figures.Goal(of(func(o outcome) float64 { return o.names }), "s", 15),
		"api_writes": {
			Value: of(func(o outcome) float64 { return float64(o.writes) }), Unit: "requests", Against: "reads of the same job",
			Ratio: of(func(o outcome) float64 { return float64(o.writes) / float64(max(o.reads, 1)) }),
		},
		"kube_apiserver_restarts":   figures.Goal(of(func(o outcome) float64 { return float64(o.restarts) }), "modelled restarts", 2),
		"engine_resident_after_mib": figures.Goal(of(func(o outcome) float64 { return o.memory }), "MiB", 48),
	}, nil
}

func oneMove(ctx context.Context, s setup) (outcome, error) {
	l, err := newLab(ctx, s, "zero")
	if err != nil {
		return outcome{}, err
	}
	defer l.close()
	before, err := l.cluster.State()
	if err != nil {
		return outcome{}, err
	}
	args, err := l.applies()
	if err != nil {
		return outcome{}, err
	}
	if out, err := exec.CommandContext(ctx, s.binary, args...).CombinedOutput(); err != nil {
		return outcome{}, fmt.Errorf("touchdown apply: %w\n%s", err, out)
	}
	return l.outcome(ctx, before.RollOuts["kube-apiserver"].Done)
}

func (l *lab) outcome(ctx context.Context, restarts int) (outcome, error) {
	snapshot, err := l.snapshot(ctx)
	if err != nil {
		return outcome{}, err
	}
	after, err := l.cluster.State()
	if err != nil {
		return outcome{}, err
	}
	memory, err := resident(l.engine.Process.Pid)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{
		seconds: snapshot.Ended.Sub(snapshot.Started).Seconds(), memory: memory.all,
		writes: after.WriteTotal, reads: after.ReadTotal, restarts: after.RollOuts["kube-apiserver"].Done - restarts,
	}
	for _, stage := range snapshot.Stages {
		for _, step := range stage.Steps {
			if stage.ID == "relocation" {
				o.names += step.Seconds
			}
		}
	}
	return o, nil
}

// median is the middle of an odd number of values.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
