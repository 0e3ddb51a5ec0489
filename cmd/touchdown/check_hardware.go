package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/hardware/order"
	"touchdown/steps"
	"touchdown/steps/site"
)

// hardwareFlags are those of `check hardware`.
type hardwareFlags struct {
	order    string // a profile or a file
	diskTest bool
	sheet    *order.Sheet
}

func (f *hardwareFlags) add(cmd *cobra.Command) {
	orderFlag(cmd, &f.order, "judge the machine by a profile ("+strings.Join(order.Profiles(), ", ")+") or an order sheet")
	cmd.Flags().BoolVar(&f.diskTest, "disk-test", false, "write at most 22 MiB for about 30 s, and judge how fast the disk is; the API may be slow meanwhile; nothing is left behind")
}

// orderFlag is the same flag wherever a machine is judged by an order.
func orderFlag(cmd *cobra.Command, to *string, usage string) {
	cmd.Flags().StringVar(to, "order", "", usage)
	_ = cmd.RegisterFlagCompletionFunc("order", cobra.FixedCompletions(order.Profiles(), cobra.ShellCompDirectiveDefault))
}

// load reads the order sheet before anything is looked at.
func (f *hardwareFlags) load(watch bool) (err error) {
	if watch && f.diskTest {
		return usage(errors.New("--disk-test writes to the disk: it goes without --watch"))
	}
	if f.order != "" {
		if f.sheet, err = order.Load(f.order); err != nil {
			return usage(err)
		}
	}
	return nil
}

func (f *hardwareFlags) looker(node *backend.Node, cfg *site.Config) looker {
	step := &steps.Hardware{Order: f.sheet}
	if cfg.Kind != "" { // one was given
		step.Site = cfg
	}
	look := inspecting(step, node)
	if len(cfg.Spec.Wiring) > 0 || len(f.sheet.Wiring().Ports) > 0 {
		step.NodeNet = steps.NewNodeNetwork(node)
		look = waiting(step, node)
	}
	if !f.diskTest {
		return look
	}
	return func(ctx context.Context) ([]check.Check, error) {
		checks, err := look(ctx)
		if err != nil {
			return nil, err
		}
		return append(checks, hardware.DiskLatency(ctx, node.Host, func(int, int) {})), nil
	}
}

// waiting looks as the step does when it works: until each switch has announced itself, or should have.
func waiting(step *steps.Hardware, node *backend.Node) looker {
	return func(ctx context.Context) ([]check.Check, error) {
		var seen inspected
		err := step.Run(ctx, node, &seen)
		return seen.checks, err
	}
}

// fitness is the verdict in words.
func (c *checked) fitness() string {
	var failed []string
	for _, k := range c.Checks {
		if k.Status == check.Fail {
			failed = append(failed, k.Title.String())
		}
	}
	unseen := ""
	if n := c.Counts[check.Skip]; n > 0 {
		unseen = fmt.Sprintf(" %d checks could not look.", n)
	}
	if len(failed) == 0 {
		return "This machine is fit: no check failed." + unseen
	}
	return fmt.Sprintf("This machine is NOT fit: %s.%s", strings.Join(failed, "; "), unseen)
}
