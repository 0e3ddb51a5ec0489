package steps

import (
	"context"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/hardware/burnin"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// burnIn loads the machine for as long as was asked for on the bench line, and counts the errors.
type burnIn struct {
	Asked func() time.Duration // how long it takes; nil or 0: nobody asked for one
	Load  burnin.Load          // nil: a separate process
}

var (
	_ Skipper = (*burnIn)(nil)
	_ Planner = (*burnIn)(nil)
)

// ID names the step in the journal.
func (*burnIn) ID() string { return "burn-in" }

// Title says what the step does.
func (*burnIn) Title() message.Text { return message.T("Burn the machine in") }

// Skip says that nobody asked for it.
func (s *burnIn) Skip() message.Text {
	if s.asked() > 0 {
		return message.Text{}
	}
	return message.T("No burn-in was asked for (touchdown factory --burn-in).")
}

func (s *burnIn) asked() time.Duration {
	if s.Asked == nil {
		return 0
	}
	return s.Asked()
}

// Plan tells what the cluster notices, unless it is over.
func (s *burnIn) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	d := s.asked()
	if d == 0 || burnin.Kept(node.Host, factory.Stay(node.Host)) != nil {
		return Plan{}, nil
	}
	return Plan{Seconds: d.Seconds(), Disturbances: []Disturbance{{
		What: message.T("slow cluster"), Cause: message.T("the burn-in loads CPU, memory and disk, behind all that the cluster does"), Seconds: d.Seconds(),
	}}}, nil
}

// Run loads the machine. A burn-in that was cut begins again, and so does one that found faults, unless a person took responsibility for each
// of them; one that is over is only told, after each reboot of the list.
func (s *burnIn) Run(ctx context.Context, node *backend.Node, report Report) error {
	if !factory.OnLine(node.Host) {
		return &problem.Problem{
			Code: "BRN-LNE", Summary: message.T("This node is not on the bench line, and only there is a burn-in allowed."),
			Fix: message.T("Run `touchdown factory --burn-in 30m` on a node that is in the factory. Nothing was loaded."),
		}
	}
	d, stay := s.asked(), factory.Stay(node.Host)
	result := burnin.Kept(node.Host, stay)
	if result != nil && len(unwaived(s.ID(), result.Checks(), report)) > 0 {
		result = nil
	}
	if result == nil {
		var err error
		if result, err = (burnin.Test{Host: node.Host, Load: s.Load}).Run(ctx, d, report.Progress); err != nil {
			return err
		}
		if err := result.Keep(node.Host, stay, node.Now()); err != nil {
			return err
		}
		report.Say(message.F("The burn-in of %s is over.", d.String()))
	}
	checks := result.Checks()
	for _, c := range checks {
		report.Check(c)
	}
	if bad := unwaived(s.ID(), checks, report); len(bad) > 0 {
		return &problem.Problem{
			Code: "BRN-BAD", Summary: message.F("The burn-in found faults: %s.", message.Join(bad, ", ")),
			Fix: message.T("Repair what the checks name and retry: the burn-in begins again. Or waive a check with your name and a reason."),
		}
	}
	return nil
}

// unwaived are the titles of checks of a step that failed and for which nobody took responsibility.
func unwaived(step string, checks []check.Check, report Report) (titles []message.Text) {
	job := report.Job()
	for _, c := range checks {
		if c.Status == check.Fail && !job.Waived(step, c.ID) {
			titles = append(titles, c.Title)
		}
	}
	return titles
}
