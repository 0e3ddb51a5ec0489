package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/engine"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// wiping is the command that takes from a node what Touchdown keeps on it.
type wiping struct {
	*connection
	dry, giveUp bool
	statement   string // file for what the node signs about its wipe
}

func wipeCommand(c *connection) *cobra.Command {
	w := &wiping{connection: c}
	cmd := &cobra.Command{
		Use: "wipe NODE", Short: "Remove what Touchdown keeps on a node that is sold or scrapped", Args: cobra.ExactArgs(1),
		Long: `Wipe overwrites and removes all that Touchdown keeps on this node: answers and secrets of its site, saved originals, journal, reports
and their signing key, keys for site media, a site config from the factory, what waits for a monitor with its token, the PIN of the
consoles, the backup of the cluster's state, records of earlier sites, and those of the bench line. Nothing of it can be brought back, and
nothing can be undone afterwards. NODE is the host name or the serial number of the node, to confirm. --dry-run lists what would go.
Of a symbolic link only the link is removed: --dry-run names the target, which stays.

It refuses while work is under way. A landing that failed, or whose hand-over was not accepted, could be undone (touchdown undo); --give-up
wipes all the same. After a power cut the engine finishes the wipe before it does anything else.

With --statement FILE, outside of this node's disk, the node signs that it is wiped, with the key of its reports, which goes with the
rest. Until all is wiped it is FILE.part, which no ledger takes; after a power cut run the same command again. touchdown ledger wiped takes FILE.

` + notWiped,
		Example: "  touchdown wipe --dry-run sno-042\n  touchdown wipe sno-042",
		RunE:    func(cmd *cobra.Command, args []string) error { return w.run(cmd, args[0]) },
	}
	cmd.Flags().BoolVar(&w.dry, "dry-run", false, "only list what would be wiped")
	cmd.Flags().StringVar(&w.statement, "statement", "", "write what the node signs about its wipe into this file, which must not exist unless this wipe wrote it; for touchdown ledger wiped")
	cmd.Flags().BoolVar(&w.giveUp, "give-up", false, "wipe although a landing could still be undone, or no engine answers")
	return cmd
}

// notWiped says what a person has to see to otherwise.
const notWiped = `It does not erase the cluster: its database (etcd) with every Secret, its certificates and kubeconfigs below /etc/kubernetes and
/var/lib/kubelet, container images and volumes, network profiles with their passwords, the system's journal, the site's authorities in
/etc/pki/ca-trust, and Touchdown's program, units and settings stay. Until the disk is erased the wizard can be used on this node by
everyone at its consoles, and the cluster of a sealed node starts at the next boot. Nor does it reach the BMC, sticks and copies of reports, or old blocks of a disk: flash and copy-on-write disks keep some of what
is overwritten. Before the machine leaves your hands erase its whole disk (the disk's own secure erase), which does all of that.`

func (w *wiping) run(cmd *cobra.Command, typed string) error {
	machine := host.Open(host.Options{Root: w.hooks.root, NoPower: true})
	if !isCalled(machine, typed) {
		if err := knowsSerial(machine); err != nil {
			return err
		}
		name, _ := machine.Hostname()
		return usage(&problem.Problem{
			Code: "WPE-ELSE", Summary: message.F("%s is not this node: its name is %q and its serial number %q. Nothing was wiped.", typed, name, machine.Serial()),
			Fix: message.T("Go to the node that is meant, or give the name or the serial number of this one: touchdown wipe NODE."),
		})
	}
	if w.dry {
		return w.list(cmd)
	}
	if err := w.mayStop(cmd, machine); err != nil {
		return err
	}
	state, err := w.state(machine)
	if err != nil {
		return err
	}
	err = w.withoutEngine(cmd.Context(), machine, func() error {
		// A line that hangs up does not end it: what is left of the records would be of no use.
		if err := engine.WipeAll(context.WithoutCancel(cmd.Context()), w.engine.state, w.giveUp); err != nil {
			return err
		}
		return state.isTrue()
	})
	if err != nil {
		if !w.begun() {
			state.drop(machine)
		}
		return err
	}
	if state != nil && !state.done.IsZero() {
		fmt.Fprintf(printed(cmd), "%s states this wipe already: an earlier run wiped the node on %s.\n", state.file, state.done.UTC().Format(time.RFC3339))
	}
	fmt.Fprintf(printed(cmd), "Touchdown keeps nothing of this node and its sites in %s any more.\n\n%s\n", w.engine.state, notWiped)
	return nil
}

