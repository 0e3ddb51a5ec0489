package steps

import (
	"context"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/ledger"
	"touchdown/backend/media"
	"touchdown/backend/message"
)

// copyCheck refuses a node that was made from the disk of another one, which the ledger knows.
type copyCheck struct{}

// ID names the step in the journal.
func (*copyCheck) ID() string { return "copy-check" }

// Title says what the step does.
func (*copyCheck) Title() message.Text { return message.T("Compare the node with the ledger") }

// Run looks the node up in the ledger. Only a reason that was given with the ledger lets a copy pass: no waiver does.
func (*copyCheck) Run(ctx context.Context, node *backend.Node, report Report) error {
	ch := check.Check{
		ID: "copy", Title: message.T("Not a copy of another node"), Status: check.Skip, Observed: message.T("not checked: no ledger was given"),
		Fix: message.T("touchdown factory --ledger FILE"),
	}
	choice, err := ledger.Chosen(node.Host, factory.Stay(node.Host))
	if err != nil {
		return err
	}
	if choice.File == "" {
		report.Say(message.T("No ledger was given: it was not checked whether this node is a copy of another one."))
		report.Check(ch)
		return nil
	}
	is, err := entryOf(ctx, node, report)
	if err != nil {
		return err
	}
	clashes, err := ledger.Find(choice.File, is)
	if err != nil {
		return err
	}
	ch.Status, ch.Fix = check.Pass, message.Text{}
	ch.Observed = message.F("no other node in the ledger has cluster ID %s or one of its %d keys", is.ClusterID, len(is.Keys))
	if len(clashes) > 0 {
		if choice.Shared == "" {
			return ledger.Copy(clashes)
		}
		ch.Status, ch.Observed = check.Warn, message.F("%s. Allowed: %s", clashes[0].Text(), choice.Shared)
		ch.Fix = message.T("Both nodes use the same keys: access to one is access to both.")
	}
	report.Check(ch)
	return nil
}

// entryOf is the node as the ledger knows nodes, with the key for which its site media are sealed.
func entryOf(ctx context.Context, node *backend.Node, report Report) (ledger.Entry, error) {
	is, err := ledger.Look(ctx, node.Host, node.Kube.WithProgress(report.Progress), node.Now())
	if err == nil {
		is.MediaKey, err = media.Of(node.Host).Recipient()
	}
	return is, err
}

// enter adds the node to the ledger, where there is one, and who stands behind its seal.
func enter(ctx context.Context, node *backend.Node, report Report, by ledger.Seal) error {
	choice, err := ledger.Chosen(node.Host, factory.Stay(node.Host))
	if err != nil || choice.File == "" {
		return err
	}
	is, err := entryOf(ctx, node, report)
	if err != nil {
		return err
	}
	is.Shared, is.Seal = choice.Shared, by
	if err := ledger.Enter(choice.File, is); err != nil {
		return err
	}
	report.Say(message.F("The node is in the ledger %s.", choice.File))
	return nil
}
