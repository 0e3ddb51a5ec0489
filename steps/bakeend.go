package steps

import (
	"context"
	"errors"
	"slices"
	"time"

	"touchdown/backend/message"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
)

// BakeVerify looks whether the bake has taken effect on the machine.
type BakeVerify struct{}

// ID names the step in the journal.
func (*BakeVerify) ID() string { return "bake-verify" }

// Title says what the step does.
func (*BakeVerify) Title() message.Text { return message.T("Verify what the machine has") }

// effectTime is how long the node's units may take: after the bake's reboot this looks at a node that is still starting. On a
// busy bench it took more than 10 s.
const effectTime = 2 * time.Minute

// Run waits until all of it is in effect, and tells what is not.
func (*BakeVerify) Run(ctx context.Context, node *backend.Node, report Report) error {
	c := node.Kube.WithProgress(report.Progress)
	wanted, err := factory.Wanted(ctx, c)
	if err != nil {
		return err
	}
	cluster, err := factory.Look(ctx, c)
	if err != nil {
		return err
	}
	var checks []check.Check
	w := kube.Wait{
		What: message.T("the bake's effect"), Limit: effectTime, Usual: 20 * time.Second, Code: "FAC-EFCT",
		Fix: message.T("Look at the checks that failed; after a reboot run the same command once more."),
	}
	err = c.Until(ctx, w, func(ctx context.Context) (kube.Progress, bool, error) {
		checks = factory.Verify(ctx, node.Host, wanted, cluster)
		failed := slices.IndexFunc(checks, func(c check.Check) bool { return c.Status == check.Fail })
		if failed < 0 {
			return kube.Progress{}, true, nil
		}
		return kube.Progress{Waiting: checks[failed].Title}, false, nil
	})
	for _, c := range checks {
		report.Check(c)
	}
	if p, late := errors.AsType[*problem.Problem](err); late {
		p.Summary = message.T("The bake is not in effect on the machine.")
	}
	return err
}

// BakeRecord writes down what leaves the factory, and lays the keys for site media, if there are any.
type BakeRecord struct {
	Tool string
	Keys mediaKeys
}

var (
	_ Planner = (*BakeRecord)(nil)
	_ Undoer  = (*BakeRecord)(nil)
)

// ID names the step in the journal.
func (*BakeRecord) ID() string { return "bake-record" }

// Title says what the step does.
func (*BakeRecord) Title() message.Text { return message.T("Write the factory's record") }

// Plan tells the keys.
func (s *BakeRecord) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	return s.Keys.plan(node)
}

// Run writes the record where it says something new.
func (s *BakeRecord) Run(ctx context.Context, node *backend.Node, report Report) error {
	if err := s.Keys.lay(node, report); err != nil {
		return err
	}
	c := node.Kube.WithProgress(report.Progress)
	wanted, err := factory.Wanted(ctx, c)
	if err != nil {
		return err
	}
	r, err := factory.MakeRecord(ctx, node.Host, c, wanted, s.Tool, node.Now())
	if err != nil {
		return err
	}
	changed, err := factory.SaveRecord(node.Host, r)
	if changed && err == nil {
		report.Say(message.F("%s is written.", layout.FactoryRecord))
	}
	return err
}

// Undo removes the record and the keys.
func (s *BakeRecord) Undo(_ context.Context, node *backend.Node, report Report) error {
	if err := s.Keys.takeAway(node, report); err != nil {
		return err
	}
	return node.Host.Remove(layout.FactoryRecord)
}

// BakeArm shuts the gate in front of kubelet: the next boot waits for the site.
type BakeArm struct{}

var _ Undoer = (*BakeArm)(nil)

// ID names the step in the journal.
func (*BakeArm) ID() string { return "bake-arm" }

// Title says what the step does.
func (*BakeArm) Title() message.Text { return message.T("Arm the node") }

// Run shuts it; kubelet goes on until the node is switched off.
func (*BakeArm) Run(_ context.Context, node *backend.Node, report Report) error {
	changed, err := factory.Arm(node.Host)
	if changed && err == nil {
		report.Say(message.T("The node is armed: from its next boot on it waits for its site."))
	}
	return err
}

// Undo opens it and starts kubelet, which the steps before need.
func (*BakeArm) Undo(ctx context.Context, node *backend.Node, report Report) error {
	changed, err := factory.Disarm(ctx, node.Host)
	if changed && err == nil {
		report.Say(message.T("The node is not armed any more; its cluster starts."))
	}
	return err
}
