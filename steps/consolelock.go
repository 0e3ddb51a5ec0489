package steps

import (
	"context"
	"errors"
	"io/fs"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/steps/idle"
	"touchdown/steps/site"
	"touchdown/steps/site/pin"
)

// pinPath is where the site config has the PIN.
const pinPath = "spec.console.pin"

// pinLabel is what the field with the PIN is called, and namesTitle its page.
func pinLabel() message.Text { return message.T("PIN for idle consoles") }

func namesTitle() message.Text { return message.T("Names and credentials") }

// lockCheck tells whether the consoles lock when nobody uses them.
func lockCheck(cfg *site.Config, node *backend.Node) check.Check {
	c := check.Check{ID: idle.Check, Title: message.T("Lock of idle consoles"), Status: check.Pass, Expected: message.T("a PIN")}
	baked, bad := idle.Baked(node.Host)
	switch {
	case cfg.Spec.Console.PIN != "":
		c.Observed = message.F("after %s without a key", cfg.Spec.Console.LockAfter)
	case baked != "":
		c.Observed = message.T("by the PIN of the bake")
	case bad:
		c.Status, c.Observed = check.Warn, message.F("the PIN of the bake in %s cannot be read", layout.ConsolePIN)
	default:
		c.Status, c.Observed = check.Warn, message.T("no PIN is set: a console that nobody uses stays open")
	}
	if c.Status == check.Warn {
		c.Fix = message.F("If others can reach a console, fill in \"%s\" on the page \"%s\" (spec.console.pin).", pinLabel(), namesTitle())
	}
	return c
}

// bakePIN gives the consoles a PIN until the site config sets another one.
type bakePIN struct {
	pin site.Secret // what was typed; "": the bake changes no PIN
}

var (
	_ Planner = (*bakePIN)(nil)
	_ Undoer  = (*bakePIN)(nil)
)

// ID names the step in the journal.
func (*bakePIN) ID() string { return "bake-pin" }

// Title says what the step does.
func (*bakePIN) Title() message.Text { return message.T("Set the PIN of the consoles") }

// right tells whether nothing has to be done.
func (s *bakePIN) right(node *backend.Node) bool {
	is, _ := idle.Baked(node.Host)
	return s.pin == "" || is.Matches(string(s.pin))
}

// Plan tells that there will be one.
func (s *bakePIN) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	if s.right(node) {
		return Plan{}, nil
	}
	return Plan{Changes: []Change{{What: message.T("PIN of the consoles"), New: message.T("set")}}}, nil
}

// Run keeps its hash.
func (s *bakePIN) Run(_ context.Context, node *backend.Node, report Report) error {
	if s.right(node) {
		return nil
	}
	old, err := node.Host.ReadFile(layout.ConsolePIN)
	if err == nil {
		err = report.Save("pin", old)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := idle.Bake(node.Host, pin.Make(string(s.pin))); err != nil {
		return err
	}
	report.Say(message.T("The PIN of the consoles is set."))
	return nil
}

// Undo puts the earlier PIN back, or takes it away.
func (*bakePIN) Undo(_ context.Context, node *backend.Node, report Report) error {
	old, ok, err := savedAt(report, "pin")
	if err != nil {
		return err
	}
	if ok {
		return node.Host.WriteFile(layout.ConsolePIN, old, 0o600)
	}
	return node.Host.Remove(layout.ConsolePIN)
}
