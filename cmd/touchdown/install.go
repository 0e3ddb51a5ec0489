package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/engine"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// installCommands are the commands of the manual install; they ask the engine whether work is under way.
type installCommands struct{ *connection }

func (c installCommands) install() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "install", Short: "Put the engine and the wizard on this machine, and start them", Args: cobra.NoArgs,
		Long: `Install copies this program to ` + layout.Program + `, lays the units of the engine and the consoles, and
starts them: the wizard opens on tty1, on the first serial line and on every console of the kernel. It is for a
node that is being tried or is a lab's, with OpenShift on it; it changes no network, no kubelet and no image store. What
is right already stays, so it can be repeated, and a newer version is installed in the same way.

A node that left the factory has the same units from a MachineConfig; there ` + "`touchdown factory bake`" + ` brings a new
version, and install refuses.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			manual, err := c.manualInstall(cmd, dry)
			if err != nil {
				return err
			}
			return manual.Install(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	return cmd
}

func (c installCommands) uninstall() *cobra.Command {
	var dry, purge, yes bool
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Take away what install laid", Args: cobra.NoArgs,
		Long: `Uninstall stops the engine and the consoles, removes the files that install laid, and gives the lines back to the
machine's own logins. A file that was changed since stays, and is named. While work or an update is under way nothing is
removed. A run that was cut off, or in which something failed, is repeated, and does what is left.
Answers, journal, report and the saved originals stay in ` + layout.State + `: with them another install goes on where
this one was. --purge removes them too; then nothing of the job can be undone any more.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if purge && !yes && !dry {
				if err := c.mayPurge(cmd); err != nil {
					return err
				}
			}
			manual, err := c.manualInstall(cmd, dry)
			if err != nil {
				return err
			}
			if err := manual.Uninstall(cmd.Context()); err != nil {
				return err
			}
			return c.leave(manual, purge)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	cmd.Flags().BoolVar(&purge, "purge", false, "remove answers, journal, report and saved originals too")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before --purge")
	return cmd
}

// manualInstall is this program on this machine.
func (c installCommands) manualInstall(cmd *cobra.Command, dry bool) (*factory.ManualInstall, error) {
	file, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	program, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading this program: %w", err)
	}
	return &factory.ManualInstall{
		Host: host.Open(host.Options{Root: c.hooks.root, NoPower: true, Log: slog.New(slog.DiscardHandler)}), Program: program, Cluster: defaultKubeconfig, Dry: dry,
		Say:  func(format string, args ...any) { fmt.Fprintf(printed(cmd), format+"\n", args...) },
		Idle: func(ctx context.Context) error { return c.idle(ctx, cmd) }, Between: 500 * time.Millisecond,
	}, nil
}

// idle refuses while work is under way, or may be.
func (c installCommands) idle(ctx context.Context, cmd *cobra.Command) error {
	engine := c.client()
	if err := c.wake(ctx, complaints(cmd), engine); errors.Is(err, session.ErrNoEngine) {
		machine := host.Open(host.Options{Root: c.hooks.root})
		if _, gone := os.Stat(filepath.Join(c.engine.state, layout.JournalFile)); errors.Is(gone, os.ErrNotExist) || !c.installed(machine) {
			return nil // nothing was ever begun here, or nothing starts the engine: an uninstall came to this, and had asked before
		}
		return &problem.Problem{
			Code: "HND-DUMB", Summary: message.T("The engine does not answer, so it is not known whether work is under way."),
			Fix: message.F("See why with `journalctl -u touchdown-engine`. To give up what was begun, move %s away.", c.engine.state), Err: err,
		}
	}
	snapshot, err := engine.Snapshot(ctx)
	if err != nil {
		return explainClient(err)
	}
	switch snapshot.State {
	case view.Inspecting, view.Collecting, view.Reviewed, view.IsDone, view.IsUndone:
		return nil
	}
	return &problem.Problem{
		Code: "HND-BUSY", Summary: message.F("Work is under way on this node, or has stopped on its way (%s).", snapshot.State),
		Fix: message.T("Let it come to its end at the wizard, or put everything back with `touchdown undo`; then run the same command again."),
	}
}

// mayPurge asks whether answers and originals may go.
func (c installCommands) mayPurge(cmd *cobra.Command) error {
	if terminal(cmd) == nil {
		return usage(&problem.Problem{
			Code: "HND-ASK", Summary: message.T("Nobody can be asked here: this is not a terminal."), Fix: message.T("Look with --dry-run, then remove with --purge --yes."),
		})
	}
	return confirmed(cmd, "Remove answers, journal, report and saved originals in "+c.engine.state+" for good?")
}

// leave removes what the work left, or says where it is.
func (c installCommands) leave(h *factory.ManualInstall, purge bool) error {
	if _, err := os.Stat(c.engine.state); err != nil {
		return nil
	}
	switch {
	case !purge:
		h.Say("kept          %s: answers, journal, report, saved originals (--purge)", c.engine.state)
	case h.Dry:
		h.Say("would remove  %s", c.engine.state)
	default:
		if err := engine.Purge(c.engine.state); err != nil {
			return err
		}
		h.Say("removed       %s", c.engine.state)
	}
	return nil
}
