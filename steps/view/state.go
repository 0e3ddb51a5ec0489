package view

// State is where the job is.
type State string

// The states: inspecting -> collecting -> reviewed -> working -> (question | failed) -> done | undone.
const (
	Inspecting State = "inspecting"
	Collecting State = "collecting"
	Reviewed   State = "reviewed"
	Working    State = "working"
	InQuestion State = "question"
	HasFailed  State = "failed"
	UndoingAll State = "undoing"
	IsDone     State = "done"
	IsUndone   State = "undone"
)

// The ages of a node's life, as Snapshot.Life tells them.
const (
	LifeFactory  = "factory"      // installed, not prepared for the road
	LifeBaked    = "baked"        // prepared
	LifeArmed    = "armed"        // prepared and shut: the next boot waits for the wizard
	LifeLanding  = "landing"      // the wizard is at work, or stopped on its way
	LifeLanded   = "landed"       //
	LifeLeaving  = "returning"    // what was done is being put back
	LifeReturned = "returned"     // back to what the factory made of it
	LifeMoving   = "moving again" // landed once, unlocked, and at work again
)

// The lists that an engine works through: the wizard at a site, or the preparation on the bench line.
const (
	ListSite    = "site"
	ListFactory = "factory"
)

// The codes of problems that clients tell apart.
const (
	ChecksFailed  = "CHK-BAD"  // a step did all its work and has a check that failed
	Halted        = "ENG-HALT" // a person stopped the work
	RebootRefused = "REB-REFD" // headless runs turn it into their own exit code
	// RecordsLost stops an engine whose own records were damaged while a job was under way: a person decides how to go on.
	RecordsLost = "REC-LST"
)
