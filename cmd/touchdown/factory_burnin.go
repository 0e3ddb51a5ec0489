package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"touchdown/backend/factory"
	"touchdown/backend/hardware/burnin"
	"touchdown/backend/host"
)

// prepareWishes reads what is wanted of the hardware and of the seal before anything is changed, and returns what keeps it on the node.
func (f *factoryFlags) prepareWishes(cmd *cobra.Command, m *host.Machine) (func(*host.Machine) error, error) {
	keepOrder, err := f.prepareOrder()
	if err != nil {
		return nil, err
	}
	askBurnIn, err := f.prepareBurnIn()
	if err != nil {
		return nil, err
	}
	keepSecond, err := f.second.prepare(cmd, m, f.by, f.unattended && !f.dryRun)
	if err != nil {
		return nil, err
	}
	return func(m *host.Machine) error { return errors.Join(keepOrder(m), askBurnIn(m), keepSecond(m)) }, nil
}

// prepareBurnIn reads how long the burn-in takes before anything is changed, and returns what keeps the wish for it on the node.
func (f *factoryFlags) prepareBurnIn() (func(*host.Machine) error, error) {
	if f.burnIn == "" {
		return func(*host.Machine) error { return nil }, nil
	}
	d, err := burnin.Parse(f.burnIn)
	if err != nil {
		return nil, fmt.Errorf("--burn-in %w", err)
	}
	return func(m *host.Machine) error { return burnin.Ask(m, factory.Stay(m), d) }, nil
}

// burnInWorker is the process that loads the machine, which burnin.Test starts. It leaves alone a node that is not on the bench line.
func burnInWorker(h hooks) *cobra.Command {
	return &cobra.Command{
		Use: burnin.WorkerCommand, Short: "Load the machine for touchdown factory --burn-in", Args: cobra.MaximumNArgs(1), Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !factory.OnLine(host.Open(host.Options{Root: h.root, NoPower: true})) {
				return usage(fmt.Errorf("%s is for a node on the bench line, where touchdown factory --burn-in starts it", burnin.WorkerCommand))
			}
			order := ""
			if len(args) == 1 {
				order = args[0]
			}
			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			return burnin.Serve(ctx, order, os.Stdin, printed(cmd))
		},
	}
}
