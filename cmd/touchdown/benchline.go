package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/engine"
	"touchdown/steps/event"
)

// benchLine is the node for a list of steps that a command does and prints itself.
type benchLine struct {
	node *backend.Node
	dir  string // of the saved originals
	out  io.Writer

	changed bool // something was said: the machine is not as it was
}

// newBenchLine opens the node for a list.
func newBenchLine(t *target, cmd *cobra.Command) (*benchLine, error) {
	node, err := t.benchNode()
	if err != nil {
		return nil, err
	}
	return &benchLine{node: node, dir: filepath.Join(t.engine.factoryState(), "saved"), out: printed(cmd)}, nil
}

// benchNode opens the node for a command that works on it without the node's engine.
func (t *target) benchNode() (*backend.Node, error) {
	log := slog.New(slog.DiscardHandler)
	cluster, err := kube.Open(t.engine.kubeconfig, log)
	if err != nil {
		err = &problem.Problem{
			Code: "CLU-KCFG", Summary: message.T("The node's kubeconfig cannot be read."),
			Fix: message.T("Run this as root on the node, or name another kubeconfig with --kubeconfig."), Err: err,
		}
		if t.engine.kubeconfig != defaultKubeconfig {
			err = notThere(err)
		}
		return nil, err
	}
	if t.hooks.cluster != nil {
		t.hooks.cluster(cluster)
	}
	machine := host.Open(host.Options{Root: t.hooks.root, NoPower: true, Log: log})
	return &backend.Node{Host: machine, Kube: cluster, Now: time.Now, Log: log}, nil
}

// list is the engine's runner for a list of steps. Each step's title is printed with the text before it; without a text no title is.
func (b *benchLine) list(stages []steps.Stage, before string) *engine.Foreground {
	titles, waiting := map[string]string{}, ""
	for _, s := range stepsOf(stages) {
		titles[s.ID()] = s.Title().String()
	}
	each := func(e event.Event) {
		switch e.Kind {
		case event.Started, event.Undoing:
			waiting = ""
			if title := titles[e.Step]; title != "" && before != "" {
				fmt.Fprint(b.out, linef(before, title))
			}
		case event.Progressed: // what we are waiting for, once
			if w := e.Progress.Waiting; w.String() != "" && w.String() != waiting {
				waiting = w.String()
				fmt.Fprint(b.out, linef("  ... %s", w))
			}
		case event.Checked:
			printCheck(b.out, *e.Check)
		case event.Said: // steps say only what they changed
			b.changed = true
			fmt.Fprint(b.out, linef("  %s", e.Text))
		}
	}
	return &engine.Foreground{Node: b.node, Stages: stages, Dir: b.dir, Each: each}
}

// run does a list, and undo takes it back.
func (b *benchLine) run(ctx context.Context, stages []steps.Stage) error {
	return interrupted(ctx, b.list(stages, "%s").Run(ctx))
}

func (b *benchLine) undo(ctx context.Context, stages []steps.Stage) error {
	return interrupted(ctx, b.list(stages, "Taking back: %s").Undo(ctx))
}

// printCheck prints a verdict, and what to do where it did not pass.
func printCheck(w io.Writer, c check.Check) {
	fmt.Fprint(w, linef("  %-4s  %s: %s", c.Status, c.Title, c.Observed))
	if c.Status != check.Pass && c.Fix.String() != "" {
		fmt.Fprint(w, linef("        try: %s", c.Fix))
	}
	for _, line := range c.Evidence {
		fmt.Fprint(w, linef("        %s", line))
	}
}
