package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/value"
	"touchdown/steps/site"
)

// check judges the command line before anything is read or written: what is wrong with it changes nothing.
func (f *factoryFlags) check(cmd *cobra.Command, machine *host.Machine) error {
	switch {
	case f.startsAlone && f.site == "":
		return usage(errors.New("--site-unattended goes with --site: the site config that the node starts with"))
	case f.file != "" && !f.unattended:
		return usage(errors.New("-f goes with --unattended: the wizard asks"))
	case f.dryRun && !f.unattended:
		return usage(errors.New("--dry-run goes with --unattended: in the wizard a person sees the review before anything starts"))
	}
	if err := checkAsked(f); err != nil {
		return usage(err)
	}
	if err := f.checkLedger(); err != nil {
		return usage(err)
	}
	if _, err := f.json(); err != nil {
		return err
	}
	if err := f.checkWaivers(); err != nil {
		return err
	}
	if cmd.Flags().Changed("returned") {
		if err := f.isThisNode(machine); err != nil {
			return err
		}
	}
	return checkWithdrawn(f)
}

// checkAsked refuses flags that nobody would read, as the wizard asks a person, and those that a dry run would keep.
func checkAsked(f *factoryFlags) error {
	switch {
	case f.dryRun && len(f.waive)+len(f.withdraw) > 0:
		return errors.New("--dry-run changes nothing, and a waiver is kept: leave out --waive and --withdraw")
	case f.unattended:
		return nil
	case f.force && f.returned == "":
		return errors.New("--force goes with --unattended or --returned: the wizard asks before it takes control")
	case len(f.withdraw) > 0:
		return errors.New("--withdraw goes with --unattended: in the wizard a person withdraws a waiver beside its check")
	case len(f.waive) > 0:
		return errors.New("--waive goes with --unattended: in the wizard a person waives a check beside it")
	}
	return nil
}

// preview reviews the list without changing the node: no flag of the command line is kept, and a node that is not on the bench line is not
// put on it. Where the node has no engine for the factory's list, the command runs one itself for the review.
func (f *factoryFlags) preview(cmd *cobra.Command, machine *host.Machine, cfg *site.Config) error {
	if err := errors.Join(factory.Sealed(machine), factory.MayOpen(machine)); err != nil {
		return err
	}
	if !factory.OnLine(machine) || !machine.Exists(rhcos.Units+"/"+engineUnit) {
		f.local, f.engine.factory = true, true
	}
	return f.apply(cmd, cfg, "the bench line")
}

// checkLedger judges what is said of a ledger.
func (f *factoryFlags) checkLedger() error {
	switch l := f.ledger; {
	case l.File == "" && l.Shared != "":
		return errors.New("--shared-identity goes with --ledger")
	case l.File != "" && !filepath.IsAbs(l.File):
		return fmt.Errorf("--ledger %s: give the whole path; the engine reads it later, from another folder", l.File)
	case l.Shared != strings.TrimSpace(l.Shared), len(l.Shared) > maxReason, !value.OneLine(l.Shared):
		return fmt.Errorf("--shared-identity: a reason is one line of at most %d bytes", maxReason)
	}
	return nil
}

// maxReason bounds the reason for a shared identity: it is printed in the report, as that of a waiver.
const maxReason = 400
