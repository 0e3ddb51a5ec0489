package steps

import (
	"context"
	"strings"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/message"
)

// bakeCatalogs switches the default catalog sources off: their pods ask a registry at each start, so that no rehearsal could pass.
type bakeCatalogs struct {
	Keep bool // leave them on without asking
}

var (
	_ Planner = (*bakeCatalogs)(nil)
	_ Undoer  = (*bakeCatalogs)(nil)
)

// ID names the step in the journal.
func (*bakeCatalogs) ID() string { return "bake-catalogs" }

// Title says what the step does.
func (*bakeCatalogs) Title() message.Text { return message.T("Switch off the default catalog sources") }

// Plan tells the change, which a person may still refuse.
func (s *bakeCatalogs) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	names, err := factory.DefaultCatalogs(ctx, node.Kube)
	if err != nil || s.Keep || len(names) == 0 {
		return Plan{}, err
	}
	return Plan{Changes: []Change{{
		What: message.T("OperatorHub (default catalog sources)"), Old: message.Data(strings.Join(names, ", ")), New: message.T("off, if you agree when asked"),
	}}}, nil
}

// Run asks, once in each stay on the bench line.
func (s *bakeCatalogs) Run(ctx context.Context, node *backend.Node, report Report) error {
	c, o := node.Kube.WithProgress(report.Progress), newOriginals(report)
	names, err := factory.DefaultCatalogs(ctx, c)
	if err != nil || len(names) == 0 {
		return err
	}
	k := check.Check{
		ID: "catalogs", Title: message.T("Default catalog sources"), Expected: message.T("off: their pods cannot start without a registry"),
		Source: message.T("OperatorHub cluster; catalog sources managed by the marketplace operator"),
	}
	off, err := s.agreed(ctx, node, report, names)
	if err != nil {
		return err
	}
	if !off {
		k.Status, k.Observed = check.Warn, message.F("left on: %s", strings.Join(names, ", "))
		k.Fix = message.T("Run `touchdown factory bake` to switch them off; with them the rehearsal without registries cannot pass.")
		report.Check(k)
		return nil
	}
	if err := factory.DisableCatalogs(ctx, c, names, o.save); err != nil {
		return err
	}
	report.Say(message.F("The default catalog sources are off: %s. They stay off at the site; `touchdown factory unbake` switches them on again.", strings.Join(names, ", ")))
	k.Status, k.Observed = check.Pass, message.T("off")
	report.Check(k)
	return nil
}

// agreed asks whether the catalog sources may be switched off.
func (s *bakeCatalogs) agreed(ctx context.Context, node *backend.Node, report Report, names []string) (bool, error) {
	if s.Keep {
		return false, nil
	}
	// A no is kept over the node's reboots, so that nobody is asked three times.
	refused := "no " + factory.Stay(node.Host)
	before, _, err := notedAt(report, "refused")
	if err != nil {
		return false, err
	}
	if string(before) == refused {
		return false, nil
	}
	answer, err := report.Ask(ctx, Question{
		ID: "default-catalogs-off", Text: message.T("Switch off the cluster's default catalog sources?"),
		Detail:  message.F("The pods of %s ask a registry at each start, and their pull policy cannot be set. While they are on, the rehearsal without registries cannot pass. Operators that are installed keep running; new ones need your own catalog source.", strings.Join(names, ", ")),
		Choices: []Choice{{Value: "yes", Label: message.T("Yes, switch them off")}, {Value: "no", Label: message.T("No, leave them on")}}, Default: "yes",
	})
	if err != nil || answer == "yes" {
		return answer == "yes", err
	}
	return false, report.Note("refused", []byte(refused))
}

// Undo puts OperatorHub back; the marketplace operator makes the catalog sources again.
func (*bakeCatalogs) Undo(ctx context.Context, node *backend.Node, report Report) error {
	changed, err := newOriginals(report).restore(ctx, node.Kube.WithProgress(report.Progress))
	if len(changed) > 0 && err == nil {
		report.Say(message.T("The default catalog sources are as they were."))
	}
	return err
}
