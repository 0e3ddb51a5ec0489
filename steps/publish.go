package steps

import (
	"context"
	"strings"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/hub"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/report"
)

// publish puts the report into the cluster, where a hub and the cluster's administrators read it without access to the node. The report
// lies on the node all the same, so that nothing about it fails a landing.
type publish struct{ Dir string } // where the report lies

var (
	_ Planner = (*publish)(nil)
	_ Undoer  = (*publish)(nil)
)

// publishFor is how long the API is asked. It has just been found well. Chosen.
const publishFor = time.Minute

// ID names the step in the journal.
func (*publish) ID() string { return "cluster-report" }

// Title says what the step does.
func (*publish) Title() message.Text { return message.T("Put the report into the cluster") }

// Plan names the object.
func (*publish) Plan(context.Context, *backend.Node) (Plan, error) {
	return Plan{Changes: []Change{{What: message.T("Report in the cluster"), New: message.Data(hub.ReportRef.String())}}}, nil
}

// Run writes the ConfigMap.
func (s *publish) Run(ctx context.Context, node *backend.Node, rep Report) error {
	c := node.Kube.WithProgress(rep.Progress).Within(publishFor)
	// What people read comes first. A report need not be signed, and a site with a DNS server needs no hosts lines.
	left, err := hub.PutReport(ctx, c, newOriginals(rep).save, s.Dir, report.TextFile, report.HostsFile, report.SignedFile, report.JSONFile)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		node.Log.Warn("the report is not in the cluster", "error", err)
		rep.Check(check.Check{
			ID: "cluster-report", Title: message.T("Report in the cluster"), Status: check.Warn, Observed: problem.From(err).Summary,
			Expected: message.F("a copy in %s", hub.ReportRef), Fix: message.T("The report is on the node; touchdown report show prints it."),
		})
		return nil
	}
	rep.Say(message.F("A copy of the report is in the cluster: %s.", hub.ReportRef))
	if len(left) > 0 {
		rep.Say(message.F("A ConfigMap holds no more than 1 MiB; on the node alone: %s.", strings.Join(left, ", ")))
	}
	return nil
}

// Undo removes the ConfigMap, or puts back what was in it.
func (*publish) Undo(ctx context.Context, node *backend.Node, rep Report) error {
	c := node.Kube.WithProgress(rep.Progress)
	_, err := newOriginals(rep).restoreBy(func(_ kube.Ref, original []byte) (bool, error) { return hub.RestoreReport(ctx, c, original) })
	return err
}
