package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/images"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

func (c imageCommands) seed() *cobra.Command {
	var noReboot, move bool
	cmd := &cobra.Command{
		Use: "seed", Short: "Keep all images the node runs in a store that needs no registry", Args: cobra.NoArgs,
		Long: `Seed lists what the node needs, pulls what is missing, copies all of it into a read-only store beside CRI-O's own
(sharing blocks, so it takes next to no space), verifies it, and lets CRI-O know it. It changes nothing that is right
already. Where the cluster has no policy for it, the node reboots once; run the same command again after it.

With --move nothing is copied: the node reboots, and before CRI-O starts every layer is renamed into the store, those of
an earlier copy are removed, and CRI-O's own store is left without images. That takes less than a second and no space; but
there is one copy of each layer then, and only a registry can replace a damaged one. A power cut on the way is handled
by the next boot. ` + "`touchdown images status`" + ` tells what came of it.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg := site.New()
			cfg.Spec.Policy.SeedImages, cfg.Spec.Policy.AllowReboot = true, !noReboot
			if move && c.engine.noPower {
				return usage(errors.New("--move needs a reboot, which --no-power does not allow"))
			}
			return c.runSeed(cmd, &steps.Images{Site: cfg, Version: version, Move: move})
		},
	}
	c.engine.add(cmd)
	cmd.Flags().BoolVar(&move, "move", false, "reboot, and move the images into the store instead of copying them")
	cmd.Flags().BoolVar(&noReboot, "no-reboot", false, "fail rather than let the Machine Config Operator reboot the node")
	cmd.MarkFlagsMutuallyExclusive("move", "no-reboot")
	return cmd
}

func (c imageCommands) runSeed(cmd *cobra.Command, step *steps.Images) error {
	line, err := newBenchLine(c.target, cmd)
	if err != nil {
		return err
	}
	err = line.list([]steps.Stage{{Steps: []steps.Step{step}}}, "").Run(cmd.Context())
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == view.ChecksFailed {
		return errNotWhole
	}
	if err != nil {
		return interrupted(cmd.Context(), err)
	}
	if step.Move && images.MoveAsked(line.node.Host) {
		fmt.Fprintln(line.out, "The node reboots and moves its images. Then: touchdown images status")
		return c.powered(line.node).Reboot(cmd.Context(), "Touchdown moves the node's images into the store")
	}
	if !line.changed {
		fmt.Fprintln(line.out, "Nothing had to be changed.")
	}
	return nil
}

// errNotWhole ends a command whose checks say the rest.
var errNotWhole = errors.New("the node does not have all that it needs: see the checks above")

func (c imageCommands) verify() *cobra.Command {
	var quick, idle bool
	cmd := &cobra.Command{
		Use: "verify", Short: "Verify the image store, and repair what can be", Args: cobra.NoArgs,
		Long: `Verify compares every file of the store with its layer's list and reads each layer that was not read for a month,
against the digest of its image. A damaged layer is named with its images and its file, and repaired from CRI-O's own
store where that has it whole, else from the registry (or its mirror). --quick looks at names and sizes only: seconds instead of minutes.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			status, err := c.look(cmd, images.Look{Full: !quick, Idle: idle, Repair: true, Fetch: true})
			if err != nil {
				return err
			}
			printChecks(printed(cmd), status.Checks())
			if !status.Well() {
				return errNotWhole
			}
			return nil
		},
	}
	c.engine.add(cmd)
	cmd.Flags().BoolVar(&quick, "quick", false, "names and sizes only")
	cmd.Flags().BoolVar(&idle, "idle", false, "leave disk and processor to everybody else")
	return cmd
}

// open opens the node and its images, which the caller has to close.
func (c imageCommands) open() (*backend.Node, *images.Node, error) {
	node, err := c.benchNode()
	if err != nil {
		return nil, nil, err
	}
	here, err := images.Open(node.Host, node.Kube, node.Now)
	return node, here, err
}

// look looks at the images of this node, with its progress on a terminal's error line.
func (c imageCommands) look(cmd *cobra.Command, l images.Look) (images.Status, error) {
	_, here, err := c.open()
	if err != nil {
		return images.Status{}, err
	}
	defer here.Close()
	var told time.Time
	l.Tell = func(p progress.Progress) {
		if now := time.Now(); now.Sub(told) > 5*time.Second {
			told = now
			fmt.Fprintf(complaints(cmd), "... %s: %d of %d %s\n", p.Waiting, p.Done, p.Total, p.Unit)
		}
	}
	return here.Look(cmd.Context(), l)
}

func printChecks(w io.Writer, checks []check.Check) {
	for _, c := range checks {
		printCheck(w, c)
	}
}

func (c imageCommands) status() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Print what the last look at the image store found", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asJSON, err := c.json()
			if err != nil {
				return err
			}
			node, err := c.benchNode()
			if err != nil {
				return err
			}
			status, err := imagesStatus(node.Host)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd, status)
			}
			if !status.Looked.IsZero() {
				fmt.Fprintf(printed(cmd), "Looked at %s, generation %d.\n", status.Looked.Format("2006-01-02 15:04 UTC"), status.Generation)
			}
			printChecks(printed(cmd), imageChecks(node.Host, status))
			return nil
		},
	}
	c.engine.add(cmd)
	c.outputFlag(cmd)
	return cmd
}

// boot is what touchdown-images.service runs before CRI-O.
func (c imageCommands) boot() *cobra.Command {
	cmd := &cobra.Command{
		Use: "boot", Short: "Bring the image store in order before CRI-O opens it (a unit runs this)", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			node, err := c.benchNode()
			if err != nil {
				return err
			}
			return images.Boot(cmd.Context(), node.Host)
		},
	}
	c.engine.add(cmd)
	return cmd
}

// check is what touchdown-images-check.service runs after CRI-O.
func (c imageCommands) check() *cobra.Command {
	cmd := &cobra.Command{
		Use: "check", Short: "Count and resolve the images after a boot (a unit runs this)", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.afterBoot(cmd) },
	}
	c.engine.add(cmd)
	return cmd
}

func (c imageCommands) afterBoot(cmd *cobra.Command) error {
	node, err := c.benchNode()
	if err != nil {
		return err
	}
	if r, err := images.LoadRehearsal(node.Host); err == nil && r.Running() {
		return c.rehearsalBoot(cmd.Context(), node)
	}
	here, err := images.Open(node.Host, node.Kube, node.Now)
	if err != nil {
		return err
	}
	defer here.Close()
	return here.AfterBoot(cmd.Context())
}
