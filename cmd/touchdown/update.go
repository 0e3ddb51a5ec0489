package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/update"
	"touchdown/steps/engine"
)

// updating is one call of touchdown update.
type updating struct {
	*connection
	cmd       *cobra.Command
	machine   *host.Machine
	key       string
	back, dry bool
}

func updateCommand(c *connection) *cobra.Command {
	u := &updating{connection: c}
	cmd := &cobra.Command{
		Use: "update [FOLDER]", Short: "Replace Touchdown on this node by a signed release, or go back to the one before", Args: cobra.MaximumNArgs(1),
		Long: `Update takes the program out of a folder with a release: touchdown, SHA256SUMS and SHA256SUMS.sig, as
"make release KEY=FILE" makes them. The signature has to be of a key that this node trusts for site media, or of the one
that --key names. The program is started once to see that it does, put in the place of ` + layout.Program + `, and
the engine and the consoles are started again with it; journal, answers, originals and report stay. Where the new engine
does not answer, the program before comes back. Nothing of the network, the cluster and the units is touched.

--back goes back to the program before, which stays on the node. While work is under way nothing is replaced.`,
		Example: `  mkdir -p /run/release; mount -o ro,nosuid,nodev,noexec /dev/sdb1 /run/release
  touchdown update /run/release
  touchdown update --back`,
		RunE: func(cmd *cobra.Command, args []string) error {
			u.cmd, u.machine = cmd, host.Open(host.Options{Root: c.hooks.root, NoPower: true, Log: slog.New(slog.DiscardHandler)})
			switch {
			case u.back && (len(args) > 0 || u.key != ""):
				return usage(errors.New("--back needs no release: the program before is on the node"))
			case !u.back && len(args) == 0:
				return usage(errors.New("name the folder with the release, or give --back"))
			case u.back:
				return u.goBack(cmd.Context())
			}
			return u.install(cmd.Context(), args[0])
		},
	}
	cmd.Flags().StringVar(&u.key, "key", "", "public half of the key that signed the release (PEM), in place of those that the node trusts")
	cmd.Flags().BoolVar(&u.back, "back", false, "go back to the program before")
	cmd.Flags().BoolVar(&u.dry, "dry-run", false, "check signature and program, and change nothing")
	return cmd
}

func (u *updating) install(ctx context.Context, folder string) error {
	if err := u.here(); err != nil {
		return err
	}
	trust, err := u.trust()
	if err != nil {
		return err
	}
	folder, err = filepath.Abs(folder)
	if err != nil {
		return fmt.Errorf("finding the folder of the release: %w", err)
	}
	release, err := update.Read(folder, trust)
	if err != nil {
		return err
	}
	u.say("The release is signed by the key %s.", release.Signer)
	if release.Is(u.machine) {
		u.say("This node has that program already. Nothing was changed.")
		return nil
	}
	said, err := release.Try(ctx, u.machine)
	if err != nil {
		return err
	}
	u.say("The program of the release starts here: %s", said)
	return u.change(ctx, release.Install, "This node has the program of the release now. `touchdown update --back` goes back to the one before.")
}

func (u *updating) goBack(ctx context.Context) error {
	if err := u.here(); err != nil {
		return err
	}
	return u.change(ctx, update.Back, "This node has the program before again.")
}

// change puts another program into place and starts it; one that does not start is taken away again.
func (u *updating) change(ctx context.Context, put func(*host.Machine) error, done string) error {
	if u.dry {
		u.say("Nothing was changed.")
		return nil
	}
	if err := u.rests(ctx); err != nil {
		return err
	}
	if err := put(u.machine); err != nil {
		return err
	}
	said, err := u.machine.Run(ctx, layout.Program, "version")
	if err == nil {
		err = u.begin(ctx, said)
	}
	if err != nil {
		return u.recover(ctx, err)
	}
	u.say("%s", done)
	return nil
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

// trust is whose signature counts.
func (u *updating) trust() (*envelope.Trust, error) {
	if u.key == "" {
		trust, err := media.Of(u.machine).Trust(false)
		if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == "MED-UKEY" {
			p.Fix = message.T("Give the public half of the key that signed the release: touchdown update FOLDER --key release.pub. The factory lays it with touchdown factory --media-key.")
		}
		return trust, err
	}
	keys, err := readNamed(u.cmd, "key", u.key, maxKeyFile)
	if err != nil {
		return nil, err
	}
	trust, err := envelope.ParseTrust(keys, nil)
	if err != nil {
		return nil, usage(fmt.Errorf("--key %s: %w", u.key, err))
	}
	return trust, nil
}

// rests refuses while work is under way. An engine that does not answer is no obstacle: another program may be what it needs.
func (u *updating) rests(ctx context.Context) error {
	s, err := u.client().Snapshot(ctx)
	if err != nil {
		return nil
	}
	if slices.Contains([]engine.State{engine.Working, engine.UndoingAll}, s.State) {
		return &problem.Problem{
			Code: "UPD-BUSY", Summary: message.F("Work is under way on this node (%s).", s.State),
			Fix: message.T("Let it come to its end, or to a question, at the wizard; then run the same command again."),
		}
	}
	return nil
}

// begin starts engine and consoles with the program that is in place, and sees that it is the one that answers.
func (u *updating) begin(ctx context.Context, said string) error {
	if !u.installed(u.machine) {
		u.say("No unit of this machine has an engine; there is nothing to start.")
		return nil
	}
	session := u.client()
	if err := restart(ctx, u.machine, session); err != nil {
		return err
	}
	s, err := session.Snapshot(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(said), s.Version) {
		return fmt.Errorf("the engine that answers is of version %s", s.Version)
	}
	if _, err := u.machine.Run(ctx, "systemctl", "--no-block", "try-restart", "touchdown-console@*.service"); err != nil {
		u.say("A console still has the other program, until a person leaves the wizard there.")
	}
	return nil
}

// recover goes back after an engine that did not start, which no person at the site could repair.
func (u *updating) recover(ctx context.Context, cause error) error {
	ctx = context.WithoutCancel(ctx)
	fix := message.T("Look at `journalctl -u touchdown-engine`, and keep what it says for whoever made the release.")
	if err := update.Back(u.machine); err != nil {
		return &problem.Problem{
			Code: "UPD-STCK", Summary: message.T("The engine does not answer with this program, and the program before could not be put back."),
			Fix: message.F("Copy %s to %s and restart touchdown-engine.", layout.PreviousProgram, layout.Program), Err: errors.Join(cause, err),
		}
	}
	if err := restart(ctx, u.machine, u.client()); err != nil {
		cause = errors.Join(cause, err)
	}
	return &problem.Problem{Code: "UPD-BACK", Summary: message.T("The engine does not answer with this program. The node has the program again that it had before."), Fix: fix, Err: cause}
}
