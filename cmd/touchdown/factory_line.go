package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/factory"
	"touchdown/backend/hardware/order"
	"touchdown/backend/host"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/ledger"
	"touchdown/backend/media"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// factoryFlags are what `touchdown factory` is told.
type factoryFlags struct {
	applyFlags
	unattended, reopen  bool
	returned            string // the name of a node that came back, typed to confirm
	ledger              ledger.Choice
	trusted             trustedKeys
	second              secondFlags
	site, burnIn, order string
	startsAlone         bool // with site
}

func factoryCommand(c *common) *cobra.Command {
	f := &factoryFlags{applyFlags: applyFlags{common: c}}
	cmd := group(&cobra.Command{
		Use: "factory", Short: "Check and prepare a node on the bench line",
		Long: factoryHelp, Example: factoryExamples,
	}, bakeCommand(&c.target), unbakeCommand(&c.target))
	of := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return of(cmd, args)
		}
		return f.run(cmd)
	}
	f.flags(cmd)
	c.outputFlag(cmd)
	c.localFlags(cmd)
	return cmd
}

// flags adds the flags of the list.
func (f *factoryFlags) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.unattended, "unattended", false, "start at once and ask nobody")
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "a site config, of which only spec.policy is read")
	cmd.Flags().BoolVar(&f.reopen, "reopen", false, "take a sealed node back to the bench line")
	cmd.Flags().StringVar(&f.returned, "returned", "", "bring a node that was at a site back to the bench line: its name or serial number, to confirm")
	cmd.MarkFlagsMutuallyExclusive("returned", "reopen")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "with --unattended: stop after the review, with what the node keeps already; nothing is changed")
	cmd.MarkFlagsMutuallyExclusive("returned", "dry-run")
	cmd.MarkFlagsMutuallyExclusive("reopen", "dry-run")
	cmd.Flags().BoolVar(&f.force, "force", false, "with --unattended or --returned: take control from another console")
	cmd.Flags().StringArrayVar(&f.applyFlags.waive, "waive", nil, "with --unattended: CHECK=REASON, take responsibility for a check that does not pass; needs --by")
	cmd.Flags().StringVar(&f.by, "by", "", "who waives, and who runs the list, where its seal needs a second person")
	f.withdrawFlag(cmd, "with --unattended: ")
	cmd.Flags().StringVar(&f.burnIn, "burn-in", "", "load CPU, memory and disk for this time (1m to 24h, such as 30m) after the hardware check, and count the errors; none takes it back")
	cmd.Flags().StringVar(&f.site, "site", "", "a site config that goes with this node")
	cmd.Flags().BoolVar(&f.startsAlone, "site-unattended", false, "with --site: at its site the node starts without asking anyone")
	cmd.Flags().StringVar(&f.ledger.File, "ledger", "", "refuse a copy of a node in this file, and add this node to it")
	cmd.Flags().StringVar(&f.ledger.Shared, "shared-identity", "", "with --ledger: why this node may have the identity of another one")
	f.trusted.add(cmd)
	f.second.add(cmd)
	orderFlag(cmd, &f.order, "what the machine has to be: a profile ("+strings.Join(order.Profiles(), ", ")+") or an order sheet; it stays on the node, and none takes it away")
}

// prepareOrder reads the order sheet before anything is changed, and returns what keeps it.
func (f *factoryFlags) prepareOrder() (func(*host.Machine) error, error) {
	switch f.order {
	case "":
		return func(*host.Machine) error { return nil }, nil
	case order.None:
		return order.Forget, nil
	}
	sheet, err := order.Load(f.order)
	if err != nil {
		return nil, err
	}
	return sheet.Keep, nil
}

func (f *factoryFlags) run(cmd *cobra.Command) error {
	machine := host.Open(host.Options{Root: f.hooks.root})
	if err := f.check(cmd, machine); err != nil {
		return err
	}
	cfg, err := f.policy(cmd)
	if err != nil {
		return err
	}
	mediaKeys, releaseKeys, err := f.trusted.read(cmd)
	if err != nil {
		return err
	}
	keepWishes, err := f.prepareWishes(cmd, machine)
	if err != nil {
		return usage(err)
	}
	answers, err := f.siteAnswers(cmd)
	if err != nil {
		return err
	}
	if !f.unattended {
		if err := f.canShow("touchdown factory --unattended"); err != nil {
			return err
		}
	}
	if f.dryRun {
		return f.preview(cmd, machine, cfg)
	}
	if err := f.prepareLedger(cmd); err != nil {
		return err
	}
	if err := f.comesBack(cmd, machine); err != nil {
		return err
	}
	if err := factory.Sealed(machine); err != nil {
		return err
	}
	if err := f.open(cmd, machine); err != nil {
		return err
	}
	if err := errors.Join(keepWishes(machine), f.keep(cmd, machine, mediaKeys, releaseKeys, answers)); err != nil {
		return err
	}
	// Before the bake there is no unit that could keep an engine.
	f.local = f.local || !machine.Exists(rhcos.Units+"/"+engineUnit)
	if f.unattended {
		return f.apply(cmd, cfg, "the bench line")
	}
	if f.reopen {
		if err := f.again(cmd.Context()); err != nil {
			return err
		}
	}
	return f.console(cmd)
}

