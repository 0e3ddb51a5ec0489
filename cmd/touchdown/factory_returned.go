package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/delivery"
	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/ledger"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/aside"
	"touchdown/steps/engine"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// bringBack takes a node that was at a site back to the bench line: it undoes what can be undone, sets the records of that job aside and
// opens the line. Each part looks what is done already, so that the command can be repeated after a power cut.
func (f *factoryFlags) bringBack(cmd *cobra.Command, machine *host.Machine) error {
	var folder string
	var err error
	switch all := layout.Returns(f.engine.state); {
	case aside.Begun(f.engine.state, time.Now()) != "": // a power cut came in between
		folder, err = f.setAside(cmd.Context(), machine)
	case !factory.OnLine(machine):
		folder, err = f.endJob(cmd, machine)
	case len(all) > 0:
		folder = all[len(all)-1]
	default:
		err = aside.NothingToReturn()
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(complaints(cmd), "the node is on the bench line; the records of its site are in %s\n", folder)
	return f.takeBack(cmd, machine)
}

// isThisNode refuses a name that is not of this node: whoever typed it is at another machine.
func (f *factoryFlags) isThisNode(machine *host.Machine) error {
	typed := strings.TrimSpace(f.returned)
	if isCalled(machine, typed) {
		return nil
	}
	if err := knowsSerial(machine); err != nil {
		return err
	}
	name, _ := machine.Hostname()
	serial := machine.Serial()
	return usage(&problem.Problem{
		Code: "FAC-ELSE", Summary: message.F("%s is not this node: its name is %q and its serial number %q.", typed, name, serial),
		Fix: message.T("Go to the node that came back, or give the name or the serial number of this one: touchdown factory --returned NODE."),
	})
}

// knowsSerial refuses to say which machine this is to whoever may not read its serial number, which Linux shows to root alone.
func knowsSerial(machine *host.Machine) error {
	if _, err := machine.ReadFile("/sys/class/dmi/id/product_serial"); errors.Is(err, fs.ErrPermission) {
		return problem.OnlyRoot(err)
	}
	return nil
}

// isCalled tells whether what a person typed is the host name or the serial number of a machine.
func isCalled(machine *host.Machine, typed string) bool {
	name, _ := machine.Hostname() // a node without one has its serial number
	typed = strings.TrimSpace(typed)
	return typed != "" && (strings.EqualFold(typed, name) || typed == machine.Serial())
}

// endJob undoes the landing where that is possible, tells the ledger, and sets the records aside.
func (f *factoryFlags) endJob(cmd *cobra.Command, machine *host.Machine) (folder string, err error) {
	known, err := factory.Landed(machine)
	if err == nil && !known {
		err = aside.NothingToReturn()
	}
	if err != nil {
		return "", err
	}
	if err := f.undoLanding(cmd); err != nil {
		return "", err
	}
	if f.ledger.File != "" {
		known, err := ledger.Return(f.ledger.File, machine, time.Now())
		if err != nil {
			return "", err
		}
		if !known {
			fmt.Fprintf(complaints(cmd), "%s does not know this machine, so it has no line for its return\n", f.ledger.File)
		}
	}
	return f.setAside(cmd.Context(), machine)
}

// undoLanding puts back what the landing changed, unless the hand-over was accepted: from then on the cluster keeps its site's identity.
func (f *factoryFlags) undoLanding(cmd *cobra.Command) error {
	asJSON, err := f.json()
	if err != nil {
		return err
	}
	engine, closeSession, err := f.session(cmd.Context())
	if err != nil {
		return err
	}
	if err := f.wake(cmd.Context(), complaints(cmd), engine); errors.Is(err, session.ErrNoEngine) {
		return errors.Join(noEngine(err), closeSession())
	}
	a := &applying{flags: &f.applyFlags, cmd: cmd, session: engine, json: asJSON}
	return errors.Join(explainClient(f.undoWhatCanBe(a)), closeSession())
}

func (f *factoryFlags) undoWhatCanBe(a *applying) error {
	ctx := a.cmd.Context()
	s, err := a.session.Snapshot(ctx)
	if err != nil {
		return err
	}
	switch {
	case s.HandedOver:
		fmt.Fprintln(complaints(a.cmd), "the hand-over was accepted, so nothing can be undone: the cluster keeps the names and the network of its site until it lands again")
		return nil
	case s.State != view.IsDone && s.State != view.HasFailed && s.State != view.UndoingAll:
		return nil // there is nothing to undo, or work is under way, which is refused below
	case s.Locked:
		if err := f.unlock(a, s.Hostname); err != nil {
			return err
		}
	}
	fmt.Fprintln(complaints(a.cmd), "undoing the landing")
	err = a.inControl(ctx, a.undo)
	if code := new(exitError); errors.As(err, &code) {
		return &problem.Problem{
			Code: "FAC-UNDN", Summary: message.T("The landing could not be undone, so the node has not come back: its job and its records stay."),
			Fix: message.T("Remove the cause and run the same command again. Where the cluster cannot be repaired, install the node again."), Err: code.err, // without its exit code
		}
	}
	return err
}

// unlock opens a node of which records were lost: the person has typed its name.
func (f *factoryFlags) unlock(a *applying, hostname string) error {
	token, err := a.session.TakeControl(a.cmd.Context(), consoleName(), f.force)
	if err != nil {
		return err
	}
	return errors.Join(a.session.Do(a.cmd.Context(), token, session.Action{Verb: session.Unlock, Value: hostname}), a.session.ReleaseControl(a.cmd.Context(), token))
}

// engineStops is how often an engine is stopped: a console starts it again where none answers.
const engineStops = 5

// setAside stops the node's engine, sets the records aside and starts it with the factory's list.
func (f *factoryFlags) setAside(ctx context.Context, machine *host.Machine) (folder string, err error) {
	err = f.withoutEngine(ctx, machine, func() (err error) {
		folder, err = engine.SetAside(f.engine.state, time.Now(), f.engine.cameBack(machine))
		return err
	})
	return folder, err
}

// cameBack is what belongs to the return beside the records: nothing waits any more for the site's monitor, whose token goes, and the
// engine loads the factory's list.
func (f *engineFlags) cameBack(machine *host.Machine) func() error {
	return func() error {
		outbox := delivery.Open(delivery.Options{
			Host: machine, Folder: layout.Outbox, Version: version, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		})
		if err := outbox.Forget(); err != nil {
			return fmt.Errorf("forgetting the site's monitor: %w", err)
		}
		_, err := factory.OpenLine(machine, time.Now())
		return err
	}
}

// finishReturn goes on with a return that a power cut has interrupted, before an engine reads the records.
func (f *engineFlags) finishReturn(machine *host.Machine) error {
	if aside.Begun(f.state, time.Now()) == "" {
		return nil
	}
	_, err := engine.SetAside(f.state, time.Now(), f.cameBack(machine))
	return err
}

// mayLook refuses a dry run where its engine would first continue what a power cut interrupted.
func (f *engineFlags) mayLook() error {
	switch {
	case !f.dryRun:
		return nil
	case engine.WipeBegun(f.state):
		return errors.New("a wipe of this node was interrupted, and a dry run changes nothing: start the engine, which ends the wipe, before")
	case aside.Begun(f.state, time.Now()) != "":
		return errors.New("this node's return to the factory was interrupted, and a dry run changes nothing: start the engine, which ends the return, before")
	}
	return nil
}

// checkWithdrawn refuses to withdraw the waiver of a check that the list of this node never told, before the node is taken back: its engine
// could tell only after that. Where the node is on the bench line, nothing is begun before the engine was asked.
func checkWithdrawn(f *factoryFlags) error {
	if !f.reopen && f.returned == "" || len(f.withdraw) == 0 {
		return nil
	}
	known, err := engine.ChecksTold(f.engine.factoryState())
	if err != nil {
		return fmt.Errorf("reading the records of the factory's list: %w", err)
	}
	for _, id := range f.withdraw {
		if !known[id] {
			return noSuchCheck("withdraw", id)
		}
	}
	f.told = true
	return nil
}
