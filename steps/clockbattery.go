package steps

import (
	"context"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/clock"
	"touchdown/backend/host"
	"touchdown/backend/message"
)

// sets tells whether Touchdown sets a clock that is wrong: someone told the time, and the machine is not someone's laptop.
func sets(node *backend.Node, v clock.Verdict) bool {
	return v.From != (message.Text{}) && v.Reject == (message.Text{}) && host.HasKubelet(node.Host)
}

// mostDrift is how far the hardware clock may be off the machine's: a good one drifts by a few seconds in a day.
const mostDrift = 5 * time.Minute

// setBattery sets the hardware clock by the machine's, which is right. Where that is refused the check says what a person can do.
func setBattery(ctx context.Context, node *backend.Node, report Report) {
	was, ok := node.Host.BatteryClock()
	if !ok || was.Sub(node.Now()).Abs() <= mostDrift {
		return
	}
	if err := node.Host.MoveClock(ctx, 0); err != nil {
		node.Log.Warn("the hardware clock cannot be set", "error", err)
	}
	after := batteryCheck(node, false)
	if after.Status == check.Pass {
		report.Say(message.F("The hardware clock was set; it said %s.", clockTime(was)))
	}
	report.Check(after)
}

// batteryCheck compares the clock that runs while the machine is off. set: Touchdown sets it where it is wrong.
func batteryCheck(node *backend.Node, set bool) check.Check {
	ch := check.Check{
		ID: "clock-battery", Title: message.T("Hardware clock"), Status: check.Pass, Expected: message.T("within 5 min of the machine's clock"),
		Source: message.T("a good one drifts by a few seconds in a day"),
	}
	battery, ok := node.Host.BatteryClock()
	if !ok {
		ch.Status, ch.Observed = check.Skip, message.T("the machine has none that can be read")
		return ch
	}
	off := battery.Sub(node.Now())
	ch.Observed = clock.Describe(off)
	switch {
	case off.Abs() <= mostDrift:
	case set:
		ch.Status, ch.Fix = check.Warn, message.T("None needed now: Touchdown sets it. If it is wrong again after a power cut, change the battery.")
	default:
		ch.Status, ch.Fix = check.Warn, message.T("Set the hardware clock in the firmware's setup. If it is wrong again after a power cut, change the battery.")
	}
	return ch
}

func clockTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