// keep leaves on the node what its later engines need: the ledger to ask, the keys that sign media and releases, the answers of its site.
func (f *factoryFlags) keep(cmd *cobra.Command, machine *host.Machine, mediaKeys, releaseKeys, answers []byte) error {
	if f.ledger.File != "" {
		f.ledger.Stay = factory.Stay(machine)
		if err := f.ledger.Keep(machine); err != nil {
			return err
		}
	}
	if mediaKeys != nil {
		if err := media.Of(machine).Choose(mediaKeys); err != nil {
			return err
		}
	}
	if releaseKeys != nil {
		if err := media.ReleasesOf(machine).Choose(releaseKeys); err != nil {
			return err
		}
	}
	return f.keepSite(cmd, machine, answers)
}

// comesBack takes a node back to the bench line, where the flags say so.
func (f *factoryFlags) comesBack(cmd *cobra.Command, machine *host.Machine) error {
	if cmd.Flags().Changed("returned") {
		f.reopen = true // all that holds for a node that is taken back holds for this one
		return f.bringBack(cmd, machine)
	}
	if f.reopen {
		return f.takeBack(cmd, machine)
	}
	return nil
}

// takeBack lets a sealed node's cluster start again on the bench line. It outgrows its backup, which is not offered from then on.
func (f *factoryFlags) takeBack(cmd *cobra.Command, machine *host.Machine) error {
	if err := f.open(cmd, machine); err != nil {
		return err
	}
	if err := kubelet.Keep(cmd.Context(), machine); err != nil {
		return err
	}
	_, err := factory.Disarm(cmd.Context(), machine)
	return err
}

// prepareLedger looks at the ledger while the person is there who can mount its volume.
func (f *factoryFlags) prepareLedger(cmd *cobra.Command) error {
	if f.ledger.File == "" {
		return nil
	}
	made, err := ledger.Prepare(f.ledger.File)
	if made {
		fmt.Fprintf(complaints(cmd), "%s was not there: a new, empty ledger was made\n", f.ledger.File)
	}
	return err
}

// policy is a config that says how the work goes and nothing of a site. A list that fails stays where it is, whatever the file says: the
// next run goes on from there, and what an earlier list has done to a node, which may have been at a site since, is not for this one to undo.
func (f *factoryFlags) policy(cmd *cobra.Command) (*site.Config, error) {
	cfg := site.New()
	defer func() { cfg.Spec.Policy.RollbackOnFailure = false }()
	if f.file == "" {
		return cfg, nil
	}
	loaded, err := readSite(cmd, f.file)
	if err != nil {
		return nil, err
	}
	errs, _ := loaded.Validate(time.Now())
	if err := errs.Below("spec.policy").Err(); err != nil {
		return nil, usage(err)
	}
	cfg.Spec.Policy = loaded.Spec.Policy
	return cfg, nil
}

// open puts the node on the bench line, and lets the engine of an installed node load its list.
func (f *factoryFlags) open(cmd *cobra.Command, machine *host.Machine) error {
	opened, err := factory.OpenLine(machine, time.Now())
	if err != nil || !opened || f.local || !machine.Exists(rhcos.Units+"/"+engineUnit) {
		return err
	}
	if err := restart(cmd.Context(), machine, f.client()); err != nil {
		return fmt.Errorf("restarting the engine with the factory's list: %w", err)
	}
	return nil
}

// again lets the list begin again where it came to its end: what the node was sealed with says nothing of what it is now.
func (f *factoryFlags) again(ctx context.Context) error {
	engine, closeSession, err := f.session(ctx)
	if err != nil {
		return err
	}
	return errors.Join(explainClient(beginAgain(ctx, engine)), closeSession())
}

func beginAgain(ctx context.Context, engine session.Session) error {
	s, err := engine.Snapshot(ctx)
	if err != nil || s.State != view.IsDone {
		return err
	}
	token, err := engine.TakeControl(ctx, consoleName(), true)
	if err != nil {
		return err
	}
	return errors.Join(engine.Do(ctx, token, session.Action{Verb: session.Edit}), engine.ReleaseControl(ctx, token))
}
