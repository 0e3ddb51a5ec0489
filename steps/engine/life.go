package engine

import (
	"touchdown/backend/layout"
	"touchdown/steps/view"
)

// life tells where the node is in its life: the journal knows what the wizard did, two files what the factory
// did.
func (c *core) life() string {
	switch j := c.job; {
	case c.o.List == view.ListFactory: // its journal is of the bench line and tells nothing of a landing
	case j.state == view.IsDone, j.state == view.IsUndone && j.handedOver:
		return view.LifeLanded
	case j.state == view.IsUndone:
		return view.LifeReturned
	case j.undoing:
		return view.LifeLeaving
	case !j.started.IsZero() && j.landedBefore:
		return view.LifeMoving
	case !j.started.IsZero():
		return view.LifeLanding
	}
	switch {
	case c.o.Node.Host.Exists(layout.Armed):
		return view.LifeArmed
	case c.o.Node.Host.Exists(layout.FactoryRecord):
		return view.LifeBaked
	}
	return view.LifeFactory
}
