package engine

import (
	"strings"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/steps/unattended"
	"touchdown/steps/view"
)

// usedNotice is the notice that a document, which started the landing, could not be noted as used.
const usedNotice = "used"

// mayHaveRun tells whether a landing began on this node, or may have: of a journal that lost records nobody can say that none did.
func mayHaveRun(c *core) bool {
	return !c.job.started.IsZero() || c.job.doubtful || len(c.job.lost) > 0 || c.stock.incomplete
}

// endStart ends the start that was noted with a document and nobody there: the document is used where the journal has the start. A power cut,
// or a disk that took the note and not the event, leaves one that has not been used, and starts again.
func endStart(c *core) error {
	if c.o.List == view.ListFactory { // its journal tells nothing of a landing
		return nil
	}
	return media.EndStart(c.o.Node.Host, mayHaveRun(c))
}

// noteUsed notes what could not be noted when the landing started. It writes without the lock, as noteHalts does. Before a landing it leaves
// the note of a start that failed: what the disk has of that start is known when the journal is read again.
func noteUsed(e *Engine) {
	e.mu.Lock()
	ran := mayHaveRun(e.core)
	e.mu.Unlock()
	if !ran || e.o.List == view.ListFactory {
		return
	}
	err := media.EndStart(e.o.Node.Host, true)
	e.mu.Lock()
	defer e.mu.Unlock()
	tellUsed(e.core, err)
}

// tellUsed shows that a document could not be noted as used, or takes that from the screens.
func tellUsed(c *core, err error) {
	_, said := c.notices[usedNotice]
	if said == (err != nil) {
		return
	}
	delete(c.notices, usedNotice)
	if err != nil {
		c.o.Node.Log.Error("it cannot be noted that the site config was used", "error", c.recorder.mask.Mask(err.Error()))
		c.notices[usedNotice] = message.T("The disk does not take the note that the site config was used. Trying again.")
	}
	c.recorder.changed()
}

// usedForNothing tells whether a document was used on this node to start a landing with nobody there that did not start. Earlier releases
// noted it as used before the start was in the journal, and a power cut or a full disk in between left the node like that. seen says that a
// medium with a used document is in a socket: of one that was pulled out nobody can say that it is the one that was used.
func usedForNothing(e *Engine, seen bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.core
	if !beforeLanding(c) || c.life() != view.LifeArmed || c.draft.begun() || isTaken(c.draft) {
		return false
	}
	for _, source := range c.draft.site.Sources {
		if document, byNode := unattended.Bare(source); byNode && (document == media.BakedSource || seen && strings.HasPrefix(document, fromMedium)) {
			last, err := media.Of(c.o.Node.Host).Last()
			return err == nil && last != ""
		}
	}
	return false
}
