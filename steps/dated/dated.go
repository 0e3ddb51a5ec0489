// Package dated has the time by which what a node is given is judged, while its clock may still be wrong.
package dated

import (
	"time"

	"touchdown/backend/clock"
	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// Bounds are times between which the present of a machine must lie.
func Bounds(m *host.Machine) clock.Bounds {
	record, err := factory.LoadRecord(m)
	if err != nil {
		return clock.Signed(m, time.Time{}) // nothing tells when it left the factory
	}
	return clock.Signed(m, record.Baked)
}

// By is the time by which dates in the answers are judged before the clock is set: the machine's own, else the one that was typed. It is
// zero where the machine's cannot be right and nobody has typed one: a landing sets the clock before it looks at any certificate, and asks
// the site that the network leads to by then.
func By(m *host.Machine, now time.Time, cfg *site.Config) time.Time {
	bounds := Bounds(m)
	if bounds.Allows(now) == (message.Text{}) {
		return now
	}
	typed, err := time.Parse(time.RFC3339, cfg.Spec.Time.UTC)
	if err != nil || bounds.Allows(typed) != (message.Text{}) {
		return time.Time{}
	}
	return typed.UTC()
}
