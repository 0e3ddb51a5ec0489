package engine

import "touchdown/backend/layout"

// The ages of a node's life, as Snapshot.Life tells them.
const (
	lifeFactory  = "factory"      // installed, not prepared for the road
	lifeBaked    = "baked"        // prepared
	lifeArmed    = "armed"        // prepared and shut: the next boot waits for the wizard
	lifeLanding  = "landing"      // the wizard is at work, or stopped on its way
	LifeLanded   = "landed"       //
	lifeLeaving  = "returning"    // what was done is being put back
	lifeReturned = "returned"     // back to what the factory made of it
	LifeMoving   = "moving again" // landed once, unlocked, and at work again
)

// The lists that an engine works through: the wizard at a site, or the preparation on the bench line.
const (
	ListSite    = "site"
	ListFactory = "factory"
)

// life tells where the node is in its life: the journal knows what the wizard did, two files what the factory
// did.
func (c *core) life() string {
	switch j := c.job; {
	case c.o.List == ListFactory: // its journal is of the bench line and tells nothing of a landing
	case j.state == IsDone:
		return LifeLanded
	case j.state == IsUndone:
		return lifeReturned
	case j.undoing:
		return lifeLeaving
	case !j.started.IsZero() && j.landedBefore:
		return LifeMoving
	case !j.started.IsZero():
		return lifeLanding
	}
	switch {
	case c.o.Node.Host.Exists(layout.Armed):
		return lifeArmed
	case c.o.Node.Host.Exists(layout.FactoryRecord):
		return lifeBaked
	}
	return lifeFactory
}
