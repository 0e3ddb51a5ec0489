package steps

import (
	"context"
	"errors"
	"slices"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// bakeVerify looks whether the bake has taken effect on the machine.
type bakeVerify struct{}

// ID names the step in the journal.
func (*bakeVerify) ID() string { return "bake-verify" }

// Title says what the step does.
func (*bakeVerify) Title() message.Text { return message.T("Verify what the machine has") }

// effectTime is how long the node's units may take: after the bake's reboot this looks at a node that is still starting. On a
// busy bench it took more than 10 s.
const effectTime = 2 * time.Minute

// Run waits until all of it is in effect, and tells what is not.
func (*bakeVerify) Run(ctx context.Context, node *backend.Node, report Report) error {
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
