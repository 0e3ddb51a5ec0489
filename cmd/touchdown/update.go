package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/update"
	"touchdown/steps/updates"
	"touchdown/steps/view"
)

// updating is one call of touchdown update.
type updating struct {
	*connection
	cmd       *cobra.Command
	machine   *host.Machine
	key       string
	stick     string // "sdb1", anyStick, or "" for a folder
	sum       string // of the program, where no other may be installed: a console asked for this one
	back, dry bool
	older     bool
}

func updateCommand(c *connection) *cobra.Command {
	u := &updating{connection: c}
	cmd := &cobra.Command{
		Use: "update [FOLDER | --from-stick]", Short: "Replace Touchdown on this node by a signed release, or go back to the one before", Args: cobra.MaximumNArgs(1),
		Long: `Update takes the program out of a folder with a release: touchdown, SHA256SUMS and SHA256SUMS.sig, as
"make release KEY=FILE" makes them. The signature has to be of a key that this node trusts for releases (touchdown factory
--release-key), or of the one that --key names; a key for site media signs none. With --from-stick these files are on the stick in
the machine, which is read without mounting it, by a process without privileges; touchdown media write --release makes one. A
release that is older than the node's program is refused without --older. A console asks a person whether the release on a stick is
installed; with an order on the stick (touchdown media write --release --unattended) the node does it with nobody there. First the engine's unit runs the new program
beside the node's own; only when that engine has answered does the program take the place of
` + layout.Program + `, and engine and consoles are started again with it.
Journal, answers, originals and report stay. Nothing of the network, the cluster and the units is touched.

Where the new engine does not answer, the node keeps the program that it had. So it does after a power cut: the trial is
known to no boot, and the node starts with the old program, or with the new one where its engine had answered. When this
command itself is killed, systemd ends the trial within 15 minutes. In each case the same command can be run again.

--back goes back to the program before, which stays on the node, in the same way. While work is under way nothing is
replaced.`,
		Example: `  touchdown update --from-stick
  touchdown update /var/tmp/release --dry-run
  touchdown update --back`,
		RunE: func(cmd *cobra.Command, args []string) error {
			u.cmd, u.machine = cmd, host.Open(host.Options{Root: c.hooks.root, NoPower: true, Log: slog.New(slog.DiscardHandler)})
			switch {
			case u.back && (len(args) > 0 || u.key != "" || u.stick != "" || u.sum != "" || u.older):
				return usage(errors.New("--back needs no release: the program before is on the node"))
			case u.back:
				return u.goBack(cmd.Context())
			case len(args) == 0 && u.stick == "":
				return usage(errors.New("name the folder with the release, or give --from-stick or --back"))
			case len(args) > 0 && u.stick != "":
				return usage(fmt.Errorf("give the folder or --from-stick; a volume is named with --from-stick=%s", args[0]))
			}
			return u.told(u.install(cmd.Context(), args))
		},
	}
	cmd.Flags().StringVar(&u.key, "key", "", "public half of the key that signed the release (PEM, from touchdown media keygen --release), in place of those that the node trusts")
	cmd.Flags().StringVar(&u.stick, "from-stick", "", "take the release from the stick in the machine; =sdb1: from that volume")
	cmd.Flags().Lookup("from-stick").NoOptDefVal = anyStick
	cmd.Flags().StringVar(&u.sum, "sha256", "", "install only the program with this SHA-256, as SHA256SUMS has it; a console gives that of the release that it has shown")
	cmd.Flags().BoolVar(&u.older, "older", false, "install a release that is older than the program of the node, too")
	cmd.Flags().BoolVar(&u.back, "back", false, "go back to the program before")
	cmd.Flags().BoolVar(&u.dry, "dry-run", false, "check signature and program, and change nothing")
	return cmd
}

// anyStick is --from-stick without a name.
const anyStick = "*"

// release reads the release that was asked for.
func (u *updating) release(ctx context.Context, args []string, keys update.Keys) (*update.Release, error) {
	if u.stick != "" {
		return u.fromStick(ctx, strings.TrimPrefix(u.stick, anyStick), keys)
	}
	folder, err := filepath.Abs(args[0])
	if err != nil {
		return nil, fmt.Errorf("finding the folder of the release: %w", err)
	}
	release, err := update.Read(folder, keys)
	return release, notThere(err)
}

