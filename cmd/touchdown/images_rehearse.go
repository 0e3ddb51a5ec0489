package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"touchdown/backend"
	"touchdown/backend/host"
	"touchdown/backend/images"
)

func (c imageCommands) rehearse() *cobra.Command {
	var last bool
	cmd := &cobra.Command{
		Use: "rehearse", Short: "Boot the node with no registry and nothing but the seeded store", Args: cobra.NoArgs,
		Long: `Rehearse reboots the node with every registry blocked and CRI-O's own store empty, as it would be after the worst day
at a site. It waits until all pods are back, notes every image that was missed and who wanted it, and reboots the node
as it was. ` + "`touchdown images rehearse --last`" + ` prints what was found. A power cut on the way ends the rehearsal; the next
boot is an ordinary one.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if last {
				return c.lastRehearsal(cmd)
			}
			return c.runRehearsal(cmd)
		},
	}
	c.engine.add(cmd)
	cmd.Flags().BoolVar(&last, "last", false, "only print what the last rehearsal found")
	return cmd
}

func (c imageCommands) lastRehearsal(cmd *cobra.Command) error {
	node, err := c.benchNode()
	if err != nil {
		return err
	}
	r, err := images.LoadRehearsal(node.Host)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there was no rehearsal yet")
	case err != nil:
		return err
	case !r.Over():
		return fmt.Errorf("the rehearsal is not over yet (%s); ask again when the node has rebooted", r.Phase)
	}
	printCheck(printed(cmd), r.Check())
	if !r.Passed() {
		return errNotWhole
	}
	return nil
}

func (c imageCommands) runRehearsal(cmd *cobra.Command) error {
	node, here, err := c.open()
	if err != nil {
		return err
	}
	defer here.Close()
	ctx := cmd.Context()
	list, err := here.Wanted(ctx, images.Listing{Offline: true})
	if err != nil {
		return err
	}
	if _, err := here.AskRehearsal(ctx, list); err != nil {
		return err
	}
	fmt.Fprintf(printed(cmd), "The node reboots for the rehearsal, and once more after it. Then: touchdown images rehearse --last\n")
	return c.powered(node).Reboot(ctx, "Touchdown rehearses a start without registries")
}

// powered is the node with power over itself, where the flags allow it.
func (c imageCommands) powered(node *backend.Node) *host.Machine {
	return host.Open(host.Options{Root: c.hooks.root, NoPower: c.engine.noPower, Log: node.Log})
}

// rehearsalBoot looks at the node in the boot that is the rehearsal, and ends it with a reboot whatever it found.
func (c imageCommands) rehearsalBoot(ctx context.Context, node *backend.Node) error {
	here, err := images.Open(node.Host, node.Kube, node.Now)
	if err != nil {
		return err
	}
	defer here.Close()
	_, err = here.Rehearse(ctx)
	return errors.Join(err, c.powered(node).Reboot(ctx, "the rehearsal is over"))
}
