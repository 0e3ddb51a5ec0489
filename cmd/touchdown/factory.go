package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"touchdown/backend/factory"
	"touchdown/backend/factory/second"
	"touchdown/backend/host"
	"touchdown/backend/kubelet"
	"touchdown/backend/media"
	"touchdown/steps"
)

func bakeCommand(t *target) *cobra.Command {
	var dry bool
	var o steps.BakeOptions
	var out, pinFile string
	var addresses []string
	var trusted trustedKeys
	cmd := &cobra.Command{
		Use: "bake", Short: "Make an installed single-node OpenShift ready to be moved", Args: cobra.NoArgs,
		Long: `Bake lets the node keep the address that the cluster was installed with, whatever a site's network is, lets it
answer the cluster's names itself, and installs Touchdown and its units. It switches the default catalog sources of
OperatorHub off, whose pods do not start without a registry (--keep-catalogs leaves them on). With --console-pin-file
the node's consoles lock when nobody uses them, until a site config sets another PIN. The node takes this as
MachineConfigs and reboots once; run the same command again after it. It changes nothing that is right already, and
says so. Last it writes the factory's record.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out != "" {
				return writeManifests(printed(cmd), out, addresses)
			}
			var err error
			if o.MediaKeys, o.ReleaseKeys, err = trusted.read(cmd); err != nil {
				return err
			}
			if pinFile != "" {
				if o.PIN, err = readPIN(cmd, pinFile); err != nil {
					return err
				}
			}
			return bake(t, cmd, dry, o)
		},
	}
	t.engine.add(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would change")
	cmd.Flags().BoolVar(&o.KeepCatalogs, "keep-catalogs", false, "leave the default catalog sources on; the rehearsal without registries cannot pass then")
	cmd.Flags().BoolVar(&o.Arm, "arm", false, "at the end let the next boot wait for the site")
	cmd.Flags().StringVar(&pinFile, "console-pin-file", "", "file with the PIN that opens an idle console; - asks for it")
	cmd.Flags().StringVar(&out, "out", "", "write the MachineConfigs as YAML into this folder and do nothing else: for install manifests")
	cmd.Flags().StringSliceVar(&addresses, "address", host.DefaultOwn.Texts(), "with --out: the node's address in the installation, IPv4 or IPv6; one of the other family may follow")
	cmd.MarkFlagsMutuallyExclusive("out", "dry-run")
	trusted.add(cmd)
	cmd.MarkFlagsMutuallyExclusive("out", "arm")
	cmd.MarkFlagsMutuallyExclusive("out", mediaKeyFlag)
	cmd.MarkFlagsMutuallyExclusive("out", releaseKeyFlag)
	cmd.MarkFlagsMutuallyExclusive("out", "console-pin-file")
	return cmd
}

func unbakeCommand(t *target) *cobra.Command {
	cmd := &cobra.Command{
		Use: "unbake", Short: "Take back what bake did", Args: cobra.NoArgs,
		Long: `Unbake removes the MachineConfigs and puts the port's profile, the policies and OperatorHub back. The node reboots once;
run the same command again after it. The site config that the factory put in is wiped. The program itself stays.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return unbake(t, cmd) },
	}
	t.engine.add(cmd)
	return cmd
}

// writeManifests is for sites that bake while they install.
func writeManifests(w io.Writer, dir string, addresses []string) error {
	own, err := host.NewOwn(addresses)
	if err != nil {
		return usage(fmt.Errorf("--address: %w", err))
	}
	all, err := factory.Manifests(own)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usage(err)
	}
	var files []host.File
	for _, m := range all {
		f := host.File{Path: filepath.Join(dir, m.Name+".yaml"), Data: m.YAML, Perm: 0o644}
		if err := (named{flag: "out", file: f.Path, replaces: true}).mayWrite(); err != nil {
			return err
		}
		files = append(files, f)
	}
	// All or none: an installation with some of them would be baked by half.
	if err := host.WriteFilesAtomic(files...); err != nil {
		return fmt.Errorf("writing the MachineConfigs: %w", err)
	}
	for _, f := range files {
		fmt.Fprintln(w, f.Path)
	}
	return nil
}

func bake(t *target, cmd *cobra.Command, dry bool, o steps.BakeOptions) error {
	line, err := newBenchLine(t, cmd)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	if o.Arm {
		if err := second.AloneMay(line.node.Host); err != nil {
			return err
		}
	}
	o.Armed = o.Arm && kubelet.Gated(line.node.Host) && host.HasKubelet(line.node.Host)
	list := steps.Bake(version, program, o)
	if dry {
		return planBake(cmd.Context(), line, list)
	}
	if err := line.run(cmd.Context(), list); err != nil {
		return err
	}
	if !line.changed {
		fmt.Fprintln(line.out, "Nothing had to be changed.")
	}
	return nil
}

// bakeCheck is the step that only looks: a dry run runs it.
const bakeCheck = "bake-check"

func planBake(ctx context.Context, line *benchLine, list []steps.Stage) error {
	for _, s := range stepsOf(list) {
		if s.ID() == bakeCheck {
			if err := line.list([]steps.Stage{{Steps: []steps.Step{s}}}, "").Run(ctx); err != nil {
				return err
			}
		}
		p, ok := s.(steps.Planner)
		if !ok {
			continue
		}
		plan, err := p.Plan(ctx, line.node)
		if err != nil {
			return err
		}
		for _, ch := range plan.Changes {
			fmt.Fprint(line.out, linef("would change  %s: %s", ch.What, ch.New))
		}
		for _, d := range plan.Disturbances {
			fmt.Fprint(line.out, linef("would cause   %s: %s", d.What, d.Cause))
		}
	}
	return nil
}

func unbake(t *target, cmd *cobra.Command) error {
	line, err := newBenchLine(t, cmd)
	if err != nil {
		return err
	}
	if err := line.undo(cmd.Context(), steps.Bake(version, "", steps.BakeOptions{Arm: true})); err != nil {
		return err
	}
	// The undo of a bake within the list leaves the note of the site config, so that the seal refuses a node that lost it. Whoever takes
	// back the bake itself has done with it: the next list needs none.
	was, err := media.Of(line.node.Host).TakeBack()
	if err != nil {
		return err
	}
	if was {
		fmt.Fprintln(line.out, "The site config that was in the node is wiped and forgotten; touchdown factory --site FILE puts one in again.")
	}
	if !line.changed && !was {
		fmt.Fprintln(line.out, "There was nothing to take back.")
	}
	return nil
}

// interrupted explains an end in the middle: as a rule it is the node's own reboot.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fmt.Errorf("stopped on the way, by the node's reboot or by a person; run the same command again: %w", err)
	}
	return err
}

func stepsOf(list []steps.Stage) []steps.Step {
	var all []steps.Step
	for _, stage := range list {
		all = append(all, stage.Steps...)
	}
	return all
}