func (u *updating) install(ctx context.Context, args []string) error {
	if err := u.here(); err != nil {
		return err
	}
	keys, err := u.keys()
	if err != nil {
		return err
	}
	release, err := u.release(ctx, args, keys)
	if err != nil {
		return err
	}
	u.say("The release is signed by the key %s.", release.Signer)
	switch {
	case u.sum != "" && !strings.EqualFold(u.sum, release.Sum()):
		return &problem.Problem{
			Code: "UPD-ELSE", Summary: message.T("The program of this release is not the one that was asked for. Nothing was changed."),
			Fix: message.T("Put in the stick that was there when you were asked, or look at this release and answer again."),
		}
	case release.Is(u.machine):
		u.say("This node has that program already. Nothing was changed.")
		return nil
	case u.dry:
		said, err := release.Try(ctx, u.machine, u.older)
		if err == nil {
			u.say("The program starts here: %s\nNothing was changed.", said)
		}
		return err
	}
	if err := u.change(ctx, func(c *update.Change) error { return c.To(ctx, release) }); err != nil {
		return err
	}
	u.say("This node has the program of the release now. `touchdown update --back` goes back to the one before.")
	return nil
}

// told notes how an update ended for the consoles that asked for it.
func (u *updating) told(err error) error {
	if u.sum == "" || u.dry {
		return err
	}
	return errors.Join(err, updates.End(u.machine, u.sum, err, time.Now()))
}

func (u *updating) goBack(ctx context.Context) error {
	if err := u.here(); err != nil {
		return err
	}
	if u.dry {
		u.say("Nothing was changed.")
		return nil
	}
	if err := u.change(ctx, func(c *update.Change) error { return c.Back(ctx) }); err != nil {
		return err
	}
	u.say("This node has the program before again.")
	return nil
}

// change exchanges the program, and has the consoles begin again with it.
func (u *updating) change(ctx context.Context, to func(*update.Change) error) error {
	if err := u.rests(ctx); err != nil {
		return err
	}
	c := &update.Change{Node: u.machine, Engine: u.installed(u.machine), Answer: u.answer, Say: u.say, Older: u.older}
	if err := to(c); err != nil || !c.Engine {
		return err
	}
	if _, err := u.machine.Run(ctx, "systemctl", "--no-block", "try-restart", "touchdown-console@*.service"); err != nil {
		u.say("A console still has the other program, until a person leaves the wizard there.")
	}
	return nil
}

// answer is the version of the engine that answers first.
func (u *updating) answer(ctx context.Context) (string, error) {
	ctx, stop := context.WithTimeout(ctx, 2*silentLimit) // one that takes a connection and says nothing
	defer stop()
	s, err := firstAnswer(ctx, u.machine, u.client(), func(string) {})
	if err != nil {
		return "", err
	}
	return s.Version, nil
}

func (u *updating) say(format string, args ...any) { fmt.Fprintf(printed(u.cmd), format+"\n", args...) }

// here refuses a machine that has no program in the place of the node's.
func (u *updating) here() error {
	if u.machine.Exists(layout.Program) {
		return nil
	}
	return &problem.Problem{
		Code: "UPD-LACK", Summary: message.F("This machine has no %s.", layout.Program),
		Fix: message.T("On a node: `touchdown install`, or `touchdown factory`. A program from the RPM is replaced with rpm -U."),
	}
}

// keys are whose signature counts, and whose does not.
func (u *updating) keys() (keys update.Keys, err error) {
	if u.key == "" {
		return updates.Keys(u.machine)
	}
	// A record of media that was lost is no reason to refuse the key that root names.
	text, err := readNamed(u.cmd, "key", u.key, maxKeyFile)
	if err != nil {
		return keys, err
	}
	keys.Media, _ = media.Of(u.machine).Trust(false)
	revoked, err := media.Revoked(u.machine)
	if err != nil {
		return keys, err
	}
	if keys.Releases, err = envelope.ParseReleaseTrust(text, revoked); err != nil {
		return keys, usage(fmt.Errorf("--key %s: %w; %s", u.key, err, releaseKeys))
	}
	return keys, nil
}

// rests refuses while work is under way. An engine that does not answer is not an obstacle: another program may be what it needs.
func (u *updating) rests(ctx context.Context) error {
	s, err := u.client().Snapshot(ctx)
	if err != nil {
		return nil
	}
	if slices.Contains([]view.State{view.Working, view.UndoingAll}, s.State) {
		return &problem.Problem{
			Code: "UPD-BUSY", Summary: message.F("Work is under way on this node (%s).", s.State),
			Fix: message.T("Let it come to its end, or to a question, at the wizard; then run the same command again."),
		}
	}
	return nil
}