// begun tells whether a wipe of this node is under way.
func (w *wiping) begun() bool { return engine.WipeBegun(w.engine.state) }

// mayStop refuses to stop an engine that is at work, or that does not answer.
func (w *wiping) mayStop(cmd *cobra.Command, machine *host.Machine) error {
	client := w.client()
	err := w.wake(cmd.Context(), complaints(cmd), client)
	var s *view.Snapshot
	if err == nil {
		s, err = client.Snapshot(cmd.Context())
	}
	switch {
	case errors.Is(err, session.ErrNoEngine) && (w.giveUp || w.begun() || !w.installed(machine)): // the records tell whether there was a job
		return nil
	case errors.Is(err, session.ErrNoEngine):
		return &problem.Problem{
			Code: "WPE-DUMB", Summary: message.T("The engine does not answer, so it is not known whether work is under way. Nothing was wiped."),
			Fix: message.T("See why with `journalctl -u touchdown-engine`, or wipe all the same: touchdown wipe --give-up NODE."), Err: err,
		}
	case err != nil:
		return explainClient(err)
	}
	switch s.State {
	case view.Working, view.InQuestion, view.UndoingAll:
		return &problem.Problem{
			Code: "WPE-BUSY", Summary: message.F("Work is under way on this node (%s). Nothing was wiped.", s.State),
			Fix: message.T("Let it come to its end, or put everything back with `touchdown undo`; then run the same command again."),
		}
	}
	return nil
}

// list prints what would be wiped, and changes nothing.
func (w *wiping) list(cmd *cobra.Command) error {
	entries, err := os.ReadDir(w.engine.state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("listing what would be wiped: %w", err)
	}
	var links []string
	for _, entry := range entries {
		files, bytes := 0, int64(0)
		path := filepath.Join(w.engine.state, entry.Name())
		err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if d.Type()&fs.ModeSymlink != 0 {
				links = append(links, name)
			}
			info, err := d.Info()
			if err == nil {
				files, bytes = files+1, bytes+info.Size()
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("listing what would be wiped: %w", err)
		}
		fmt.Fprintf(printed(cmd), "would wipe  %s: files %d, bytes %d\n", path, files, bytes)
	}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil {
			return fmt.Errorf("listing what would be wiped: %w", err)
		}
		whole := target
		if !filepath.IsAbs(whole) {
			whole = filepath.Join(filepath.Dir(link), target)
		}
		if in, err := filepath.Rel(w.engine.state, whole); err != nil || !filepath.IsLocal(in) { // one that leads to what is wiped too needs no word
			fmt.Fprintf(printed(cmd), "would stay  %s, to which the symbolic link %s leads: only the link is removed\n", whole, link)
		}
	}
	fmt.Fprintf(printed(cmd), "\n%s\n", notWiped)
	return nil
}

// withoutEngine does something while the node's engine is stopped, and starts it again, after a failure too: no node stays without its engine.
func (c *connection) withoutEngine(ctx context.Context, machine *host.Machine, do func() error) (err error) {
	unit := c.installed(machine)
	for range engineStops {
		if unit {
			if _, err := machine.Run(ctx, "systemctl", "stop", engineUnit); err != nil {
				return fmt.Errorf("stopping the engine: %w", err)
			}
		}
		if err = do(); !unit || err == nil || problem.From(err).Code != "ENG-BUSY" {
			break
		}
	}
	if unit {
		err = errors.Join(err, restart(context.WithoutCancel(ctx), machine, c.client()))
	}
	return err
}

// finishWipe goes on with a wipe that a power cut has interrupted, before an engine reads the records that are left. An engine that is
// stopped meanwhile leaves the rest to the next one.
func (f *engineFlags) finishWipe(ctx context.Context) error {
	if !engine.WipeBegun(f.state) {
		return nil
	}
	return engine.WipeAll(ctx, f.state, true)
}

// wipeBegun tells of a wipe that the node's next engine ends before it answers anybody.
func wipeBegun(machine *host.Machine) bool { return engine.WipeBegun(machine.Path(layout.State)) }
